package train_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters"
	"winnow/head"
	"winnow/internal/testing/orttest"
	"winnow/losses"
	"winnow/train"
)

// The step of the claims: batch 64, 2048 features, 512 dimensions, 100 classes, Adam.
const (
	claimBatch, claimIn, claimOut = 64, 2048, 512
	claimClasses, claimBank       = 100, 8192
)

// claim is a training step assembled by hand, so that its parts can be timed.
type claim struct {
	encoder *head.Encoder
	solver  train.Solver
	set     features.Set
	rows    []int
	rng     *rand.Rand
}

func newClaim(b *testing.B) *claim {
	orttest.UseBLAS(b)
	rng := rand.New(rand.NewPCG(1, 1))
	c := &claim{set: claimSet(rng, 2000, claimIn), rng: rng, rows: make([]int, claimBatch)}
	h, err := head.New(b.Context(), head.Config{In: claimIn, Out: claimOut, Bias: true, Activation: head.ReLU,
		Init: head.Random}, c.set.X, rng)
	if err != nil {
		b.Fatal(err)
	}
	if c.encoder, err = head.NewEncoder(h, c.set, claimBatch); err != nil {
		b.Fatal(err)
	}
	if c.solver, err = train.NewSolver(train.DefaultSolver("adam")); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.encoder.Close() })
	return c
}

// claimSet draws vectors around class centres.
func claimSet(rng *rand.Rand, n, d int) features.Set {
	centres := features.NewMatrix(claimClasses, d)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	s := features.NewSet(n, d)
	for i := range n {
		s.Labels[i], s.IDs[i] = i%claimClasses, i
		for j, v := range features.Row(centres, i%claimClasses) {
			s.Row(i)[j] = v + float32(rng.NormFloat64())
		}
	}
	return s
}

func (c *claim) forward(b *testing.B) features.Set {
	for i := range c.rows {
		c.rows[i] = c.rng.IntN(c.set.Len())
	}
	z, err := c.encoder.Forward(c.rows)
	if err != nil {
		b.Fatal(err)
	}
	return z
}

func (c *claim) backward(b *testing.B, dz blas32.General) {
	if err := c.encoder.Backward(dz); err != nil {
		b.Fatal(err)
	}
	c.solver.Step(c.encoder.Params(), 1e-6)
}

// BenchmarkClaimHeadStep: forward, backward and Adam of the head take at most 4 times as long as its two bare
// products.
func BenchmarkClaimHeadStep(b *testing.B) {
	c := newClaim(b)
	x, dz := claimSet(c.rng, claimBatch, claimIn).X, claimSet(c.rng, claimBatch, claimOut).X
	w, y, grad := features.NewMatrix(claimIn, claimOut), features.NewMatrix(claimBatch, claimOut),
		features.NewMatrix(claimIn, claimOut)
	var steps, floors []time.Duration
	for b.Loop() {
		start := time.Now()
		blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, x, w, 0, y)
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, x, dz, 0, grad)
		floors = append(floors, time.Since(start))
		start = time.Now()
		c.forward(b)
		c.backward(b, dz)
		steps = append(steps, time.Since(start))
	}
	b.ReportMetric(median(steps)/median(floors), "step/products")
	b.ReportMetric(1e3*median(steps), "step-ms")
	b.ReportMetric(1e3*median(floors), "products-ms")
}

// BenchmarkClaimFilter: with memory contrastive loss over 8,192 vectors, AvgSim adds at most 3 % and vMF-Sim at
// most 5 % to the step. The filter's share is timed inside the step. It keeps all rows (rate 0), because
// dropped ones would make the loss cheaper. What the bank does for the filter (class sums) is part of Push and
// counts for the filter, too.
func BenchmarkClaimFilter(b *testing.B) {
	for _, name := range []string{"avgsim", "vmf"} {
		b.Run(name, func(b *testing.B) { benchmarkFilter(b, name) })
	}
}

