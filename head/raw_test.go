package head

import (
	"testing"

	"winnow/features"
)

// The rows of a raw encoder equal the y of slow, and its gradients equal those of ⟨y(W), G⟩.
func TestRawEncoderAgainstLoops(t *testing.T) {
	const n, batch = 20, 6
	for _, cfg := range shapes() {
		t.Run(name(cfg), func(t *testing.T) {
			rng := source(5)
			train := randomSet(rng, n, cfg.In)
			h := makeHead(t, cfg, train, 3)
			e, err := NewRawEncoder(h, train, batch)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { e.Close() })
			oracle := slowOf(h)
			for _, rows := range [][]int{{3, 1, 4, 1, 5, 9}, {2, 6}} {
				z, err := e.Forward(rows)
				if err != nil {
					t.Fatal(err)
				}
				dy := randomSet(rng, len(rows), cfg.Out).X
				for i, row := range rows {
					y, _ := oracle.forward(train.Row(row))
					if far := worst(z.Row(i), y); far > 1e-5 {
						t.Fatalf("row %d differs from the oracle by %v", row, far)
					}
				}
				before := append([]float32(nil), features.Row(z.X, 0)...)
				if err := e.Backward(dy); err != nil {
					t.Fatal(err)
				}
				if far := worst(z.Row(0), doubles(before)); far != 0 {
					t.Errorf("Backward changed the rows by %v", far)
				}
				grads := rawGradient(oracle, train.Rows(rows).X.Data, dy.Data, len(rows))
				for i, p := range h.Params() {
					if far := worst(p.Grad, grads[i]); far > 1e-5 {
						t.Errorf("%s differs from the oracle by %v", p.Name, far)
					}
				}
			}
		})
	}
}

// rawGradient returns the gradient of Σ ⟨y, dy⟩, computed by central differences in float64. The differences are exact,
// because y is linear in each weight.
func rawGradient(s slow, x, dy []float32, n int) [][]float64 {
	in, out := len(x)/n, len(dy)/n
	value := func() (sum float64) {
		for i := range n {
			y, _ := s.forward(x[i*in : (i+1)*in])
			for j, v := range y {
				sum += v * float64(dy[i*out+j])
			}
		}
		return sum
	}
	grads := make([][]float64, len(s.params))
	for p, values := range s.params {
		grads[p] = make([]float64, len(values))
		for i, v := range values {
			const h = 1e-6
			values[i] = v + h
			up := value()
			values[i] = v - h
			grads[p][i] = (up - value()) / (2 * h)
			values[i] = v
		}
	}
	return grads
}

func doubles(x []float32) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}
