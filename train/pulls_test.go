package train

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// slope is a loss whose gradient is the same in every row.
type slope []float32

func (l slope) Eval(grad *blas32.General, z features.Set, _ *features.Set) float64 {
	for i := range z.Len() {
		copy(features.Row(*grad, i), l)
	}
	return 1
}

// Each term's pull on the embedding is reported with its weight, and so is their sum; a term without a gradient
// has no pull.
func TestPulls(t *testing.T) {
	z := features.NewSet(4, 2)
	o := newObjective([]Term{
		{Name: "along", Loss: slope{3, 0}, Weight: 1},
		{Name: "across", Loss: slope{0, 2}, Weight: 2},
		{Name: "against", Loss: slope{-3, 0}, Weight: 1, Start: 2},
		{Name: "bank", Loss: slope{5, 5}, Weight: 1, Bank: true},
	})
	for step, want := range [][]float64{{6, 8, 0, 0, 10}, {6, 8, 6, 0, 8}} {
		o.evalObjective(features.NewMatrix(4, 2), z, 4, nil, step+1)
		for i, v := range append(append([]float64{}, o.pulls...), o.pull) {
			if math.Abs(v-want[i]) > 1e-6 {
				t.Errorf("step %d: %v and %v in all, expected %v", step+1, o.pulls, o.pull, want)
				break
			}
		}
	}
}
