package backbone_test

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"image"
	"io"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"winnow/backbone"
	"winnow/internal/testing/reference"
)

// photos holds the pixels that PIL and torchvision compute from real photographs (testdata/photos).
type photos struct {
	Ways map[string]struct {
		Resize, Crop  int
		Interpolation string
	}
	Photos []struct {
		Archive, Name string
		Ways          map[string]struct {
			Sums   [3]int // sums of each channel over all pixels
			Pixels string // some pixels: RGB, base64
		}
	}
	Whole map[string]struct { // by archive
		Every, Count int
		SHA256       string // of the pixels of Count photographs
	}
}

// seenPhotos reads the expected numbers, and the photographs from the reference assets.
func seenPhotos(t testing.TB) (p photos, files map[string][]byte) {
	t.Helper()
	data, err := os.ReadFile("testdata/photos/photos.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &p); err != nil || len(p.Photos) != 24 || len(p.Ways) != 4 {
		t.Fatalf("%d photographs, %d ways, %v", len(p.Photos), len(p.Ways), err)
	}
	archives := map[string]*zip.ReadCloser{}
	files = map[string][]byte{}
	for _, photo := range p.Photos {
		z := archives[photo.Archive]
		if z == nil {
			if z, err = zip.OpenReader(reference.Asset(t, "data/"+photo.Archive+".zip")); err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			archives[photo.Archive] = z
		}
		f, err := z.Open(photo.Name)
		if err != nil {
			t.Fatal(err)
		}
		if files[photo.Name], err = io.ReadAll(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	return p, files
}

// shown returns the network's input for an image, as bytes in the order row, column, RGB.
func shown(t testing.TB, img image.Image, p backbone.Preprocessing) []byte {
	t.Helper()
	p.Channels, p.Scale, p.Std = "RGB", 1, [3]float32{1, 1, 1}
	planes := make([]float32, p.Size())
	if err := backbone.Preprocess(planes, img, p); err != nil {
		t.Fatal(err)
	}
	n := p.Crop * p.Crop
	out := make([]byte, 3*n)
	for i := range n {
		for c := range 3 {
			out[3*i+c] = byte(planes[c*n+i])
		}
	}
	return out
}

// farFromPIL compares images with PIL's for each preparation. It returns the mean absolute difference of the recorded
// pixels, the largest difference, and the largest difference between a channel's means over all pixels.
func farFromPIL(t testing.TB, decode func([]byte) (image.Image, error)) (mean map[string]float64, most int,
	shift float64) {
	t.Helper()
	p, files := seenPhotos(t)
	mean, count := map[string]float64{}, map[string]int{}
	for _, photo := range p.Photos {
		img, err := decode(files[photo.Name])
		if err != nil {
			t.Fatalf("%s: %v", photo.Name, err)
		}
		for name, way := range p.Ways {
			pix := shown(t, img, backbone.Preprocessing{Resize: way.Resize, Crop: way.Crop,
				Interpolation: way.Interpolation})
			want, err := base64.StdEncoding.DecodeString(photo.Ways[name].Pixels)
			if err != nil || len(want) != 3*128 {
				t.Fatalf("%s: %d bytes, %v", photo.Name, len(want), err)
			}
			n, sums := len(pix)/3, [3]int{}
			for i, v := range pix {
				sums[i%3] += int(v)
			}
			for c, sum := range photo.Ways[name].Sums {
				shift = max(shift, math.Abs(float64(sums[c]-sum))/float64(n))
			}
			for i, v := range want {
				d := int(pix[7919*(i/3)%n*3+i%3]) - int(v)
				d = max(d, -d)
				mean[name] += float64(d)
				count[name]++
				most = max(most, d)
			}
		}
	}
	for name := range mean {
		mean[name] /= float64(count[name])
	}
	return mean, most, shift
}

// A network gets the same input for real photographs as with PIL and torchvision, to the bit, with every preparation.
func TestPhotosAsPIL(t *testing.T) {
	mean, most, shift := farFromPIL(t, func(data []byte) (image.Image,
		error) {
		return backbone.Decode(data, backbone.DecodeOptions{})
	})
	t.Logf("mean %v, most %d, shift of a channel %.4f", mean, most, shift)
	if len(mean) != 4 || most > 0 || shift > 0 {
		t.Errorf("differs by %v on average, %d at most, a channel's mean by %.3f", mean, most, shift)
	}
}

// All pixels of the archives' photographs, or at least of every tenth photograph, equal PIL's.
func TestArchivesAsPIL(t *testing.T) {
	p, _ := seenPhotos(t)
	if len(p.Whole) != 2 {
		t.Fatalf("found %d archives, expected 2", len(p.Whole))
	}
	for name, want := range p.Whole {
		z, err := zip.OpenReader(reference.Asset(t, "data/"+name+".zip"))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		slices.SortFunc(z.File, func(a, b *zip.File) int { return strings.Compare(a.Name, b.Name) })
		sum, found, seen := sha256.New(), 0, 0
		for _, f := range z.File {
			if ext := strings.ToLower(path.Ext(f.Name)); ext != ".jpg" && ext != ".jpeg" {
				continue
			}
			if found++; (found-1)%want.Every != 0 {
				continue
			}
			r, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			data, err := io.ReadAll(r)
			if err != nil {
				t.Fatal(err)
			}
			img, err := backbone.Decode(data, backbone.DecodeOptions{})
			if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			sum.Write(shown(t, img, backbone.Preprocessing{Crop: 224, Interpolation: "bilinear"}))
			seen++
		}
		if got := hex.EncodeToString(sum.Sum(nil)); got != want.SHA256 || seen != want.Count {
			t.Errorf("%s: %d photographs with sha256 %s, expected %d with %s", name, seen, got, want.Count, want.SHA256)
		}
	}
}
