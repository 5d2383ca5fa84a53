package eval

import (
	"cmp"
	"slices"
	"testing"

	"winnow/features"
)

func TestKeepShare(t *testing.T) {
	kept := KeepShare([]float64{0.5, 0.1, 0.1, 0.9}, 0.5)
	for i, want := range []bool{true, false, false, true} {
		if kept[i] != want {
			t.Fatalf("kept %v", kept)
		}
	}
}

// KeepShare marks as dropped the ⌊rate·n⌋ lowest scores (ties: lower position first) and keeps the rest.
func KeepShare(scores []float64, rate float64) []bool {
	order, kept := features.AllRows(len(scores)), slices.Repeat([]bool{true}, len(scores))
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[a], scores[b]) })
	for _, i := range order[:int(rate*float64(len(scores)))] {
		kept[i] = false
	}
	return kept
}
