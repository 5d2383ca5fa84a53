package train

import (
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// Batches with several views are those without, each row named as often, rows with a label before those without.
func TestSamplerShowsViews(t *testing.T) {
	labels := []int{0, 0, 0, 1, 1, 1, 2, 2, 2, -1, -1, -1}
	for _, how := range []Sampling{Groups{Classes: 2, Images: 2, Unlabelled: 2}, Uniform{Classes: 3, Images: 1}, Shuffle{Rows: 4, Unlabelled: 1}} {
		one, err := NewSampler(how, labels, 5)
		if err != nil {
			t.Fatal(err)
		}
		two, err := NewSampler(how, labels, 5)
		if err != nil {
			t.Fatal(err)
		}
		two.ShowViews(2)
		if two.Batches() != one.Batches() || two.Size() != 2*one.Size() || two.Labelled() != 2*one.Labelled() || two.Images() != one.Size() {
			t.Errorf("%T: %d batches of %d rows, %d with a label, of %d images", how, two.Batches(), two.Size(), two.Labelled(), two.Images())
		}
		for e := range 2 {
			for b, batch := range two.Epoch(e) {
				once := one.Epoch(e)[b]
				known := one.Labelled()
				want := slices.Concat(once[:known], once[:known], once[known:], once[known:])
				if !slices.Equal(batch, want) {
					t.Errorf("%T: batch %v, expected %v", how, batch, want)
				}
			}
		}
	}
}

// rowsOnly is an encoder that notes the rows it is asked for.
type rowsOnly struct{ rows []int }

func (e *rowsOnly) Forward(rows []int) (features.Set, error) {
	e.rows = slices.Clone(rows)
	return features.Set{}, nil
}
func (e *rowsOnly) Backward(blas32.General) error { return nil }
func (e *rowsOnly) Params() []*features.Param     { return nil }

// A row that a batch names twice is shown in two different stored views, and in all of them before one comes again.
func TestViewedApart(t *testing.T) {
	to := &rowsOnly{}
	for seed := range uint64(20) {
		e := &Viewed{Encoder: to, Rows: 5, Views: 3, Apart: true, Source: func() *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }}
		if _, err := e.Forward([]int{4, 2, 4, 2, 4, 4}); err != nil {
			t.Fatal(err)
		}
		var of4 []int
		for i, row := range []int{4, 2, 4, 2, 4, 4} {
			if to.rows[i]%5 != row {
				t.Errorf("row %d is shown as %d", row, to.rows[i])
			}
			if row == 4 {
				of4 = append(of4, to.rows[i]/5)
			}
		}
		if first := slices.Sorted(slices.Values(of4[:3])); !slices.Equal(first, []int{0, 1, 2}) || to.rows[1] == to.rows[3] {
			t.Errorf("seed %d: views %v, and %v", seed, of4, to.rows)
		}
	}
}
