package selective

import (
	"testing"

	"winnow/features"
	"winnow/head"
	"winnow/internal/testing/orttest"
	"winnow/train"
)

// A step of each method at a usual size (2,048 features, 100 classes, the published batch), without the
// judgement at the start of an epoch.
func BenchmarkStep(b *testing.B) {
	orttest.UseBLAS(b)
	for method, batch := range map[string]int{SelCL: 128, TCL: 256} {
		b.Run(method, func(b *testing.B) {
			set := features.NewSet(4000, 2048)
			rng := train.Rand(1, "bench", 0)
			for i := range set.X.Data {
				set.X.Data[i] = float32(rng.NormFloat64())
			}
			for i := range set.Labels {
				set.Labels[i] = i % 100
			}
			h, err := head.New(b.Context(), head.Config{In: 2048, Out: 128, Bias: true, Init: head.Random}, set.X, rng)
			if err != nil {
				b.Fatal(err)
			}
			cfg := Default(method)
			cfg.WarmUp, cfg.QueueStart, cfg.Epoch = 0, 0, 1<<30
			l, err := New(cfg, Input{Head: h, Train: set, Classes: 100, Batch: batch, Clock: new(train.Clock), Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			rows := make([]int, batch)
			grad := features.NewMatrix(batch, blocks*l.blockWidth())
			l.judge.epoch = 0 // considered once, here
			if err := l.method.considerEpoch(&l.judge, 0); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				for i := range rows {
					rows[i] = rng.IntN(set.Len())
				}
				z, err := l.Forward(rows)
				if err != nil {
					b.Fatal(err)
				}
				l.loss.Eval(&grad, z, nil)
				if err := l.Backward(grad); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