func benchmarkFilter(b *testing.B, name string) {
	c := newClaim(b)
	cfg := filters.Default()
	cfg.Scorer, cfg.Rate, cfg.AvgSimSteps = name, 0, 0
	filter, err := filters.New(cfg, filters.Env{Dim: claimOut, Classes: claimClasses})
	if err != nil {
		b.Fatal(err)
	}
	loss, err := losses.New("contrastive", nil, losses.Env{Dim: claimOut, Classes: claimClasses})
	if err != nil {
		b.Fatal(err)
	}
	bank := features.NewBank(claimBank, claimOut, claimClasses)
	full := claimSet(c.rng, claimBank, claimOut)
	if err := features.Normalize(full.X); err != nil {
		b.Fatal(err)
	}
	bank.Push(full)
	inBatch, inBank := features.NewMatrix(claimBatch, claimOut), features.NewMatrix(claimBatch, claimOut)
	var added, rest []time.Duration
	for b.Loop() {
		start := time.Now()
		z := c.forward(b)
		scoring := time.Now()
		kept, _ := filter.Keep(z, bank)
		scored := time.Now()
		if len(kept) != claimBatch {
			b.Fatalf("%d of %d rows kept at rate 0", len(kept), claimBatch)
		}
		members := bank.Set()
		loss.Eval(&inBatch, z, nil)
		loss.Eval(&inBank, z, &members)
		for i, v := range inBank.Data {
			inBatch.Data[i] += v
		}
		c.backward(b, inBatch)
		pushing := time.Now()
		bank.Push(z)
		end := time.Now()
		added = append(added, scored.Sub(scoring)+end.Sub(pushing))
		rest = append(rest, end.Sub(start)-scored.Sub(scoring)-end.Sub(pushing))
	}
	b.ReportMetric(100*median(added)/median(rest), "added-%")
	b.ReportMetric(1e3*median(added), "filter-ms")
	b.ReportMetric(1e3*median(rest), "step-ms")
}

// BenchmarkClaimStep: a step with memory contrastive loss over 8,192 vectors, and one with SoftTriple with 10
// centres for each of the 100 classes and Adam for them, take at most twice as long as their bare products,
// including those of the head.
func BenchmarkClaimStep(b *testing.B) {
	b.Run("memory", func(b *testing.B) { benchmarkStep(b, "contrastive", claimBank) })
	b.Run("soft_triple", func(b *testing.B) { benchmarkStep(b, "soft_triple", 0) })
}

func benchmarkStep(b *testing.B, name string, members int) {
	c := newClaim(b)
	loss, err := losses.New(name, nil, losses.Env{Dim: claimOut, Classes: claimClasses, Init: c.rng})
	if err != nil {
		b.Fatal(err)
	}
	var own []*features.Param
	var bank *features.Bank
	solver, err := train.NewSolver(train.DefaultSolver("adam"))
	if err != nil {
		b.Fatal(err)
	}
	compared := blas32.General{}
	if members > 0 {
		bank = features.NewBank(members, claimOut, claimClasses)
		full := claimSet(c.rng, members, claimOut)
		if err := features.Normalize(full.X); err != nil {
			b.Fatal(err)
		}
		bank.Push(full)
		compared = bank.Set().X
	} else {
		own = loss.(losses.Trainable).Params()
		compared = own[0].Matrix()
	}
	bare := newProducts(c, compared, own != nil)
	inBatch, inBank := features.NewMatrix(claimBatch, claimOut), features.NewMatrix(claimBatch, claimOut)
	var steps, floors []time.Duration
	for b.Loop() {
		start := time.Now()
		bare.run()
		floors = append(floors, time.Since(start))
		start = time.Now()
		z := c.forward(b)
		loss.Eval(&inBatch, z, nil)
		if bank != nil {
			ref := bank.Set()
			loss.Eval(&inBank, z, &ref)
			for i, v := range inBank.Data {
				inBatch.Data[i] += v
			}
		}
		c.backward(b, inBatch)
		solver.Step(own, 1e-6)
		if bank != nil {
			bank.Push(z)
		}
		steps = append(steps, time.Since(start))
	}
	b.ReportMetric(median(steps)/median(floors), "step/products")
	b.ReportMetric(1e3*median(steps), "step-ms")
	b.ReportMetric(1e3*median(floors), "products-ms")
}

// products are those that a step cannot avoid: the head's two, and S and ∂L/∂z of the reference that the batch
// is compared with, plus the reference's own gradient if it is learned.
type products struct {
	x, w, dw, z, dz, compared, s, own blas32.General
}

func newProducts(c *claim, compared blas32.General, learned bool) *products {
	p := &products{x: claimSet(c.rng, claimBatch, claimIn).X, z: claimSet(c.rng, claimBatch, claimOut).X,
		compared: compared}
	p.w, p.dw, p.dz = features.NewMatrix(claimIn, claimOut), features.NewMatrix(claimIn, claimOut),
		features.NewMatrix(claimBatch, claimOut)
	p.s = features.NewMatrix(claimBatch, compared.Rows)
	if learned {
		p.own = features.NewMatrix(compared.Rows, compared.Cols)
	}
	return p
}

func (p *products) run() {
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, p.x, p.w, 0, p.dz)
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, p.z, p.compared, 0, p.s)
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, p.s, p.compared, 0, p.dz)
	if p.own.Rows > 0 {
		blas32.Gemm(blas.Trans, blas.NoTrans, 1, p.s, p.z, 0, p.own)
	}
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, p.x, p.z, 0, p.dw)
}

// median of durations, in seconds.
func median(d []time.Duration) float64 {
	slices.Sort(d)
	return d[len(d)/2].Seconds()
}
