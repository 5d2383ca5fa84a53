package dealt_test

import (
	"slices"
	"testing"

	"winnow/run/dealt"
)

// A sample is the same for the same seed, holds of each class its share, at least some or all, and no
// row without a label.
func TestDraw(t *testing.T) {
	const n = 5000
	labels := make([]int, n)
	for i := range labels {
		switch {
		case i%5 == 0:
			labels[i] = -1
		case i%500 == 1: // ten
			labels[i] = 1
		case i == 7:
			labels[i] = 2
		case i%100 == 2: // fifty
			labels[i] = 3
		}
	}
	rows := dealt.Draw(labels, 5, 1000, 1)
	count := map[int]int{}
	for _, i := range rows {
		count[labels[i]]++
	}
	if count[-1] != 0 || count[1] != 10 || count[2] != 1 || count[3] != 12 || count[0] != 1000*(4000-61)/4000 ||
		!slices.IsSorted(rows) {
		t.Errorf("found %v of 1000 of 4000", count)
	}
	if !slices.Equal(rows, dealt.Draw(labels, 5, 1000, 1)) {
		t.Error("the same seed draws others")
	}
	if slices.Equal(rows, dealt.Draw(labels, 5, 1000, 2)) {
		t.Error("another seed draws the same")
	}
	if all := dealt.Draw(labels, 5, n, 1); len(all) != 4000 {
		t.Errorf("of all that are labelled %d are drawn", len(all))
	}
}
