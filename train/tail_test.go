package train

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The lowest scores are listed, an image once, equal scores in the order of their steps.
func TestDroppedRows(t *testing.T) {
	var j judged
	for row := range 40 {
		j.addDropped(row, float64(40-row))
	}
	j.addDropped(39, .5)
	j.addDropped(38, 9)
	j.addDropped(7, 2)
	var rows []int
	for _, d := range j.Dropped {
		rows = append(rows, d.Row)
	}
	want := []int{39, 38, 7, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
