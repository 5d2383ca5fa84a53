package selfpaced

import (
	"math/rand/v2"
	"slices"
)

// grouping holds the classes of the samples, renumbered 0 … C-1 in the order of their labels.
type grouping struct {
	class   []int   // class of each sample
	place   []int   // position of each sample among the members of its class
	members [][]int // samples of each class, ascending
}

func newGrouping(labels []int) grouping {
	names := slices.Clone(labels)
	slices.Sort(names)
	names = slices.Compact(names)
	g := grouping{class: make([]int, len(labels)), place: make([]int, len(labels)), members: make([][]int, len(names))}
	for i, label := range labels {
		c, _ := slices.BinarySearch(names, label)
		g.class[i], g.place[i] = c, len(g.members[c])
		g.members[c] = append(g.members[c], i)
	}
	return g
}

// classSize returns N_c of the class of sample i.
func (g grouping) classSize(i int) float64 { return float64(len(g.members[g.class[i]])) }

// classOrder returns the samples sorted by class, and the position at which each class starts.
func (g grouping) classOrder() (order, begin []int) {
	for _, members := range g.members {
		begin = append(begin, len(order))
		order = append(order, members...)
	}
	return order, append(begin, len(order))
}

// drawDistinct appends k distinct random numbers below n to dst, ascending, or all numbers if k ≥ n. It uses Floyd's
// algorithm for small k and a shuffle for large k.
func drawDistinct(dst []int, n, k int, rng *rand.Rand) []int {
	start := len(dst)
	switch {
	case k >= n:
		for i := range n {
			dst = append(dst, i)
		}
		return dst
	case k > 64:
		dst = append(dst, rng.Perm(n)[:k]...)
	default:
		for j := n - k; j < n; j++ {
			v := rng.IntN(j + 1)
			if slices.Contains(dst[start:], v) {
				v = j
			}
			dst = append(dst, v)
		}
	}
	slices.Sort(dst[start:])
	return dst
}
