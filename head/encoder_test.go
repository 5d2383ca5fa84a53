package head

import (
	"math/rand/v2"
	"testing"

	"winnow/features"
)

func TestSmoke(t *testing.T) {
	for _, hidden := range [][]int{nil, {24}} {
		for _, bias := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(1, 2))
			train := features.NewSet(50, 12)
			for i := range train.X.Data {
				train.X.Data[i] = float32(rng.NormFloat64())
			}
			h, err := New(Config{In: 12, Out: 8, Hidden: hidden, Bias: bias, Activation: "relu", Init: "whiten"}, train.X, rng)
			if err != nil {
				t.Fatal(err)
			}
			e, err := NewEncoder(h, train, 8)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				z, err := e.Forward([]int{3, 4, 5, 9})
				if err != nil {
					t.Fatal(err)
				}
				want, err := h.Embed(train.Rows([]int{3, 4, 5, 9}).X)
				if err != nil {
					t.Fatal(err)
				}
				t.Log(z.X.Data[:4], want.Data[:4])
				dz := features.NewMatrix(4, 8)
				for i := range dz.Data {
					dz.Data[i] = float32(rng.NormFloat64())
				}
				if err := e.Backward(dz); err != nil {
					t.Fatal(err)
				}
				for _, p := range h.Params() {
					t.Log(p.Name, p.Grad[:3])
				}
			}
		}
	}
}
