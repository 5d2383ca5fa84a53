package findings

import (
	"math"
	"testing"

	"winnow/features"
	"winnow/filters/leaveout"
)

// A class that is too small to divide, or whose images are all equal, is one group.
func TestGroupsOfFew(t *testing.T) {
	z := features.NewSet(12, 4)
	for i := range z.Len() {
		z.Labels[i] = i % 2
		z.Row(i)[i%4] = 1
	}
	s, err := leaveout.New(z, 2)
	if err != nil {
		t.Fatal(err)
	}
	if g := compareGroups(s, []int{0, 6, 11}); g != 1 {
		t.Errorf("three images: %v", g)
	}
	same := make([]int, 10)
	if g := compareGroups(s, same); g != 1 || math.IsNaN(g) {
		t.Errorf("ten times one image: %v", g)
	}
}
