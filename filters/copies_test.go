package filters_test

import (
	"math"
	"testing"

	"winnow/features"
	"winnow/filters"
)

// In a class of two images, one image occurs twice in the batch. The duplicate does not support the first occurrence.
func TestBatchPositiveLeavesCopiesOut(t *testing.T) {
	z := features.Set{X: features.NewMatrix(4, 2), Labels: []int{0, 0, 0, 1}, IDs: []int{7, 8, 7, 9}}
	copy(z.X.Data, []float32{1, 0, 0.6, 0.8, 1, 0, 0, 1})
	got := filters.BatchPositive{}.Score(nil, z, nil, false)
	for i, want := range []float64{0.6, 0.6, 0.6, 1} {
		if math.Abs(got[i]-want) > 1e-7 {
			t.Errorf("row %d: %v, expected %v", i, got[i], want)
		}
	}
	z.IDs = nil // without ids, duplicates are not recognised
	if got = (filters.BatchPositive{}).Score(nil, z, nil, false); math.Abs(got[0]-0.8) > 1e-7 {
		t.Errorf("without ids: %v, expected 0.8", got[0])
	}
}
