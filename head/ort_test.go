package head

import (
	"testing"

	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/gonum"

	"winnow/features"
	"winnow/internal/testing/orttest"
)

// The encoder as the command runs it: every product by ONNX Runtime, at a size that goes there.
func TestGradientOnONNXRuntime(t *testing.T) {
	orttest.UseBLAS(t)
	defer blas64.Use(gonum.Implementation{})
	defer blas32.Use(gonum.Implementation{})
	for _, hidden := range [][]int{nil, {96}} {
		cfg := Config{In: 128, Out: 48, Hidden: hidden, Bias: true, Activation: ReLU, Init: Whiten}
		train := spectrum(source(1), 300, cfg.In, 1)
		h := makeHead(t, cfg, train, 3)
		e := makeEncoder(t, h, train, 32)
		for step, n := range []int{32, 17, 32} {
			rows := source(uint64(step)).Perm(train.Len())[:n]
			z, err := e.Forward(rows)
			if err != nil {
				t.Fatal(err)
			}
			x, dz := train.Rows(rows).X, randomSet(source(uint64(step)), n, cfg.Out).X
			want, err := h.Embed(x)
			if err != nil {
				t.Fatal(err)
			}
			for i := range n {
				for j, v := range features.Row(want, i) {
					if d := v - z.Row(i)[j]; d > 1e-6 || d < -1e-6 {
						t.Fatalf("step %d row %d value %d: %v from the graph, %v embedded", step, i, j, z.Row(i)[j], v)
					}
				}
			}
			if err := e.Backward(dz); err != nil {
				t.Fatal(err)
			}
			for i, want := range slowOf(h).gradient(x, dz) {
				if d := worst(h.Params()[i].Grad, want); d > gradTolerance {
					t.Errorf("step %d %s: gradient differs by %.2g", step, h.Params()[i].Name, d)
				}
			}
		}
	}
}
