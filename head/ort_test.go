package head

import (
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/blas/gonum"

	"winnow/features"
	"winnow/internal/testing/orttest"
)

// counted is a BLAS that counts the products computed through blas32.
type counted struct {
	gonum.Implementation
	n *int
}

func (c counted) Sgemm(
	tA, tB blas.Transpose, m, n, k int, alpha float32, a []float32, lda int, b []float32, ldb int, beta float32,
	x []float32, ldx int,
) {
	*c.n++
	c.Implementation.Sgemm(tA, tB, m, n, k, alpha, a, lda, b, ldb, beta, x, ldx)
}

// Gorgonia uses the current implementation of blas32, even if it changes after the graph is built.
func TestGorgoniaSharesProducts(t *testing.T) {
	defer blas32.Use(blas32.Implementation())
	blas32.Use(gonum.Implementation{})
	train := spectrum(source(1), 30, 8, 1)
	e := makeEncoder(t, makeHead(t, Config{In: 8, Out: 4, Init: Random}, train, 3), train, 16)
	forward := 0
	blas32.Use(counted{n: &forward})
	if _, err := e.Forward([]int{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	all := forward
	blas32.Use(counted{n: &all})
	if err := e.Backward(randomSet(source(2), 3, 4).X); err != nil {
		t.Fatal(err)
	}
	if forward != 1 || all != 2 { // x·W, then xᵀ·∂y
		t.Errorf("blas32 computed %d products forward and %d in all, expected 1 and 2", forward, all)
	}
}

// The encoder's gradients are correct with ONNX Runtime's products, at a size at which the command uses them.
func TestGradientOnONNXRuntime(t *testing.T) {
	orttest.UseBLAS(t)
	defer blas64.Use(gonum.Implementation{})
	defer blas32.Use(gonum.Implementation{})
	cfg := Config{In: 128, Out: 48, Bias: true, Init: Whiten}
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
