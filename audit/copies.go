package audit

import (
	"cmp"
	"context"
	"math"
	"slices"

	"winnow/audit/findings"
	"winnow/audit/judges"
	"winnow/audit/suspects"
	"winnow/eval"
	"winnow/features"
	"winnow/filters/leaveout"
)

// Pair holds two rows of a set that may show the same image.
type Pair struct{ A, B int }

// copies holds the groups of duplicates of a set, by the numbers of its labelled rows.
type copies struct {
	groups [][]int // rows of each group, ascending
	of     []int   // group of each row; -1: no duplicate
	voice  []int   // row that represents each row ([leaveout.NewHeard]); nil: every row represents itself
}

// findCopies finds the groups of duplicates in z, which is whitened. Two rows are duplicates if their images are the
// same ([Auditor.Same]) or, without images, if their vectors are nearer to each other than to their ordinary
// neighbours. rows holds the positions of z's rows in the set.
func (o *job) findCopies(ctx context.Context, z features.Set, rows []int) (copies, error) {
	least := findings.LeastCopies(z.Len(), z.Dim())
	bound := least
	if o.Same != nil {
		bound = min(bound, findings.MaybeCopies(z.Len()))
	}
	near, err := findings.Copies(ctx, z, bound, o.MaxMem)
	if err != nil {
		return copies{}, err
	}
	taken := findings.Apart(near, least, z.Dim())
	if o.Same != nil {
		if taken, err = o.findSamePictures(ctx, near, taken, rows); err != nil {
			return copies{}, err
		}
	}
	c := copies{groups: findings.Groups(z.Len(), taken), of: make([]int, z.Len())}
	for i := range c.of {
		c.of[i] = -1
	}
	for g, list := range c.groups {
		for _, i := range list {
			c.of[i] = g
		}
	}
	return c, nil
}

// countHeard returns the number of images of each class that represent themselves.
func (c copies) countHeard(labels []int) map[int]int {
	having := map[int]int{}
	for i, y := range labels {
		if c.voice == nil || c.voice[i] == i {
			having[y]++
		}
	}
	return having
}

// countPairs returns the number of classes with two images or more. A single image of a class cannot be compared.
func (c copies) countPairs(labels []int) (pairs int) {
	for _, n := range c.countHeard(labels) {
		if n > 1 {
			pairs++
		}
	}
	return pairs
}

// The images of at most max(fewLooked, mostLooked·n) pairs of n rows are compared. This limit holds separately for
// pairs with similar vectors and for pairs with similar hashes.
const (
	mostLooked = 0.2
	fewLooked  = 2000
)

// likely is a pair of rows that may be duplicates, and their similarity.
type likely struct {
	a, b int
	near float32
}

