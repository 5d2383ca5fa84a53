package losses

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/internal/ortlib"
	"winnow/internal/testing/orttest"
)

// benchSet returns rows around class centres, with 4 rows of a class in succession, as in batches of the sampler.
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

// BenchmarkLoss times every loss of the catalog with its gradient. In the same loop it times the matrix products that
// the loss needs: two against a batch or a bank, three with its own proxies. The products use ONNX Runtime, as in the
// command, if its library is found ($WINNOW_ORT_LIB), otherwise gonum. The metrics come from the fastest round: the
// loss's time divided by the time of its products, and the time per similarity of the products and of the rest.
//
// Benchmarks are named LOSS/BATCH, or LOSS/BATCHxCLASSES for a loss with proxies (100 classes, and SOP's 11,318).
// Combinations of settings with a different cost have their own names.
func BenchmarkLoss(b *testing.B) {
	fastProducts(b)
	run := func(name, loss string, settings map[string]any, n, classes, bank int) {
		b.Run(name, func(b *testing.B) { benchmarkLoss(b, loss, settings, n, classes, bank) })
	}
	for _, n := range []int{64, 256, 1024} {
		for _, e := range Catalog {
			if e.Against != Proxies {
				run(fmt.Sprintf("%s/%d", e.Name, n), e.Name, nil, n, benchClasses, 0)
				continue
			}
			for _, classes := range []int{benchClasses, benchProducts} {
				run(fmt.Sprintf("%s/%dx%d", e.Name, n, classes), e.Name, nil, n, classes, 0)
			}
		}
	}
	for _, c := range []struct {
		name, loss string
		settings   map[string]any
		n, bank    int
	}{
		{"contrastive/bank", "contrastive", nil, 64, 8192},
		{"triplet/bank", "triplet", nil, 64, 8192},
		{"margin_distance_weighted/256", "margin", map[string]any{"select": "distance_weighted"}, 256, 0},
		{"margin_bank/64", "margin", nil, 64, 8192},
		{"marginal_semihard/256", "marginal", map[string]any{"select": "random_semihard"}, 256, 0},
		{"quadruplet_roots/256", "quadruplet", map[string]any{"squared": false, "margin1": 0.2, "margin2": 0.2}, 256,
			0},
		{"multi_similarity_unmined/256", "multi_similarity", map[string]any{"miner": false}, 256, 0},
		{"circle_global/256", "circle", map[string]any{"form": "global"}, 256, 0},
		{"contrastive_margin_l2/256", "contrastive_margin",
			map[string]any{"distance": "l2", "pos_margin": 0, "neg_margin": 1}, 256, 0},
		{"proxy_nca_original/256", "proxy_nca", map[string]any{"form": "original"}, 256, 0},
		{"soft_triple_tau/256", "soft_triple", map[string]any{"tau": 0.2}, 256, 0},
	} {
		run(c.name, c.loss, c.settings, c.n, benchClasses, c.bank)
	}
	for _, v := range tripletBench {
		for _, n := range []int{64, 256, 1024} {
			run(fmt.Sprintf("triplet_%s/%d", v.name, n), "triplet", v.settings, n, benchClasses, 0)
		}
		if v.settings["swap"] != true {
			run(fmt.Sprintf("triplet_%s/bank", v.name), "triplet", v.settings, 64, benchClasses, 8192)
		}
	}
}

const benchDim, benchClasses, benchProducts = 512, 100, 11318

// fastProducts makes ONNX Runtime compute products if its library is available.
func fastProducts(b *testing.B) {
	if _, err := ortlib.Find(os.Getenv("WINNOW_ORT_LIB")); err != nil {
		b.Log("gonum computes the products: ", err)
		return
	}
	orttest.UseBLAS(b)
}

func benchmarkLoss(b *testing.B, loss string, settings map[string]any, n, classes, bank int) {
	step := uint64(0)
	env := Env{Dim: benchDim, Classes: classes, Init: rand.New(rand.NewPCG(1, 1))}
	env.Step = func() *rand.Rand { step++; return rand.New(rand.NewPCG(step, 2)) }
	l := mustNew(b, loss, maps.Clone(settings), env)
	z := benchSet(n, benchDim, classes, 1)
	var ref *features.Set
	columns, products := z.X, 2
	if bank > 0 {
		r := benchSet(bank, benchDim, classes, 1)
		ref, columns = &r, r.X
	}
	if e, err := Find(loss); err != nil {
		b.Fatal(err)
	} else if e.Against == Proxies {
		columns, products = l.(Trainable).Params()[0].Matrix(), 3
	}
	benchAgainst(b, l, z, ref, columns, products)
}

func benchAgainst(b *testing.B, l Loss, z features.Set, ref *features.Set, columns blas32.General, products int) {
	grad := features.NewMatrix(z.Len(), z.Dim())
	s := features.NewMatrix(z.Len(), columns.Rows)
	gp := features.NewMatrix(columns.Rows, columns.Cols)
	whole, bare := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	l.Eval(&grad, z, ref)
	for b.Loop() {
		start := time.Now()
		l.Eval(&grad, z, ref)
		middle := time.Now()
		blas32.Gemm(blas.NoTrans, blas.Trans, 1, z.X, columns, 0, s)
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, s, columns, 0, grad)
		if products == 3 {
			blas32.Gemm(blas.Trans, blas.NoTrans, 1, s, z.X, 0, gp)
		}
		whole, bare = min(whole, middle.Sub(start)), min(bare, time.Since(middle))
	}
	pairs := float64(len(s.Data))
	b.ReportMetric(0, "ns/op") // hides the time of loss and products together, which is meaningless
	b.ReportMetric(float64(whole)/float64(bare), "×products")
	b.ReportMetric(float64(whole-bare)/pairs, "rest-ns/pair")
	b.ReportMetric(float64(bare)/pairs, "products-ns/pair")
	b.ReportMetric(float64(whole.Microseconds())/1e3, "loss-ms")
}

// A loss allocates no memory in a step whose batch size has occurred before. (gonum computes the products here.)
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
