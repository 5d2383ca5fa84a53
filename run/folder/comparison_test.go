package folder

import (
	"math"
	"strings"
	"testing"

	"winnow/eval"
	"winnow/features"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// An image whose features are all zero does not prevent the comparison of the other images.
func TestFrozenKeepsZeroRows(t *testing.T) {
	set := features.NewSet(3, 2)
	copy(set.X.Data, []float32{3, 4, 0, 0, 0, -2})
	got, err := EmbedFrozen(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{0.6, 0.8, 0, 0, 0, -1}, got.X.Data, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Error(diff)
	}
	set.Row(1)[0] = float32(math.NaN())
	if _, err := EmbedFrozen(t.Context(), set); err == nil {
		t.Error("NaN was accepted")
	}
}

// The verdict reports the differences to both rows if only one of them is significant.
func TestVerdict(t *testing.T) {
	hits := func(right int) eval.Retrieval { // a result with this number of hits among 400 queries
		r := eval.Retrieval{PrecisionAt1: float64(right) / 400, Hits: make([]bool, 400)}
		for i := range right {
			r.Hits[i] = true
		}
		return r
	}
	for _, c := range []struct {
		frozen, white, trained int
		says, better           string
	}{
		{300, 300, 340, "the trained head is better than the frozen features (P@1 +0.1000, ", "yes"},
		{300, 339, 340, "; it is NOT shown to be better than whitening, which uses no labels (P@1 +0.0025, ",
			"not shown"},
		{339, 300, 340, "; it is NOT shown to be better than the frozen features (P@1 +0.0025, ", "not shown"},
		{339, 339, 340, "the trained head is NOT shown to be better than the frozen features (", "not shown"},
		{341, 300, 340, "the trained head is NOT better than the frozen features", "no"},
	} {
		got := Comparison{Frozen: hits(c.frozen), Whitened: hits(c.white), Trained: hits(c.trained)}
		if v := got.Verdict(); !strings.Contains(v, c.says) || got.Better() != c.better {
			t.Errorf("%+v: %q, %q", c, v, got.Better())
		}
		for _, known := range []string{ChoseState, Learned} { // on such images the verdict is never "better"
			if got.Known = known; c.better != "no" && (!strings.Contains(got.Verdict(), "on the images "+known) ||
				got.Better() != "") {
				t.Errorf("%+v: %q, %q", c, got.Verdict(), got.Better())
			}
		}
	}
}

// Where only MAP@R is certainly better, the verdict says so, and P@1 does not decide.
func TestVerdictByRanking(t *testing.T) {
	rank := func(right int, ap float64) eval.Retrieval {
		r := eval.Retrieval{PrecisionAt1: float64(right) / 100, MAPAtR: ap, Hits: make([]bool, 100),
			Precisions: make([]float64, 100)}
		for i := range r.Hits {
			r.Hits[i], r.Precisions[i] = i < right, ap+0.1*float64(i%2)
		}
		return r
	}
	c := Comparison{Frozen: rank(90, 0.2), Whitened: rank(91, 0.22), Trained: rank(90, 0.6)}
	for _, known := range []string{"", ChoseState} {
		c.Known = known
		v := c.Verdict()
		if strings.Contains(v, "NOT") || !strings.Contains(v, "better than untrained features by MAP@R (0.6000") ||
			!strings.Contains(v, known) || c.Better() != "" {
			t.Errorf("%q, %q", v, c.Better())
		}
	}
	if c.Trained = rank(90, 0.22); c.Better() != "no" || !strings.Contains(c.Verdict(), "NOT better") {
		t.Errorf("%q, %q", c.Verdict(), c.Better())
	}
}
