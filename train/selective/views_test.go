package selective

import (
	"slices"
	"testing"

	"winnow/features"
	"winnow/train"
)

// TestStoredViews tests that each draw uses one of several stored views of a row, and that all views are used. With a
// single view no random number chooses a view, so that the result is the same as without stored views.
func TestStoredViews(t *testing.T) {
	set, _ := clusters(3, 4, 5, 0)
	n := set.Len()
	stored := features.NewMatrix(3*n, set.Dim())
	for i := range 3 * n {
		for j := range features.Row(stored, i) {
			features.Row(stored, i)[j] = set.Row(i % n)[j] + float32(100*(i/n))
		}
	}
	rows := make([]int, n)
	for i := range rows {
		rows[i] = (i * 7) % n
	}
	x := features.NewMatrix(n, set.Dim())
	newViews(View{}, set, stored).drawViews(x, rows, train.Rand(1, "views", 1))
	var counts [3]int
	for i, r := range rows {
		v := slices.IndexFunc([]int{0, 1, 2}, func(v int) bool {
			return slices.Equal(features.Row(x, i), features.Row(stored, v*n+r))
		})
		if v < 0 {
			t.Fatalf("draw %d is not a view of row %d", i, r)
		}
		counts[v]++
	}
	if slices.Contains(counts[:], 0) {
		t.Errorf("%d draws of the views: %v", n, counts)
	}
	rng := train.Rand(1, "views", 1)
	newViews(View{}, set, set.X).drawViews(x, rows, rng)
	if rng.Uint64() != train.Rand(1, "views", 1).Uint64() {
		t.Error("a single view uses random numbers")
	}
	if !slices.Equal(x.Data, set.Rows(rows).X.Data) {
		t.Error("the rows of a single view differ from the set's")
	}
}

// TestLearnsFromStoredViews tests that stored views change the result of both methods, and that equal runs end with
// the same bits.
func TestLearnsFromStoredViews(t *testing.T) {
	set, truth := clusters(7, 5, 40, 0.3)
	n := set.Len()
	stored := features.Set{X: features.NewMatrix(2*n, set.Dim()),
		Labels: append(slices.Clone(set.Labels), set.Labels...), IDs: append(slices.Clone(set.IDs), set.IDs...)}
	rng := train.Rand(1, "second view", 0)
	for i := range n {
		copy(stored.Row(i), set.Row(i))
		for j, v := range set.Row(i) {
			stored.Row(n + i)[j] = v + float32(0.5*rng.NormFloat64())
		}
	}
	for _, method := range Methods() {
		cfg := resumable(method)
		ends := make([][]float32, 3)
		for i, of := range []features.Set{{}, stored, stored} {
			b := newBed(t, cfg, set, truth, 5, 3, 1)
			if of.Len() > 0 {
				l, err := New(b.learner.cfg, Input{Head: b.head, Train: set, Stored: of, Classes: 5,
					Batch: b.cfg.Sampler.Size(), Clock: b.cfg.Clock, Seed: 1})
				if err != nil {
					t.Fatal(err)
				}
				defer l.Close()
				group := b.cfg.Groups[0]
				b.cfg.Encoder, b.cfg.Terms, b.cfg.Groups = l, []train.Term{l.Term()},
					[]train.Group{l.Group(group.Solver, group.Schedule)}
			}
			b.run(t)
			ends[i] = slices.Clone(b.head.Params()[0].Data)
		}
		if slices.Equal(ends[0], ends[1]) {
			t.Errorf("%s: the second view has no effect", method)
		}
		if !slices.Equal(ends[1], ends[2]) {
			t.Errorf("%s: two equal runs ended differently", method)
		}
	}
}
