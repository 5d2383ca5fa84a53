package losses_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/features"
	"winnow/losses"
)

// TestSlopes tests that (W + Wᵀ)z is the gradient of every loss of pairs, where W holds the slopes, and that a wrong
// slope is detected.
func TestSlopes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	z := features.Set{X: features.NewMatrix(24, 6)}
	for i := range z.X.Data {
		z.X.Data[i] = float32(rng.NormFloat64())
	}
	for i := range 24 {
		z.Labels, z.IDs = append(z.Labels, i%4), append(z.IDs, i)
	}
	if err := features.Normalize(z.X); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, entry := range losses.Catalog {
		loss, err := losses.New(entry.Name, nil, losses.Env{Dim: 6, Classes: 4, Init: rand.New(rand.NewPCG(1, 1)),
			Step: func() *rand.Rand {
				return rand.New(rand.NewPCG(7, 8))
			}})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := losses.Slopes(loss, features.Set{}); !ok {
			continue
		}
		seen++
		grad := features.NewMatrix(24, 6)
		loss.Eval(&grad, z, nil)
		w, _ := losses.Slopes(loss, z)
		off := func(spoil float32) (worst float64) {
			for i := range 24 {
				for k := range 6 {
					var sum float32
					for j := range 24 {
						sum += (w.Data[i*w.Stride+j]*spoil + w.Data[j*w.Stride+i]) * z.Row(j)[k]
					}
					worst = max(worst, math.Abs(float64(sum-grad.Data[i*6+k])))
				}
			}
			return worst
		}
		size := 0.0
		for _, v := range grad.Data {
			size = max(size, math.Abs(float64(v)))
		}
		if d := off(1); d > 1e-5*max(size, 1) {
			t.Errorf("%s: the gradient computed from the slopes differs by %g", entry.Name, d)
		}
		if d := off(1.01); size > 0 && d < 1e-5*max(size, 1) {
			t.Errorf("%s: an error of 1 %% in the slopes goes unnoticed", entry.Name)
		}
	}
	if seen < 5 {
		t.Errorf("%d losses of pairs", seen)
	}
	one := features.Set{X: features.NewMatrix(1, 6), Labels: []int{0}, IDs: []int{0}}
	one.X.Data[0] = 1
	loss, err := losses.New("supcon", nil, losses.Env{Dim: 6, Classes: 4})
	if err != nil {
		t.Fatal(err)
	}
	if w, ok := losses.Slopes(loss, one); !ok || w.Rows != 1 || w.Data[0] != 0 {
		t.Errorf("a single row: found %v %v, expected no slope", w, ok)
	}
}
