package train

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"winnow/features"
)

func benchParam(rows, cols int) *features.Param {
	p := features.NewParam("head", rows, cols)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range p.Data {
		p.Data[i] = float32(rng.NormFloat64())
		p.Grad[i] = float32(rng.NormFloat64() * 1e-3)
	}
	return p
}

// BenchmarkSolver steps the weights of a head from 2048 to 512 dimensions. The benchmark "floor" only reads and writes
// the same memory as a solver.
func BenchmarkSolver(b *testing.B) {
	for _, c := range []SolverConfig{
		{Name: "sgd", LR: GivenLR(1e-3), Momentum: 0.9, WeightDecay: 1e-4},
		DefaultSolver("adam"), DefaultSolver("adamw"), DefaultSolver("rmsprop"),
	} {
		p := benchParam(2048, 512)
		s, err := NewSolver(c)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(c.Name, func(b *testing.B) {
			for b.Loop() {
				s.Step([]*features.Param{p}, 1e-6)
			}
			b.SetBytes(int64(len(p.Data)) * 4 * int64(3+2*len(c.bufferNames())))
		})
	}
	for buffers := range 3 {
		p := benchParam(2048, 512)
		from, to := make([][]float32, buffers+1), make([][]float32, buffers+1)
		for i := range from {
			from[i], to[i] = make([]float32, len(p.Data)), make([]float32, len(p.Data))
		}
		b.Run(fmt.Sprintf("floor/%d_buffers", buffers), func(b *testing.B) {
			for b.Loop() {
				for i := range from {
					copy(to[i], from[i])
				}
			}
			b.SetBytes(int64(len(p.Data)) * 8 * int64(buffers+1))
		})
	}
}
