package filters

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestFixedIsStrict(t *testing.T) {
	equal(t, 0, "kept", (&Fixed{M: 0.5}).Keep([]float64{0.5, 0.6, 0.4, 1, 0.5000001}), []int{1, 3, 4})
	equal(t, 0, "kept", (&Fixed{M: 0.5}).Keep([]float64{0.1}), []int{})
}

// A history computed by hand covers every rule of METHODS 7.5.
func TestTopRByHand(t *testing.T) {
	c := &TopR{Rate: 0.5, Size: 2}
	follow(t, c, []cutoffStep{
		{"all new, empty window: the lowest ranks go, the first of equals first", []float64{1, 1, 1, 1}, []int{2, 3},
			math.Inf(-1), nil},
		{"half new, empty window: ranks", []float64{1, 0.2, 1, 1}, []int{2, 3}, math.Inf(-1), nil},
		{"the second smallest, itself dropped", []float64{0.1, 0.9, 0.3, 0.8}, []int{1, 3}, 0.3, []float64{0.3}},
		{"mean of two", []float64{0.5, 0.6, 0.4, 0.7}, []int{0, 1, 3}, 0.4, []float64{0.3, 0.5}},
		{"too small a batch: nothing is dropped", []float64{0.001}, []int{0}, math.Inf(-1), []float64{0.3, 0.5}},
		{"all new: the window's mean as before", []float64{1, 1, 1}, []int{0, 1, 2}, 0.4, []float64{0.3, 0.5}},
		{"nothing passes: ranks, and the window shrinks", []float64{0.1, 0.2, 0.05, 0.15}, []int{1, 3}, 0.1,
			[]float64{0.1}},
		{"ties at the threshold go", []float64{0.1, 0.1, 0.1, 0.7}, []int{3}, 0.1, []float64{0.1, 0.1}},
		{"the oldest leaves", []float64{0.5, 0.5, 0.9, 0.9}, []int{0, 1, 2, 3}, 0.3, []float64{0.1, 0.5}},
	})
}

// cutoffStep is a batch and the expected result of the cutoff after the earlier batches.
type cutoffStep struct {
	name      string
	scores    []float64
	kept      []int
	threshold float64
	window    []float64
}

// follow passes the batches to a cutoff in turn and checks the results.
func follow(t *testing.T, c Cutoff, steps []cutoffStep) {
	t.Helper()
	for i, step := range steps {
		equal(t, i, step.name+": kept", c.Keep(step.scores), step.kept)
		near(t, step.name+": threshold", c.Threshold(), step.threshold, 1e-12, 0)
		nearAll(t, step.name+": window", c.Window(), step.window, 1e-12, 0)
	}
}

// TRM follows its definition, without a window, on batches without ties or scores of 1: the lowest ⌊R n⌋ are dropped.
func TestTRMDropsTheLowestShare(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		c := &TopR{Rate: r.Float64() * 0.99, Size: 1}
		scores := make([]float64, 1+r.IntN(40))
		for i := range scores {
			scores[i] = r.Float64()
		}
		before := slices.Clone(scores)
		kept := c.Keep(scores)
		if !slices.Equal(before, scores) {
			t.Fatal("Keep modified the scores")
		}
		sorted := slices.Sorted(slices.Values(scores))
		lowest := int(c.Rate * float64(len(scores)))
		if len(kept) != len(scores)-lowest || !slices.IsSorted(kept) {
			t.Fatalf("kept %v of %d at rate %v", kept, len(scores), c.Rate)
		}
		for _, i := range kept {
			if slices.Index(sorted, scores[i]) < lowest {
				t.Fatalf("row %d is kept, but is among the %d lowest", i, lowest)
			}
		}
	}
}
