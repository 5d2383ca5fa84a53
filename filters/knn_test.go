package filters_test

import (
	"slices"
	"testing"

	"winnow/features"
	"winnow/filters"
)

// Of two copies in a set without IDs each is the other's neighbour, but not its own.
func TestKNNCopies(t *testing.T) {
	z := features.NewSet(3, 2)
	for i, row := range [][]float32{{1, 0}, {1, 0}, {0, 1}} {
		copy(z.Row(i), row)
	}
	copy(z.Labels, []int{0, 0, 1})
	z.IDs = nil
	got := (&filters.KNN{K: 1}).Score(nil, z, features.BankOf(z, 2), true)
	if want := []float64{1, 1, 1}; !slices.Equal(got, want) { // of class 1 there is no other member
		t.Errorf("copies score %v, expected %v", got, want)
	}
	z.Labels[1] = 1
	got = (&filters.KNN{K: 1}).Score(nil, z, features.BankOf(z, 2), true)
	// row 0 is the first of the two that are equally far from row 2
	if want := []float64{1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("copies with two labels score %v, expected %v", got, want)
	}
}
