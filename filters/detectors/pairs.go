package detectors

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/spread"
)

// Pairs tells which pairs of rows are trusted to be of one class (see [SelCL]).
type Pairs struct {
	Threshold float64 // least similarity of a pair that is not selected; +Inf if nothing is selected

	selected []bool
	z        features.Set // unit rows
}

// Confident reports whether two rows are a trusted pair. A row with a label is a trusted pair with itself.
func (p *Pairs) Confident(i, j int) bool {
	if y := p.z.Labels[i]; y < 0 || y != p.z.Labels[j] {
		return false
	}
	return i == j || p.selected[i] && p.selected[j] || features.Dot(p.z.Row(i), p.z.Row(j)) >= p.Threshold
}

// Pairs computes the threshold in two passes over the similarities within the selected rows of each class. It
// stores only the similarities next to the quantile. Time O(Σ_c n_c²·d), memory O(n·d).
func (s *Selection) Pairs(ctx context.Context) (*Pairs, error) {
	p := &Pairs{selected: s.Selected, z: s.z}
	list := make([]alike, 0)
	for _, m := range s.selectedGroups() {
		list = append(list, alike{s.z.Rows(m)})
	}
	var err error
	p.Threshold, err = similarityQuantile(ctx, list, s.beta)
	return p, err
}

// selectedGroups returns the selected rows of each class that has any.
func (s *Selection) selectedGroups() [][]int {
	byClass := map[int][]int{}
	var order []int
	for i, y := range s.z.Labels {
		if s.Selected[i] {
			if byClass[y] == nil {
				order = append(order, y)
			}
			byClass[y] = append(byClass[y], i)
		}
	}
	out := make([][]int, len(order))
	for i, y := range order {
		out[i] = byClass[y]
	}
	return out
}

// alike holds the selected rows of one class.
type alike struct{ features.Set }

// eachPair calls do for every row with itself (weight 1) and every pair of rows (weight 2, because pairs are
// ordered).
func (a alike) eachPair(ctx context.Context, scratch *[]float32, do func(i, j int, s float32, weight int)) error {
	n := a.Len()
	for from := 0; from < n; from += blockRows {
		height := min(blockRows, n-from)
		for left := from; left < n; left += blockCols {
			if err := ctx.Err(); err != nil {
				return err
			}
			s := features.Products(scratch, features.Part(a.X, from, height),
				features.Part(a.X, left, min(blockCols, n-left)))
			eachAbove(s, from, left, do)
		}
	}
	return nil
}

func eachAbove(s blas32.General, from, left int, do func(i, j int, s float32, weight int)) {
	for i := range s.Rows {
		row := features.Row(s, i)
		first := max(from+i-left, 0)
		if first >= len(row) {
			continue
		}
		if left+first == from+i {
			do(from+i, from+i, row[first], 1)
			first++
		}
		for j := first; j < len(row); j++ {
			do(from+i, left+j, row[j], 2)
		}
	}
}

// Bins of similarities from -1.01 to 1.01.
const (
	bins     = 1 << 16
	binFloor = -1.01
	binWidth = 2.02 / bins
)

func binOf(s float32) int {
	return min(max(int((float64(s)-binFloor)/binWidth), 0), bins-1)
}

// mostClose limits how many similarities next to the quantile are stored. There are more only if nearly all are
// alike, as in a collapsed embedding; then the answer is their bin, 3·10⁻⁵ wide.
const mostClose = 1 << 23

// similarityQuantile returns the q-quantile, with linear interpolation, of the similarities of ordered pairs
// within groups, including each row with itself; +Inf if there are none.
func similarityQuantile(ctx context.Context, groups []alike, q float64) (float64, error) {
	var scratch []float32
	counts, total := make([]int, bins), 0
	for _, g := range groups {
		err := g.eachPair(ctx, &scratch, func(_, _ int, s float32, weight int) {
			counts[binOf(s)] += weight
			total += weight
		})
		if err != nil {
			return 0, err
		}
	}
	if total == 0 {
		return math.Inf(1), nil
	}
	at := q * float64(total-1)
	lower := min(int(math.Floor(at)), total-1)
	upper := min(lower+1, total-1)
	first, last := binWith(counts, lower), binWith(counts, upper)
	slack := 2 * productError(groups[0].Dim())
	lo, hi := binFloor+float64(first)*binWidth-slack, binFloor+float64(last+1)*binWidth+slack
	near := 0
	for b := binOf(float32(lo)); b <= binOf(float32(hi)); b++ {
		near += counts[b]
	}
	if near > mostClose {
		return binFloor + float64(first)*binWidth, nil
	}
	below, list, err := closeTo(ctx, groups, &scratch, lo, hi)
	if err != nil {
		return 0, err
	}
	return spread.Between(list[lower-below], list[upper-below], at-float64(lower)), nil
}

// binWith returns the bin of the value with a given rank, counted from 0.
func binWith(counts []int, rank int) int {
	for b, n := range counts {
		if rank < n {
			return b
		}
		rank -= n
	}
	return len(counts) - 1
}

// closeTo collects, sorted and in float64, the similarities whose float32 value is from lo to hi, repeated by
// weight, and counts those below.
func closeTo(
	ctx context.Context, groups []alike, scratch *[]float32, lo, hi float64,
) (below int, list []float64, err error) {
	for _, g := range groups {
		err := g.eachPair(ctx, scratch, func(i, j int, s float32, weight int) {
			switch v := float64(s); {
			case v < lo:
				below += weight
			case v <= hi:
				e := features.Dot(g.Row(i), g.Row(j))
				for range weight {
					list = append(list, e)
				}
			}
		})
		if err != nil {
			return 0, nil, err
		}
	}
	slices.Sort(list)
	return below, list, nil
}
