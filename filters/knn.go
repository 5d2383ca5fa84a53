package filters

import (
	"cmp"
	"slices"
	"sort"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// KNN lets the most similar members of the bank vote on a row's label.
//
//	n_c = how many of the K members most similar to z have label c,  score = n_y / max_c n_c, in [0, 1]
//
// 1 means that no label has more votes than the given one, 0 that no neighbour has it. A fixed bar of 0.5 keeps
// a label with more than half of the votes of the leading label; it needs no noise rate. Members of the row's
// own image, known by its ID, have no vote, nor has an own row; of equally similar members the first of the
// ring are taken. A class without (other) members scores 1; in a bank of fewer than K members all vote. The
// score is not a probability. Time O(n·|M|·d): it compares with every member, not with centres.
//
// Source: Galanakis, Zabulis, Argyros, "Nearest Neighbor-Based Data Denoising for Deep Metric Learning", VISAPP
// 2024, and their code (K = 200, bar 0.5), where a label with exactly half of the votes is kept. The bank must
// hold all rows shown, kept or not: in a bank of kept rows, a class that has lost members gets fewer votes and
// loses more.
type KNN struct {
	K int // 0: 200

	sims  []float32
	near  []neighbour
	votes []int
}

// neighbour is a member of the bank with its similarity.
type neighbour struct {
	similarity float32
	member     int
}

// Score returns the score of each row of z.
func (s *KNN) Score(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	return replaceUnjudged(s.scoreMarked(dst, z, ref, own))
}

func (s *KNN) scoreMarked(dst []float64, z features.Set, ref *features.Bank, own bool) []float64 {
	dst = features.Grow(dst, z.Len())
	members := ref.Set()
	if members.Len() == 0 {
		for i := range dst {
			dst[i] = Unjudged
		}
		return dst
	}
	s.votes = features.Grow(s.votes, ref.Classes())
	eachSimBlock(&s.sims, z.X, members.X, func(from, to int, sims blas32.General) {
		for i := from; i < to; i++ {
			if y := z.Labels[i]; ref.Count(y) == 0 || own && ref.Count(y) == 1 {
				dst[i] = Unjudged
				continue
			}
			s.nearestMembers(features.Row(sims, i-from), skipOwn(z, i, members, own))
			dst[i] = s.voteScore(members.Labels, z.Labels[i])
		}
	})
	return dst
}

// skipOwn returns a function that reports whether a member is row i's own image.
func skipOwn(z features.Set, i int, members features.Set, own bool) func(member int) bool {
	switch {
	case z.IDs != nil && z.IDs[i] >= 0:
		return func(m int) bool { return members.IDs[m] == z.IDs[i] }
	case own:
		found := false // of several copies only one is the row
		return func(m int) bool {
			if found || members.Labels[m] != z.Labels[i] || !slices.Equal(members.Row(m), z.Row(i)) {
				return false
			}
			found = true
			return true
		}
	}
	return func(int) bool { return false }
}

// nearestMembers fills near with the K most similar members, most similar first.
func (s *KNN) nearestMembers(sims []float32, skip func(member int) bool) {
	most := cmp.Or(s.K, 200)
	s.near = s.near[:0]
	for m, v := range sims {
		full := len(s.near) == most
		if full && v <= s.near[most-1].similarity || skip(m) {
			continue
		}
		if full {
			s.near = s.near[:most-1]
		}
		at := sort.Search(len(s.near), func(j int) bool { return s.near[j].similarity < v })
		s.near = slices.Insert(s.near, at, neighbour{v, m})
	}
}

// voteScore computes the score from the neighbours' labels.
func (s *KNN) voteScore(labels []int, y int) float64 {
	if len(s.near) == 0 {
		return Unjudged
	}
	clear(s.votes)
	most := 0
	for _, n := range s.near {
		k := labels[n.member]
		s.votes[k]++
		most = max(most, s.votes[k])
	}
	return float64(s.votes[y]) / float64(most)
}
