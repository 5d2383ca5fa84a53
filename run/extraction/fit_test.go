package extraction

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/backbone"
)

// sized writes picture i anew, w×h.
func (a *album) sized(i, w, h int) {
	a.Helper()
	var b bytes.Buffer
	m := image.NewGray(image.Rect(0, 0, w, h))
	for j := range m.Pix {
		m.Pix[j] = byte(i * j)
	}
	if err := png.Encode(&b, m); err != nil {
		a.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, a.path(i)), b.Bytes(), 0o644); err != nil {
		a.Fatal(err)
	}
}

// Long pictures are squashed in new stores only, square ones never, and one line says so.
func TestFit(t *testing.T) {
	const n = 6
	a := newAlbum(t, n)
	fitted := func(what, want string) *Extraction {
		t.Helper()
		e := a.extraction(a.out)
		e.Config.Preprocessing = e.Config.Preprocessing.Fitted("short")
		asked := e.Config.Preprocessing
		a.told = ""
		e.Fit(a.host)
		if got := e.Config.Preprocessing; got != asked.Fitted(want) {
			t.Errorf("%s: found %s, expected %s", what, got.Describe(), want)
		}
		return e
	}
	fitted("square", "short")
	for i := range n / 2 {
		a.sized(i, 48, 32)
	}
	fitted("half of them long", "short")
	a.sized(n/2, 32, 48)
	e := fitted("more than half long", "squash")
	if want := fmt.Sprintf("at least 1.50 times as long as wide: they are squashed to %d×%d", 32,
		32); !strings.Contains(a.told, want) {
		t.Errorf("told %q, expected %q", a.told, want)
	}
	if _, err := e.Run(t.Context(), a.host); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		a.sized(i, 32, 32)
	}
	if fitted("square since then, the store squashed", "squash"); a.told != "" {
		t.Errorf("told %q of a store that is there", a.told)
	}
	a.out = filepath.Join(t.TempDir(), "cropped")
	e = a.extraction(a.out)
	e.Config.Preprocessing = e.Config.Preprocessing.Fitted("short")
	if _, err := e.Run(t.Context(), a.host); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		a.sized(i, 32, 64)
	}
	fitted("long since then, the store cropped", "short")
	e = a.extraction(filepath.Join(t.TempDir(), "exact"))
	if e.Fit(a.host); !e.Config.Preprocessing.Exact || a.told != "" {
		t.Errorf("what the network's entry squashes: %+v, told %q", e.Config.Preprocessing, a.told)
	}
	e.Config.Preprocessing = backbone.Preprocessing{Crop: 32}
	if e.Fit(a.host); e.Config.Preprocessing.Exact {
		t.Error("what is not resized at all is squashed")
	}
}
