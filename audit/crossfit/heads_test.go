package crossfit

import (
	"bytes"
	"context"
	"encoding/gob"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// sampleOf returns every other row of fine's set, and the whole set.
func sampleOf(t *testing.T) (all, sample features.Set, truth []int, opts Options) {
	t.Helper()
	all, truth = fine(3, 0.2)
	if err := features.Normalize(all.X); err != nil {
		t.Fatal(err)
	}
	var rows []int
	for i := range all.Len() / 2 {
		rows = append(rows, 2*i+i/16%2) // of each class
	}
	return all, all.Rows(rows), truth, Options{Seed: 1, Start: whitening(t, all)}
}

// Heads of a sample, read back from a file, judge the whole set, whatever rows are judged together.
func TestHeadsOfSample(t *testing.T) {
	all, sample, truth, opts := sampleOf(t)
	learned, err := Learn(t.Context(), sample, 32, opts)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := gob.NewEncoder(&file).Encode(learned); err != nil {
		t.Fatal(err)
	}
	h := new(Heads)
	if err := gob.NewDecoder(&file).Decode(h); err != nil {
		t.Fatal(err)
	}
	if len(h.Folds) != 5 || h.Blind() {
		t.Errorf("%d folds, gain %v", len(h.Folds), h.Gain)
	}
	folds := make([]int, all.Len())
	for i := range folds {
		folds[i] = h.FoldOf(i)
		if at := slices.Index(sample.IDs, i); at >= 0 {
			folds[i] = h.Of[at]
		}
	}
	v, err := h.Judge(t.Context(), all.X, all.Labels, folds, nil)
	if err != nil {
		t.Fatal(err)
	}
	whole := auroc(t, judged(t, all, 32, Options{Seed: 1}).Order, all, truth)
	if got := auroc(t, v.Order, all, truth); got < whole-0.03 {
		t.Errorf("AUROC %.3f by half of the rows, %.3f by all", got, whole)
	}
	again, err := learned.Judge(t.Context(), features.Part(all.X, 100, 7), all.Labels[100:107], folds[100:107], nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 7 {
		if a, b := again.Order[i], v.Order[100+i]; a-b > 1e-4 || b-a > 1e-4 {
			t.Errorf("row %d: %v among seven, %v among all", 100+i, a, b)
		}
	}
	if _, err := h.Judge(t.Context(), all.X, all.Labels, folds, func(context.Context, []int) (x blas32.General,
		err error) {
		return x, nil
	}); err == nil {
		t.Error("heads that were weighed alone judge beside something else")
	}
	opts.Rounds = 2
	if _, err := Learn(t.Context(), sample, 32, opts); err == nil {
		t.Error("two partings were learned")
	}
}

// The head that judges a row of the sample has not seen its label; those of the other folds have.
func TestHeadsHaveNotSeen(t *testing.T) {
	_, sample, _, opts := sampleOf(t)
	h, err := Learn(t.Context(), sample, 32, opts)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newColumned(sample.Labels, 32, Options{}.findVoice)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []int{0, 33} {
		for f := range h.Folds {
			other := c
			other.of = slices.Clone(c.of)
			other.of[row] = (c.of[row] + 5) % 32
			o := opts
			o.Folds, o.kept, o.Told = 5, new(int), func(int, int, int, string) {}
			e, err := learnFold(t.Context(), sample, other, h.Of, f, o)
			if err != nil {
				t.Fatal(err)
			}
			if same := cmp.Equal(h.Folds[f].Weights, listWeights(e.heads[1])) &&
				cmp.Equal(h.Folds[f].Means[1].Directions, e.kinds[1].means.Directions); same != (h.Of[row] == f) {
				t.Errorf("row %d of fold %d: the head of fold %d is the same: %v", row, h.Of[row], f, same)
			}
		}
	}
}