// pairsOf returns the pairs in a list of neighbours, each once, most similar first.
func pairsOf(near [][]eval.Neighbour) (all []likely) {
	for i, list := range near {
		for _, n := range list {
			if i < n.Row || !slices.ContainsFunc(near[n.Row], func(m eval.Neighbour) bool { return m.Row == i }) {
				all = append(all, likely{min(i, n.Row), max(i, n.Row), n.Similarity})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b likely) int { return cmp.Compare(b.near, a.near) })
	return all
}

// findSamePictures returns the pairs with the same image among those with near vectors or near hashes. If there are too
// many pairs with near vectors, only the nearest images are compared; from the rest, the pairs in taken, which were
// chosen by vectors only, are kept.
func (o *job) findSamePictures(
	ctx context.Context,
	near, taken [][]eval.Neighbour,
	rows []int,
) ([][]eval.Neighbour, error) {
	most := max(fewLooked, int(mostLooked*float64(len(rows))))
	all := pairsOf(near)
	looked := slices.Clone(all[:min(len(all), most)])
	if o.Hashes != nil {
		plain, mirrored := make([]findings.Hash, len(rows)), make([]findings.Hash, len(rows))
		for i, row := range rows {
			plain[i], mirrored[i] = o.Hashes[row][0], o.Hashes[row][1]
		}
		by, err := findings.LikelyCopies(ctx, plain, mirrored)
		if err != nil {
			return nil, err
		}
		known := make(map[[2]int]bool, len(looked))
		for _, p := range looked {
			known[[2]int{p.a, p.b}] = true
		}
		more := slices.DeleteFunc(pairsOf(by), func(p likely) bool { return known[[2]int{p.a, p.b}] })
		looked = append(looked, more[:min(len(more), most)]...)
	}
	asked := make([]Pair, len(looked))
	for i, p := range looked {
		asked[i] = Pair{rows[p.a], rows[p.b]}
	}
	same, err := o.Same(ctx, asked)
	if err != nil {
		return nil, err
	}
	left := make([][]eval.Neighbour, len(near))
	for i, p := range looked {
		if same[i] {
			left[p.a] = append(left[p.a], eval.Neighbour{Row: p.b, Similarity: p.near})
		}
	}
	for _, p := range all[min(len(all), most):] {
		if slices.ContainsFunc(taken[p.a], func(n eval.Neighbour) bool { return n.Row == p.b }) {
			left[p.a] = append(left[p.a], eval.Neighbour{Row: p.b, Similarity: p.near})
		}
	}
	return left, nil
}

// setVoices sets which rows represent others. The first of several duplicates with one label represents them all;
// duplicates whose labels contradict each other are mute. If fewer than two classes would be left with two images, no
// label could be scored, so every row represents itself.
func (c *copies) setVoices(labels []int, classes int) {
	if len(c.groups) == 0 {
		return
	}
	voice := features.AllRows(len(labels))
	for _, list := range c.groups {
		vary := slices.ContainsFunc(list, func(i int) bool { return labels[i] != labels[list[0]] })
		for _, i := range list {
			if voice[i] = list[0]; vary {
				voice[i] = leaveout.Mute
			}
		}
	}
	heard, pairs := make([]int, classes), 0
	for i, y := range labels {
		if voice[i] == i {
			if heard[y]++; heard[y] == 2 {
				pairs++
			}
		}
	}
	if pairs >= 2 {
		c.voice = voice
	}
}

// listOtherCopies returns for each row its duplicates with other labels, nearest first.
func (c *copies) listOtherCopies(z features.Set) [][]eval.Neighbour {
	list := make([][]eval.Neighbour, z.Len())
	for _, group := range c.groups {
		for _, i := range group {
			for _, j := range group {
				if z.Labels[i] != z.Labels[j] {
					if list[i] == nil {
						list[i] = make([]eval.Neighbour, 0, findings.CopiesListed)
					}
					similarity := float32(features.Dot(z.Row(i), z.Row(j)))
					list[i] = eval.Insert(list[i], eval.Neighbour{Row: j, Similarity: similarity})
				}
			}
		}
	}
	return list
}

// likelier is the least probability at which the likeliest label of duplicates is kept and the others are flagged.
const likelier = 0.9

// settleCopies decides between the contradicting labels of duplicates. Each label was scored using the other images
// only, with the same prior probability that a given label is right. So half the difference of the log odds of two
// labels a and b is at most
//
//	log P(a|x)/P(b|x)
//
// If one label is likelier than any other with a probability of at least [likelier], and it looks right, that label is
// kept. The other labels are flagged, and the kept label is suggested for them. Otherwise a person must decide, and no
// label of the group is changed or dropped. Scores that are not probabilities decide only if exactly one of the labels
// is not flagged.
func (r *Result) settleCopies(c copies, rows []int) {
	if len(c.groups) == 0 {
		return
	}
	at := make(map[int]*suspects.Suspect, len(r.Suspects))
	for i := range r.Suspects {
		at[r.Suspects[i].Row] = &r.Suspects[i]
	}
	for g, group := range c.groups {
		var list []*suspects.Suspect
		best, vary := at[rows[group[0]]], false
		for _, i := range group {
			s := at[rows[i]]
			s.CopyGroup = g + 1
			list = append(list, s)
			vary = vary || s.GivenClass != list[0].GivenClass
			if s.Order > best.Order {
				best = s
			}
		}
		r.Groups = append(r.Groups, rowsOf(list))
		if !vary {
			continue
		}
		r.decideGroup(list, best)
	}
	slices.SortStableFunc(r.Suspects, func(a, b suspects.Suspect) int { return cmp.Compare(a.Order, b.Order) })
	for i := range r.Suspects {
		r.Suspects[i].Rank = i + 1
	}
}

// decideGroup settles one group of duplicates; best has the likeliest label.
func (r *Result) decideGroup(list []*suspects.Suspect, best *suspects.Suspect) {
	probable := Named(r.Scorer).Probability
	kept, next := !best.Flagged && !best.Unjudged && !r.Blind, math.Inf(-1)
	for _, s := range list {
		if s.GivenClass == best.GivenClass {
			continue
		}
		kept = kept && !s.Unjudged && (probable || s.Flagged)
		next = max(next, s.Order)
	}
	top := best.Order
	right := func(order float64) float64 { return 1 / (1 + math.Exp(-(top-order)/2)) }
	if probable {
		kept = kept && best.Score >= 0.5 && best.SuggestedClass == best.GivenClass && right(next) >= likelier
	}
	for _, s := range list {
		if !probable || s.Unjudged || r.Blind {
			continue
		}
		p := 1 - right(s.Order) // that this label is right rather than the likeliest one
		if s.GivenClass == best.GivenClass {
			p = right(next)
		}
		s.Score, s.Order = min(s.Score, p), min(s.Order, math.Log(p)-math.Log1p(-p))
		if s.GivenProbability != nil {
			s.GivenProbability = new(float64)
			*s.GivenProbability = s.Score
		}
	}
	suggest := func(s, of *suspects.Suspect) {
		score := of.Score // not a pointer into the list, which is sorted
		s.SuggestedClass, s.SuggestedScore, s.SuggestedProbability = of.GivenClass, &score, of.GivenProbability
	}
	for _, s := range list {
		switch {
		case !kept:
			s.CopyVerdict, s.Flagged = suspects.Look, false
			suggest(s, s)
		case s.GivenClass == best.GivenClass:
			s.CopyVerdict, s.Flagged = suspects.Kept, false
			suggest(s, s)
		default:
			s.CopyVerdict, s.Flagged = suspects.Wrong, true
			suggest(s, best)
		}
	}
}

func rowsOf(list []*suspects.Suspect) (rows []int) {
	for _, s := range list {
		rows = append(rows, s.Row)
	}
	return rows
}

// echoOpinions copies the opinion on each representing row to the duplicates that it represents.
func (c *copies) echoOpinions(o judges.Opinion) {
	for i, v := range c.voice {
		if v != i && v != leaveout.Mute {
			o.Order[i], o.Score[i] = o.Order[v], o.Score[v]
			o.Suggested[i], o.SuggestedScore[i] = o.Suggested[v], o.SuggestedScore[v]
		}
	}
}
