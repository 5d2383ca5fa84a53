package learn

import (
	"cmp"
	"encoding/binary"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"gonum.org/v1/gonum/floats"
)

// Goal is what a review is for.
type Goal string

// The goals.
const (
	Find    Goal = "find"    // the wrong labels: likeliest first, a random draw for every ten that were right
	Measure Goal = "measure" // how many are wrong: every image drawn at random
	Teach   Goal = "teach"   // what is most doubtful, one in twenty drawn at random
)

// Goals lists the goals in display order.
func Goals() []Goal { return []Goal{Find, Measure, Teach} }

const (
	checkEvery = 20 // Teach shows one random draw in so many images
	// missesPerCheck is how many suspects turned out right before Find shows a random draw: while nearly all suspects
	// are wrong, random images would only slow finding down.
	missesPerCheck = 10
)

const (
	uniform = 0.5 // share of p that is drawn uniformly once the predictions are proven
	proof   = 3   // standard errors by which the slope of y on the prediction must exceed 0 for that
)

// shrinkage says how g follows from the model's prediction f: g = mean + slope·(f - center), cut to [0, 1].
//
// It is proven if the slope exceeds 0 by far.
type shrinkage struct {
	mean, center, slope float64
	proven              bool
}

func (h shrinkage) shrinkAt(f float64) float64 {
	return min(max(h.mean+h.slope*(f-h.center), 0.002), 0.998)
}

// prior number of draws that believe the model.
const believed = 10

// shrinkageOf fits the regression of y on the prediction to earlier draws, each weighing 1/(number·p) as the images it
// stands for, with a prior of believed draws that say g = f.
func shrinkageOf(draws []drawn) shrinkage {
	h := shrinkage{slope: 1}
	if len(draws) == 0 {
		return h
	}
	m, total, my, mf := float64(len(draws)), 0.0, 0.0, 0.0
	for _, t := range draws {
		w := 1 / t.Chance
		total, my, mf = total+w, my+w*t.y, mf+w*t.Said
	}
	my, mf = my/total, mf/total
	cov, varyF, varyY := 0.0, 0.0, 0.0
	for _, t := range draws {
		w := 1 / t.Chance
		cov += w * (t.y - my) * (t.Said - mf)
		varyF += w * (t.Said - mf) * (t.Said - mf)
		varyY += w * (t.y - my) * (t.y - my)
	}
	prior := believed / m * max(varyF, 1e-9)
	h.slope = min(max((cov+prior)/(varyF+prior), 0), 1.5)
	h.center = mf
	h.mean = (m*my + believed*mf) / (m + believed)
	wrong := wrongOf(draws)
	h.proven = wrong >= enough && len(draws)-wrong >= enough && cov > 0 &&
		cov*cov*(m-2) > proof*proof*(varyF*varyY-cov*cov)
	return h
}

// pool is the undecided images with what a draw needs.
type pool struct {
	rows   []int
	mean   []float64 // g
	chance []float64 // p
	upTo   []float64 // Σ p up to and with each row
	draw   Draw      // what all draws share
}

// newUndecidedPool returns the undecided images for drawing.
func (s *State) newUndecidedPool() pool {
	var p pool
	for i, v := range s.Settled {
		if v == Unsure {
			p.rows = append(p.rows, i)
		}
	}
	n := len(p.rows)
	p.mean, p.upTo, p.chance = make([]float64, n), make([]float64, n), make([]float64, n)
	d := Draw{Seq: s.Seq, Of: n, Low: math.Inf(1), High: math.Inf(-1), Times: 1}
	for a, i := range p.rows {
		g := s.shrink.shrinkAt(s.Wrong[i])
		p.mean[a], p.chance[a] = g, math.Sqrt(g*(1-g))
		d.Left += g
		d.Told += s.Wrong[i]
	}
	sum, at, share := floats.Sum(p.chance), 0.0, 1.0
	if s.shrink.proven {
		share = uniform
	}
	for a, g := range p.mean {
		c := share/float64(n) + (1-share)*p.chance[a]/sum
		at += c
		p.chance[a], p.upTo[a] = c, at
		d.Low, d.High = min(d.Low, -g/c), max(d.High, (1-g)/c)
		d.Vary += g * (1 - g) / c
	}
	p.draw = d
	return p
}

