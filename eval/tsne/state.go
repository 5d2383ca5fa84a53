package tsne

import (
	"fmt"
	"slices"
)

// State is a descent between two iterations. From it the descent goes on to the same bits as without a break.
type State struct {
	Iteration             int // how many are done
	Points, Moved, Gained []Point
	Order                 []uint32 // the points as the tree left them, on which the order of its sums depends
}

// checkPoints returns an error unless a state is one of n points within the iterations of o.
func (s *State) checkPoints(o Options, n int) error {
	if s.Iteration < 1 || s.Iteration > o.Iterations || len(s.Points) != n || len(s.Moved) != n || len(s.Gained) != n ||
		len(s.Order) != n {
		return fmt.Errorf("tsne: the state is of %d, %d, %d and %d points after %d iterations, "+
			"expected %d points after 1 to %d", len(s.Points), len(s.Moved), len(s.Gained), len(s.Order),
			s.Iteration, n, o.Iterations)
	}
	for _, list := range [][]Point{s.Points, s.Moved, s.Gained} {
		for i, p := range list {
			if p.X-p.X != 0 || p.Y-p.Y != 0 {
				return fmt.Errorf("tsne: the state holds %v for point %d, expected finite numbers", p, i)
			}
		}
	}
	seen := make([]bool, n)
	for _, i := range s.Order {
		if int(i) >= n || seen[i] {
			return fmt.Errorf("tsne: the state's order holds %d twice, or beyond %d points", i, n)
		}
		seen[i] = true
	}
	return nil
}

// newDescent returns the descent of a state.
func (s *State) newDescent() descent {
	d := descent{y: slices.Clone(s.Points), moved: slices.Clone(s.Moved), gained: slices.Clone(s.Gained)}
	d.tree.order, d.tree.spare = slices.Clone(s.Order), make([]uint32, len(s.Order))
	return d
}
