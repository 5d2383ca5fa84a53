package extraction

import (
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/backbone"
	"winnow/features"
)

// Images are measured when they are embedded, and read again only if they have no recorded measurement.
func TestLooks(t *testing.T) {
	a := newAlbum(t, 6)
	if _, err := a.update(t.Context()); err != nil {
		t.Fatal(err)
	}
	store, err := features.Open(a.out)
	if err != nil {
		t.Fatal(err)
	}
	var reading atomic.Int32 // by several goroutines
	read := int32(0)
	looks := func() []backbone.Look {
		t.Helper()
		reading.Store(0)
		list, err := a.extraction(a.out).Looks(t.Context(), store, func() { reading.Add(1) })
		read = reading.Load()
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	want := looks()
	if read != 0 || want[3].W != 32 || want[3].H != 32 || want[3].Lightest == 0 {
		t.Errorf("%d images were read again: %v", read, want)
	}
	file := filepath.Join(a.out, SeenFile)
	if err := os.Remove(file); err != nil { // a store made by other programs has no record
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, looks()); diff != "" || read != 6 {
		t.Errorf("%d pictures were read again, expected 6:\n%s", read, diff)
	}
	if _, err := a.update(t.Context()); err != nil { // writes the record again, without measurements
		t.Fatal(err)
	}
	if looks(); read != 6 {
		t.Errorf("%d pictures were read again, expected 6", read)
	}
	if diff := cmp.Diff(want, looks()); diff != "" || read != 0 {
		t.Errorf("%d images were read again in spite of recorded measurements:\n%s", read, diff)
	}
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), `"looks"`) {
		t.Errorf("%v: the record holds no looks: %.200s", err, data)
	}
}
