package peers

import (
	"testing"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// wide returns networks that map random features from 2048 to 512 dimensions, and a batch of 128 rows.
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