// Showing is what a page has shown and not got answers to.
type Showing struct {
	Already int            // questions that this state has returned before; others are then drawn
	Skip    func(int) bool // reports images that are on a screen; nil: none
	Seed    uint64         // of the draws, beside the decisions
}

// Next returns up to n questions for a goal: fewer if images run out, or if Measure draws one twice. Those that are not
// drawn at random are the likeliest to be wrong, or the most doubtful for Teach, without images of Skip. A random draw
// may take an image of Skip, since leaving it out would bias the count: attach its Draw to the question on the screen.
//
// The same state with the same Showing returns the same questions.
func (s *State) Next(n int, goal Goal, o Showing) []Question {
	skip := o.Skip
	if skip == nil {
		skip = func(int) bool { return false }
	}
	left := s.newUndecidedPool()
	n = min(n, len(left.rows))
	asked := map[int]bool{}
	var list []Question
	if draws := s.countChecks(n, goal, o.Already); draws > 0 {
		rng := rand.New(rand.NewPCG(s.makeDecisionSeed()^o.Seed, uint64(o.Already)))
		at := map[int]int{}
		for range draws {
			a := min(sort.SearchFloat64s(left.upTo, rng.Float64()*left.upTo[len(left.upTo)-1]), len(left.rows)-1)
			i := left.rows[a]
			if k, twice := at[i]; twice {
				list[k].Draw.Times++
				continue
			}
			q, d := s.newQuestionAbout(i, Random), left.draw
			d.Chance, d.Mean, d.Said = left.chance[a], left.mean[a], s.Wrong[i]
			q.Draw = &d
			at[i] = len(list)
			list = append(list, q)
			asked[i] = true
		}
	}
	if goal == Measure { // images drawn twice are asked about once: the list is then shorter
		return list
	}
	others := s.chooseMostValuable(n-len(list), goal, left.rows, func(i int) bool { return asked[i] || skip(i) })
	return spreadDraws(list, others)
}

// spreadDraws merges draws and others, the draws evenly among the others.
func spreadDraws(draws, others []Question) []Question {
	n := len(draws) + len(others)
	list := make([]Question, 0, n)
	for k := range n {
		if from, to := k*len(draws)/n, (k+1)*len(draws)/n; to > from {
			list = append(list, draws[from])
		} else {
			list = append(list, others[k-from])
		}
	}
	return list
}

// countChecks returns how many of the next n questions are random draws.
func (s *State) countChecks(n int, goal Goal, already int) int {
	switch goal {
	case Measure:
		return n
	case Teach:
		done := s.found + s.right + already
		return (done+n)/checkEvery - done/checkEvery
	}
	if already > 0 {
		return 0
	}
	return min(s.misses/missesPerCheck, n)
}

// makeDecisionSeed depends on what is decided.
func (s *State) makeDecisionSeed() uint64 {
	h := fnv.New64a()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(s.Seq))
	h.Write(b[:])
	for i, v := range s.Settled {
		if v != Unsure {
			binary.LittleEndian.PutUint64(b[:], uint64(i)<<2|uint64(v))
			h.Write(b[:])
		}
	}
	return h.Sum64()
}

// newQuestionAbout returns the question about an image.
func (s *State) newQuestionAbout(i int, how How) Question {
	q := Question{Image: i, How: how, Wrong: s.Wrong[i], Suggested: s.Suggested[i], Audited: s.audited[i],
		Learned: s.learned[i]}
	for _, j := range s.listLabelCopies(i) {
		if s.Settled[j] == Unsure {
			q.Copies = append(q.Copies, j)
		}
	}
	return q
}

// listLabelCopies returns the other copies of an image that have its given label.
func (s *State) listLabelCopies(i int) (list []int) {
	b := s.base
	if g := b.Group[i]; g > 0 {
		for _, j := range b.members[g] {
			if int(j) != i && b.Given[j] == b.Given[i] {
				list = append(list, int(j))
			}
		}
	}
	return list
}

// spreading is the factor by which each question about a class lowers the next one of the same batch, so that ties and
// near ties are spread over classes.
const spreading = 0.98

