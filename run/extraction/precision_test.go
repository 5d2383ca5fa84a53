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
