package backbone

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"hash"
	"image"
	"io"
	"math/rand/v2"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"winnow/backbone/jfif"
	"winnow/internal/testing/reference"
)

// drafts are what PIL's draft mode shows (testdata/scaled).
type drafts struct {
	Files    map[string]map[string][3]any // of each file and reduction width, height, sha256
	Views    map[string]map[string]string // of each file and size sha256
	Archives map[string]struct {
		Every, Count int
		SHA256       string
	}
}

func readDrafts(t *testing.T) (d drafts) {
	t.Helper()
	if err := json.Unmarshal(readFile(t, "testdata/scaled/scaled.json"), &d); err != nil || len(d.Files) < 20 ||
		len(d.Archives) != 2 {
		t.Fatalf("%d files, %d archives, %v", len(d.Files), len(d.Archives), err)
	}
	return d
}

// hashColours adds all pixels, RGB.
func hashColours(h hash.Hash, img image.Image) {
	s := sourceOf(img)
	width, height := s.sourceSize()
	line := make([]byte, 3*width)
	for y := range height {
		s.readSourceRow(line, y, 0, width)
		h.Write(line)
	}
}

// Reduced pictures are PIL's, to the bit, for every resolution of chroma, baseline and progressive.
func TestDraftsAsPIL(t *testing.T) {
	for name, by := range readDrafts(t).Files {
		data := readFile(t, path.Join("testdata/scaled", name))
		for text, want := range by {
			n, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			img, err := jfif.DecodeScaled(data, n)
			if err != nil {
				t.Errorf("%s by %d: %v", name, n, err)
				continue
			}
			sum := sha256.New()
			hashColours(sum, img)
			if size := img.Bounds().Max; float64(size.X) != want[0] || float64(size.Y) != want[1] ||
				hex.EncodeToString(sum.Sum(nil)) != want[2] {
				t.Errorf("%s by %d: found %v and other pixels, expected %v×%v", name, n, size, want[0], want[1])
			}
		}
	}
}

// A network sees a reduced picture as PIL shows its own. These are odd sizes, whose last samples are half outside the
// picture.
func TestDraftViewsAsPIL(t *testing.T) {
	views := readDrafts(t).Views
	if len(views) != 11 {
		t.Fatalf("found %d files", len(views))
	}
	for name, sizes := range views {
		data := readFile(t, path.Join("testdata/scaled", name))
		for text, want := range sizes {
			size, err := strconv.Atoi(text)
			if err != nil {
				t.Fatal(err)
			}
			p := fast(unchanged(size, size, "bilinear"))
			img, err := Decode(data, p.DecodeOptions())
			if err != nil {
				t.Fatal(err)
			}
			planes := make([]float32, p.Size())
			if err := Preprocess(planes, img, p); err != nil {
				t.Fatal(err)
			}
			if got := sha256.Sum256(pixelsOf(planes, size, 3)); hex.EncodeToString(got[:]) != want {
				t.Errorf("%s at %d: other pixels than PIL's", name, size)
			}
			if e := extentOf(img); e.by > 1 {
				if err := Preprocess(planes, samplesOf(img), p); err != nil {
					t.Fatal(err)
				}
				if got := sha256.Sum256(pixelsOf(planes, size, 3)); name == "420.jpg" &&
					hex.EncodeToString(got[:]) == want {
					t.Errorf("%s at %d: the test does not see where the picture ends", name, size)
				}
			}
		}
	}
}

// Training views of a reduced picture, and of one resized by a cache, show the same place.
func TestDraftAugmented(t *testing.T) {
	data := readFile(t, "testdata/scaled/420.jpg")
	p := fast(unchanged(24, 20, "bilinear"))
	for _, a := range []Augmentation{{Flip: 1}, {Crop: cropRandom, Resize: 24, Flip: 0.5}} {
		img, err := Decode(data, p.DecodeOptions(a))
		if err != nil || extentOf(img) != (extent{83, 61, 2}) {
			t.Fatalf("%+v, %v", extentOf(img), err)
		}
		v, err := NewViewer(p, a)
		if err != nil {
			t.Fatal(err)
		}
		got, again := make([]float32, p.Size()), make([]float32, p.Size())
		for seed := range uint64(5) {
			if err := v.Into(got, img, rand.New(rand.NewPCG(seed, 1))); err != nil {
				t.Fatal(err)
			}
			if err := v.Into(again, v.reducePicture(img), rand.New(rand.NewPCG(seed, 1))); err != nil ||
				!slices.Equal(got, again) {
				t.Errorf("%+v: resized before, it is another view: %v", a, err)
			}
		}
		if a.Crop != cropCentre {
			continue
		}
		if err := Preprocess(again, img, p); err != nil {
			t.Fatal(err)
		}
		for i, x := range got {
			if mirrored := i/20*20 + 19 - i%20; x != again[mirrored] {
				t.Fatalf("value %d is %v, that of the mirrored centre %v", i, x, again[mirrored])
			}
		}
	}
}

// Reduced photographs are PIL's, to the bit.
func TestArchiveDraftsAsPIL(t *testing.T) {
	for name, want := range readDrafts(t).Archives {
		z, err := zip.OpenReader(reference.Asset(t, "data/"+name+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		var photos []*zip.File
		for _, f := range z.File {
			if ext := strings.ToLower(path.Ext(f.Name)); ext == ".jpg" || ext == ".jpeg" {
				photos = append(photos, f)
			}
		}
		slices.SortFunc(photos, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
		sum, count := sha256.New(), 0
		for i := 0; i < len(photos); i += want.Every {
			r, err := photos[i].Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			for _, by := range []int{2, 4, 8} {
				img, err := jfif.DecodeScaled(data, by)
				if err != nil {
					t.Fatalf("%s by %d: %v", photos[i].Name, by, err)
				}
				hashColours(sum, img)
			}
			count++
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 || count != want.Count {
			t.Errorf("%s: %d photographs with sha256 %s, expected %d with %s", name, count, got, want.Count,
				want.SHA256)
		}
	}
}
