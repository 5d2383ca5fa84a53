package extraction

import (
	"strings"
	"testing"

	"winnow/features"
)

// in16 is the extraction of an album in float16.
func (a *album) in16(out string) *Extraction {
	e := a.extraction(out)
	e.Precision = features.Float16
	return e
}

// The precision belongs to the store: another is refused, an update makes all vectors again and says so, and the same
// finds nothing to do.
func TestPrecisionIsOfTheStore(t *testing.T) {
	a := newAlbum(t, 9)
	r, err := a.in16(a.out).Run(t.Context(), a.host)
	if err != nil || r.Precision != features.Float16 {
		t.Fatalf("%+v, %v", r, err)
	}
	if !strings.Contains(a.told, "float16 by way of float32") {
		t.Errorf("told %q, expected that the CPU gains nothing", a.told)
	}
	if r, err = a.in16(a.out).Run(t.Context(), a.host); err != nil || !r.Complete {
		t.Errorf("again: %+v, %v", r, err)
	}
	want := "made with precision float16, asked for float32"
	if _, err := a.extraction(a.out).Run(t.Context(), a.host); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("in float32: %v, expected %q", err, want)
	}
	a.told, a.seen = "", 0
	if _, err := a.extraction(a.out).Update(t.Context(), a.host); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(a.told, want+": all are made again") || a.seen != 9 {
		t.Errorf("updated %d images: %s", a.seen, a.told)
	}
	s, err := features.Open(a.out)
	if err != nil || s.Key.Precision != "" {
		t.Errorf("updated to %+v, %v", s.Key, err)
	}
}

// A check of float16 finds nearly the vectors of float32, and stores nothing; in float32 there is nothing to check.
func TestCheck(t *testing.T) {
	a := newAlbum(t, 70)
	c, err := a.in16(a.out).Check(t.Context(), a.host)
	if err != nil {
		t.Fatal(err)
	}
	if c.Images != CheckImages || c.Lowest < .999 || c.Lowest >= 1 || c.Mean < c.Lowest || c.Path == "" ||
		c.Agrees != (c.Lowest >= .9999) || c.Device != "cpu" || c.Precision != features.Float16 {
		t.Errorf("%+v", c)
	}
	if _, err := features.Open(a.out); err == nil {
		t.Error("a check wrote a store")
	}
	if _, err := a.extraction(a.out).Check(t.Context(), a.host); err == nil ||
		!strings.Contains(err.Error(), "nothing to check") {
		t.Errorf("float32 on the CPU: %v", err)
	}
}

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
