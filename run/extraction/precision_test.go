package extraction

import (
	"testing"
)

// A comparison counts what it says: cosines, neighbours that change, images without a vector.
func TestCompare(t *testing.T) {
	paths := []string{"a", "b", "c", "d"}
	rows := func(x ...float64) *held {
		return &held{unkept: unkept{rows: 4}, dim: 2, x: x, without: map[int]bool{3: true}}
	}
	want := rows(1, 0, .8, .6, 0, 1, 0, 0)
	for name, c := range map[string]struct {
		found   *held
		lowest  float64
		path    string
		changed int
		agrees  bool
	}{
		"the same":    {want, 1, "a", 0, true},
		"one turned":  {rows(1, 0, .6, .8, 0, 1, 0, 0), .96, "b", 1, false}, // now b is nearer to c
		"one is gone": {rows(1, 0, .8, .6, 0, 0, 0, 0), 0, "c", 1, false},
	} {
		got := compareVectors(paths, want, c.found)
		if d := got.Lowest - c.lowest; d > 1e-9 || d < -1e-9 || got.Path != c.path || got.Agrees != c.agrees ||
			got.Images != 3 || len(got.Changed) != c.changed {
			t.Errorf("%s: %+v, expected %+v", name, got, c)
		}
	}
}
