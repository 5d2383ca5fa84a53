package peers

import (
	"fmt"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
	"winnow/internal/testing/orttest"
	"winnow/train"
)

// wide returns networks over random features, 2048 → 512, and a batch of 128 rows.
func wide(t testing.TB, method string, classes int) (*Networks, []int) {
	t.Helper()
	const n, in, out, batch = 512, 2048, 512, 128
	rng := train.Rand(1, "wide", 0)
	set := features.NewSet(n, in)
	for i := range set.X.Data {
		set.X.Data[i] = float32(rng.NormFloat64())
	}
	for i := range n {
		set.Labels[i], set.IDs[i] = rng.IntN(classes), i
	}
	h, err := head.New(t.Context(), head.Config{In: in, Out: out, Bias: true, Init: head.Random}, set.X, rng)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Default(method)
	cfg.Gradual = 0
	networks, err := New(t.Context(), cfg, Input{Head: h, Train: set, Classes: classes, Batch: batch,
		Clock: new(train.Clock), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { networks.Close() })
	rows := make([]int, batch)
	for i := range rows {
		rows[i] = rng.IntN(n)
	}
	return networks, rows
}

// step is forward, loss and backward.
func (n *Networks) step(t testing.TB, rows []int, grad *blas32.General) (loss time.Duration) {
	z, err := n.Forward(rows)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	n.loss.Eval(grad, z, nil)
	loss = time.Since(start)
	if err := n.Backward(*grad); err != nil {
		t.Fatal(err)
	}
	return loss
}

// The loss and the selection allocate nothing after the first step.
func TestLossDoesNotAllocate(t *testing.T) {
	for _, method := range []string{CoTeaching, CoTeachingTemperature, FCorrection} {
		networks, rows := wide(t, method, 20)
		z, err := networks.Forward(rows)
		if err != nil {
			t.Fatal(err)
		}
		grad := features.NewMatrix(z.Len(), z.Dim())
		networks.loss.Eval(&grad, z, nil)
		if n := testing.AllocsPerRun(20, func() { networks.loss.Eval(&grad, z, nil) }); n > 0 {
			t.Errorf("%s: the loss allocates %v times", method, n)
		}
	}
}

// BenchmarkStep measures a step of both networks without the solver and, alternately, the bare products that no
// implementation can avoid: x·V, y·Wᵀ, and for the gradients xᵀ·dy, dl·W and dlᵀ·y, for each learning network.
func BenchmarkStep(b *testing.B) {
	orttest.UseBLAS(b)
	for _, method := range []string{CoTeaching, CoTeachingTemperature, FCorrection} {
		for _, classes := range []int{100, 11318} {
			b.Run(fmt.Sprintf("%s/classes=%d", method, classes), func(b *testing.B) {
				benchmarkStep(b, method, classes)
			})
		}
	}
}

func benchmarkStep(b *testing.B, method string, classes int) {
	networks, rows := wide(b, method, classes)
	const in, out = 2048, 512
	n := len(rows)
	x, v, y := features.NewMatrix(n, in), features.NewMatrix(in, out), features.NewMatrix(n, out)
	w, l := features.NewMatrix(classes, out), features.NewMatrix(n, classes)
	grad := features.NewMatrix(n, networks.z.Cols)
	best, bestLoss, bare := time.Hour, time.Hour, time.Hour
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		for range networks.list {
			blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, x, v, 0, y)
			blas32.Gemm(blas.NoTrans, blas.Trans, 1, y, w, 0, l)
			blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, l, w, 0, y)
			blas32.Gemm(blas.Trans, blas.NoTrans, 1, l, y, 0, w)
			blas32.Gemm(blas.Trans, blas.NoTrans, 1, x, y, 0, v)
		}
		middle := time.Now()
		loss := networks.step(b, rows, &grad)
		best, bare, bestLoss = min(best, time.Since(middle)), min(bare, middle.Sub(start)), min(bestLoss, loss)
	}
	b.ReportMetric(best.Seconds()*1e3, "step-ms")
	b.ReportMetric(bestLoss.Seconds()*1e3, "loss-ms")
	b.ReportMetric(bare.Seconds()*1e3, "products-ms")
	b.ReportMetric(float64(best)/float64(bare), "step/products")
}
