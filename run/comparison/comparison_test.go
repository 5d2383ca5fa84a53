package comparison_test

import (
	"math"
	"testing"

	"winnow/features"
	"winnow/run/comparison"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// One image without any feature must not cost the comparison of all others.
func TestFrozenKeepsZeroRows(t *testing.T) {
	set := features.NewSet(3, 2)
	copy(set.X.Data, []float32{3, 4, 0, 0, 0, -2})
	got, err := comparison.Frozen(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{0.6, 0.8, 0, 0, 0, -1}, got.X.Data, cmpopts.EquateApprox(0, 1e-6)); diff != "" {
		t.Error(diff)
	}
	set.Row(1)[0] = float32(math.NaN())
	if _, err := comparison.Frozen(t.Context(), set); err == nil {
		t.Error("NaN was let through")
	}
}
