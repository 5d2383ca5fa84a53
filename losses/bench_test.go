package losses

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// benchSet has 4 rows of a class together, as the sampler gives them, around class centres.
func benchSet(n, d, classes int, seed uint64) features.Set {
	rng := rand.New(rand.NewPCG(seed, 1))
	centres := features.NewMatrix(classes, d)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	s := features.NewSet(n, d)
	for i := range n {
		s.Labels[i], s.IDs[i] = i/4%classes, i
		for k := range d {
			s.Row(i)[k] = features.Row(centres, s.Labels[i])[k] + float32(1.5*rng.NormFloat64())
		}
	}
	if err := features.Normalize(s.X); err != nil {
		panic(err)
	}
	return s
}

// BenchmarkLoss times a loss with its gradient and, in the same loop, the matrix products that it cannot do
// without: two against a batch or a bank, three with proxies. The metrics: how many times the products, and
// what all the rest takes for each similarity.
func BenchmarkLoss(b *testing.B) {
	const d, classes = 512, 100
	run := func(name, loss string, settings map[string]any, n, bank int) {
		b.Run(name, func(b *testing.B) {
			env := Env{Dim: d, Classes: classes, Init: rand.New(rand.NewPCG(1, 1))}
			step := uint64(0)
			env.Step = func() *rand.Rand { step++; return rand.New(rand.NewPCG(step, 2)) }
			l := mustNew(b, loss, settings, env)
			z := benchSet(n, d, classes, 1)
			var ref *features.Set
			columns := z.X
			if bank > 0 {
				r := benchSet(bank, d, classes, 1)
				ref, columns = &r, r.X
			}
			if p, ok := l.(Proxied); ok {
				param, _ := p.Proxies()
				columns = param.Matrix()
			}
			benchAgainst(b, l, z, ref, columns)
		})
	}
	for _, n := range []int{64, 256, 1024} {
		for _, e := range Catalog {
			run(fmt.Sprintf("%s/%d", e.Name, n), e.Name, nil, n, 0)
		}
	}
	run("contrastive/bank", "contrastive", nil, 64, 8192)
	run("triplet/bank", "triplet", nil, 64, 8192)
	for _, n := range []int{64, 256} {
		run(fmt.Sprintf("triplet_batch_hard/%d", n), "triplet", map[string]any{"select": "batch_hard", "distance": "l2"}, n, 0)
		run(fmt.Sprintf("triplet_all/%d", n), "triplet", map[string]any{"select": "all"}, n, 0)
		run(fmt.Sprintf("multi_similarity_unmined/%d", n), "multi_similarity", map[string]any{"miner": false}, n, 0)
		run(fmt.Sprintf("circle_global/%d", n), "circle", map[string]any{"form": "global"}, n, 0)
		run(fmt.Sprintf("contrastive_margin_l2/%d", n), "contrastive_margin", map[string]any{"distance": "l2", "pos_margin": 0, "neg_margin": 1}, n, 0)
	}
}

func benchAgainst(b *testing.B, l Loss, z features.Set, ref *features.Set, columns blas32.General) {
	grad := features.NewMatrix(z.Len(), z.Dim())
	s := features.NewMatrix(z.Len(), columns.Rows)
	gp := features.NewMatrix(columns.Rows, columns.Cols)
	_, three := l.(Proxied)
	whole, bare := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	l.Eval(&grad, z, ref)
	for b.Loop() {
		start := time.Now()
		l.Eval(&grad, z, ref)
		middle := time.Now()
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, z.X, columns, 0, s)
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, s, columns, 0, grad)
		if three {
			blas32.Gemm(blas.Trans, blas.NoTrans, 1, s, z.X, 0, gp)
		}
		whole, bare = min(whole, middle.Sub(start)), min(bare, time.Since(middle))
	}
	b.ReportMetric(float64(whole)/float64(bare), "×products")
	b.ReportMetric(float64(whole-bare)/float64(len(s.Data)), "rest-ns/pair")
	b.ReportMetric(float64(bare)/float64(len(s.Data)), "products-ns/pair")
}

// A step of a size seen before takes no memory. (The products themselves are gonum's or ONNX Runtime's.)
func TestNoAllocationAfterTheFirstStep(t *testing.T) {
	z, bank := benchSet(16, 8, 5, 1), benchSet(30, 8, 5, 2)
	source := rand.New(rand.NewPCG(1, 2))
	for _, e := range Catalog {
		env := testEnv(8, 5, 1)
		env.Step = func() *rand.Rand { return source }
		l := mustNew(t, e.Name, nil, env)
		grad := features.NewMatrix(z.Len(), z.Dim())
		refs := []*features.Set{nil}
		if e.Against == Both {
			refs = append(refs, &bank)
		}
		for _, ref := range refs {
			if n := testing.AllocsPerRun(20, func() { l.Eval(&grad, z, ref) }); n > 0 {
				t.Errorf("%s, bank %v: %v allocations a step", e.Name, ref != nil, n)
			}
		}
	}
}
