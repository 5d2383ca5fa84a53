package extraction

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/backbone"
	"winnow/datasets"
)

// sized replaces image i by one of w×h pixels.
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

// Without labels, long images are squashed, but only in new stores, and square images never. One note reports it.
func TestFit(t *testing.T) {
	const n = 6
	a := newAlbum(t, n)
	fitted := func(what, want string) *Extraction {
		t.Helper()
		e := a.extraction(a.out)
		e.Config.Preprocessing = e.Config.Preprocessing.Fitted("short")
		asked := e.Config.Preprocessing
		a.told = ""
		if err := e.Fit(t.Context(), a.host, nil); err != nil {
			t.Fatal(err)
		}
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
		t.Errorf("notes %q, expected %q", a.told, want)
	}
	if _, err := e.Run(t.Context(), a.host); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		a.sized(i, 32, 32)
	}
	if fitted("square since then, the store squashed", "squash"); a.told != "" {
		t.Errorf("notes %q about an existing store", a.told)
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
	if err := e.Fit(t.Context(), a.host, nil); err != nil || !e.Config.Preprocessing.Exact || a.told != "" {
		t.Errorf("a network that always squashes: %v, %+v, notes %q", err, e.Config.Preprocessing, a.told)
	}
	e.Config.Preprocessing = backbone.Preprocessing{Crop: 32}
	if err := e.Fit(t.Context(), a.host, nil); err != nil || e.Config.Preprocessing.Exact {
		t.Error("images are squashed by a preprocessing that does not resize")
	}
}

// wide draws image i, 64×32, with two strokes: the angle of one depends on the class, the angle of the other on i.
// With middle, the class's stroke is in the middle and the other is split between both ends; else the reverse.
func (a *album) wide(i, class int, middle bool) {
	a.Helper()
	m := image.NewGray(image.Rect(0, 0, 64, 32))
	stroke := func(angle float64, at func(x int) int) {
		for r := range 28 {
			s, c := math.Sincos(angle)
			x, y := 16+int(float64(r-14)*c), 16+int(float64(r-14)*s)
			m.SetGray(at(x), y, color.Gray{255})
		}
	}
	inside, outside := func(x int) int { return x + 16 }, func(x int) int { return (x + 48) % 64 }
	if !middle {
		inside, outside = outside, inside
	}
	stroke(float64(class)*math.Pi/4, inside)
	stroke(float64(i*i%17), outside)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		a.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(a.dir, a.path(i)), b.Bytes(), 0o644); err != nil {
		a.Fatal(err)
	}
}

// Fit chooses the way that explains the given labels better, whatever the true labels are. A store keeps its way.
func TestFitMeasured(t *testing.T) {
	AnswersFolder = t.TempDir()
	t.Cleanup(func() { AnswersFolder = "" })
	const n = 48
	for _, middle := range []bool{true, false} {
		a := newAlbum(t, n)
		d := &datasets.Dataset{Classes: []string{"a", "b", "c"}}
		for i := range n {
			class := i % len(d.Classes)
			a.wide(i, class, middle)
			d.Samples = append(d.Samples, datasets.Sample{Path: a.path(i), Label: class, True: datasets.Unlabelled,
				Split: datasets.Train})
		}
		want, said := "squash", "images are squashed to 32×32, not cropped: label likelihood "
		if middle {
			want, said = "short", "images are cropped to 32×32, not squashed: label likelihood "
		}
		fit := func(out string) *Extraction {
			t.Helper()
			e := a.extraction(out)
			e.Config.Preprocessing = e.Config.Preprocessing.Fitted("short")
			asked := e.Config.Preprocessing
			a.told = ""
			if err := e.Fit(t.Context(), a.host, func() (*datasets.Dataset, error) { return d, nil }); err != nil {
				t.Fatal(err)
			}
			if got := e.Config.Preprocessing; got != asked.Fitted(want) || e.Model.Preprocessing != got && !middle {
				t.Errorf("middle %v: found %s, expected %s", middle, got.Describe(), want)
			}
			return e
		}
		e := fit(a.out)
		_, answer, found := strings.Cut(a.told, said)
		if !found || !strings.Contains(answer, "(48 images tried in ") {
			t.Errorf("told %q, expected %q", a.told, said)
		}
		for i := range d.Samples { // true labels must not matter
			d.Samples[i].True = i * i % 17 % 3
		}
		if fit(filepath.Join(t.TempDir(), "other")); !strings.Contains(a.told, answer[:len(answer)-1]+" (measured "+
			"before)") {
			t.Errorf("told %q, expected the same answer from the cache", a.told)
		}
		if _, err := e.Run(t.Context(), a.host); err != nil {
			t.Fatal(err)
		}
		for i := range d.Samples {
			a.wide(i, d.Samples[i].Label, !middle)
		}
		if fit(a.out); a.told != "" {
			t.Errorf("notes %q about an existing store", a.told)
		}
		e.Model.Shaped = true
		e.Out, e.Config.Preprocessing, a.told = t.TempDir(), e.Model.Preprocessing.Fitted("short"), ""
		if err := e.Fit(t.Context(), a.host, nil); err != nil || a.told != "" || e.Config.Preprocessing.Exact {
			t.Errorf("%v, notes %q about a network whose resizing is recorded", err, a.told)
		}
	}
}

// The sample is spread over the classes and their images. It holds no image twice, and no unlabelled or test image.
func TestSample(t *testing.T) {
	d := &datasets.Dataset{}
	for k := range 40 {
		d.Classes = append(d.Classes, fmt.Sprint(k))
		for i := range 1 + k {
			split := datasets.Train
			if i%5 == 4 {
				split = datasets.Test
			}
			d.Samples = append(d.Samples, datasets.Sample{Path: fmt.Sprintf("%d/%d", k, i), Label: k, Split: split},
				datasets.Sample{Path: fmt.Sprintf("%d/%d", k, 0), Label: (k + 1) % 40, Split: datasets.Train},
				datasets.Sample{Path: fmt.Sprintf("%d/%d no", k, i), Label: datasets.Unlabelled, Split: datasets.Train})
		}
	}
	s := sampleLabelled(func() (*datasets.Dataset, error) { return d, nil })
	seen := map[string]bool{}
	count := map[int]int{}
	for i, p := range s.paths {
		var k, at int
		if n, err := fmt.Sscanf(p, "%d/%d", &k, &at); n != 2 || err != nil || at%5 == 4 || seen[p] ||
			strings.HasSuffix(p, "no") {
			t.Errorf("%s: %v", p, err)
		}
		seen[p] = true
		count[s.labels[i]]++
	}
	if len(count) != rivals || len(s.paths) < compared*3/4 || len(s.paths) > compared {
		t.Errorf("%d images of %d classes", len(s.paths), len(count))
	}
	for i := range d.Samples {
		d.Samples[i].Split = datasets.Test
	}
	if s := sampleLabelled(func() (*datasets.Dataset, error) { return d, nil }); len(s.paths) == 0 {
		t.Error("the sample is empty for a set that has only a test split")
	}
	for i := range d.Samples {
		d.Samples[i].Label = 0
	}
	if s := sampleLabelled(func() (*datasets.Dataset, error) { return d, nil }); len(s.paths) != 0 {
		t.Errorf("%d images, expected none from a single class", len(s.paths))
	}
}
