package lookup_test

import (
	"testing"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/lookup"

	"github.com/google/go-cmp/cmp"
)

// A query is found in the gallery by its path or, under another name, by its features, up to rounding and length. Rows
// of zeros do not match each other.
func TestSameImages(t *testing.T) {
	d := &datasets.Dataset{}
	for _, path := range []string{"q", "r", "zero", "q", "copy of r", "near r", "black"} {
		d.Samples = append(d.Samples, datasets.Sample{Path: path})
	}
	set := func(first int, rows ...[]float32) features.Set {
		s, err := features.FromRows(rows, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i := range s.IDs {
			s.IDs[i] = first + i
		}
		return s
	}
	query := set(0, []float32{1, 0, 0, 2}, []float32{3, 1, 4, 1}, []float32{0, 0, 0, 0})
	gallery := set(3, []float32{9, 9, 9, 1}, []float32{6.000001, 2, 8, 2}, []float32{3, 1, 4, 1.001},
		[]float32{0, 0, 0, 0})
	got, err := lookup.SameImages(t.Context(), d, query, gallery)
	if diff := cmp.Diff(map[int][]int{0: {3}, 1: {4}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