// chooseMostValuable returns the n most valuable of rows: by the probability of being wrong, or by doubt to teach.
func (s *State) chooseMostValuable(n int, goal Goal, rows []int, skip func(int) bool) []Question {
	if n <= 0 {
		return nil
	}
	b := s.base
	value := func(i int) float64 {
		p := s.Wrong[i]
		if goal == Teach {
			return p * (1 - p)
		}
		return p
	}
	order := slices.Clone(rows)
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(value(j), value(i)), cmp.Compare(b.Rank[i], b.Rank[j]))
	})
	type key struct{ group, given int }
	shown := map[key]bool{}
	perClass := map[int]int{}
	var list []Question
	// Look at some more than asked for, each time taking the best after spreading.
	type entry struct {
		image int
		value float64
	}
	var window []entry
	next := 0
	for len(list) < n {
		for len(window) < n && next < len(order) {
			i := order[next]
			next++
			k := key{b.Group[i], b.Given[i]}
			if skip(i) || k.group > 0 && shown[k] {
				continue
			}
			if k.group > 0 {
				shown[k] = true
			}
			window = append(window, entry{i, value(i)})
		}
		if len(window) == 0 {
			break
		}
		best, top := 0, math.Inf(-1)
		for a, e := range window {
			if v := e.value * math.Pow(spreading, float64(perClass[b.Given[e.image]])); v > top {
				best, top = a, v
			}
		}
		i := window[best].image
		window = slices.Delete(window, best, best+1)
		perClass[b.Given[i]]++
		list = append(list, s.newQuestionAbout(i, Suspect))
	}
	return list
}

// calibration compares predictions with the answers to recent suspects.
type calibration struct{ expected, found, vary, n float64 }

// recent is the number of suspects by which predictions are judged.
const recent = 100

// missesOf counts the suspects that were right since the last random draw was decided.
func missesOf(decisions []Decision, settled []Verdict) (misses int) {
	seen := map[int]bool{}
	for i := len(decisions) - 1; i >= 0; i-- {
		d := &decisions[i]
		if d.How == Random {
			break
		}
		if d.How == Suspect && !seen[d.Image] && d.Image >= 0 && d.Image < len(settled) && settled[d.Image] == Right {
			seen[d.Image] = true
			misses++
		}
	}
	return misses
}

// calibrateShown sums up the last suspects shown.
func calibrateShown(decisions []Decision, by map[int]*outcome) (c calibration) {
	for i := len(decisions) - 1; i >= 0 && c.n < recent; i-- {
		d := &decisions[i]
		if d.How != Suspect || d.Wrong <= 0 || by[d.Image] == nil || by[d.Image].verdict == Unsure {
			continue
		}
		c.n++
		c.expected += d.Wrong
		c.vary += d.Wrong * (1 - d.Wrong)
		if by[d.Image].verdict == Wrong {
			c.found++
		}
	}
	return c
}

// Outlook returns how many of the next n images are expected to be wrong if the likeliest are shown, with an interval
// of 95 %: the sum of the probabilities, times how right they were for the last suspects. Its variance is that of the
// images, of this comparison, and of the choice between the experts as far as they differ.
func (s *State) Outlook(n int) Interval {
	var rows []int
	for i, v := range s.Settled {
		if v == Unsure {
			rows = append(rows, i)
		}
	}
	slices.SortStableFunc(rows, func(i, j int) int { return cmp.Compare(s.Wrong[j], s.Wrong[i]) })
	rows = rows[:min(n, len(rows))]
	sum, vary, differ := 0.0, 0.0, 0.0
	for _, i := range rows {
		p := s.Wrong[i]
		sum += p
		vary += p * (1 - p)
		differ += math.Abs(invertLogit(s.learned[i]) - invertLogit(s.audited[i]))
	}
	c, limit := s.bias, float64(len(rows))
	const prior = 10 // suspects believed beforehand
	ratio := (c.found + prior) / (c.expected + prior)
	mean := min(sum*ratio, limit)
	off := (c.found - c.expected) / 2
	relative := (c.vary + off*off + 2) / ((c.expected + prior) * (c.expected + prior))
	half := 1.96 * math.Sqrt(vary*ratio+mean*mean*relative+s.Trust*(1-s.Trust)*differ*differ+1)
	return Interval{mean, math.Floor(max(mean-half, 0)), math.Ceil(min(mean+half, limit))}
}
