package ort_test

import (
	"slices"
	"testing"

	"winnow/features"
)

// The next Forward of a slice that was sent ahead computes with what was sent; another slice, and one that is
// forgotten, are read when it begins.
func TestAhead(t *testing.T) {
	m, weights := smallNet()
	l := openPlaced(t, m, weights)
	a, b := drawnFloats(21, 3*72), drawnFloats(22, 3*72)
	of := func(images []float32, n int) []float32 {
		t.Helper()
		x := features.NewMatrix(n, 5)
		if err := l.Forward(x, [][]float32{images[:n*72]}, n, true); err != nil {
			t.Fatal(err)
		}
		return slices.Clone(x.Data)
	}
	ahead := func(images []float32) {
		t.Helper()
		var inputs [][]float32
		if images != nil {
			inputs = [][]float32{images}
		}
		if err := l.Ahead(inputs, len(images)/72); err != nil {
			t.Fatal(err)
		}
	}
	first, second := of(a, 3), of(b, 3)
	x := slices.Clone(a)
	ahead(x)
	copy(x, b) // only to show what is computed with
	if !slices.Equal(of(x, 3), first) {
		t.Error("what was sent ahead is not used")
	}
	if !slices.Equal(of(x, 3), second) {
		t.Error("what was sent ahead is used twice")
	}
	ahead(a)
	if !slices.Equal(of(b, 3), second) || !slices.Equal(of(a, 3), first) {
		t.Error("another slice is not read")
	}
	x = slices.Clone(a)
	ahead(x)
	copy(x, b)
	ahead(nil)
	if !slices.Equal(of(x, 3), second) {
		t.Error("what is forgotten is used")
	}
	x = slices.Clone(a)
	ahead(x)
	copy(x, b)
	if !slices.Equal(of(x, 2), second[:10]) {
		t.Error("what was sent for three images is used for two")
	}
}
