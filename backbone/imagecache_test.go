package backbone

import (
	"fmt"
	"image"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/fstest"
)

// photographs returns n image files of 60×45 pixels, and their paths.
func photographs(t testing.TB, n int) (fstest.MapFS, []string) {
	t.Helper()
	files := fstest.MapFS{}
	var paths []string
	for i := range n {
		paths = append(paths, fmt.Sprintf("%02d.jpg", i))
		files[paths[i]] = &fstest.MapFile{Data: photographJPEG(t, 60, 45, uint64(i))}
	}
	return files, paths
}

func imageAt(t testing.TB, c *ImageCache, row int, v *Viewer) image.Image {
	t.Helper()
	img, err := c.cachedImage(row, v)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestImageCacheKeeps checks that images that fit are decoded once and kept, that others are decoded each time, that
// the bytes stay within the limit, and that every image belongs to its row.
func TestImageCacheKeeps(t *testing.T) {
	files, paths := photographs(t, 6)
	one := bytesOf(imageAt(t, NewImageCache(files, paths, 0, DecodeOptions{}), 0, nil))
	if one < 60*45*3/2 || one > 64*48*3/2+200 {
		t.Fatalf("an image takes %d bytes", one)
	}
	for _, limit := range []int64{0, one - 1, one, 3*one + one/2, 100 * one} {
		c := NewImageCache(files, paths, limit, DecodeOptions{})
		first := make([]image.Image, len(paths))
		for row := range paths {
			first[row] = imageAt(t, c, row, nil)
			want, err := Decode(files[paths[row]].Data, DecodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(rgbOf(first[row]), rgbOf(want)) {
				t.Errorf("limit %d: row %d has another image", limit, row)
			}
		}
		kept, bytes := c.Kept()
		if want := min(int(limit/one), len(paths)); kept != want || bytes != int64(want)*one {
			t.Errorf("limit %d: %d images of %d bytes are kept, expected %d of %d", limit, kept, bytes, want,
				int64(want)*one)
		}
		for row := range paths {
			if again := imageAt(t, c, row, nil) == first[row]; again != (row < kept) {
				t.Errorf("limit %d: row %d has the same image in memory: %v", limit, row, again)
			}
		}
	}
}

// TestImageCacheShared uses a cache from many goroutines, with and without memory for the images (for the race
// detector).
func TestImageCacheShared(t *testing.T) {
	files, paths := photographs(t, 5)
	p := unchanged(20, 16, "bilinear")
	a := Augmentation{Crop: cropRandom, Resize: 20, Flip: 0.5, Rotate: 5, Jitter: [4]float64{.1, .1, .1, .1},
		JitterP: 1}
	want := make([][]float32, len(paths))
	for row := range paths {
		want[row] = viewAt(t, p, a, imageAt(t, NewImageCache(files, paths, 0, DecodeOptions{}), row, nil), uint64(row))
	}
	for _, limit := range []int64{0, 5000, 1 << 20} {
		c := NewImageCache(files, paths, limit, DecodeOptions{})
		var all sync.WaitGroup
		for g := range 8 {
			all.Go(func() {
				v, err := NewViewer(p, a)
				if err != nil {
					t.Error(err)
					return
				}
				for i := range 20 {
					row := (i*3 + g) % len(paths)
					img, err := c.ImageFor(row, v)
					if g%2 == 0 {
						img, err = c.Image(row)
					}
					dst := make([]float32, p.Size())
					if err == nil {
						err = v.Into(dst, img, rand.New(rand.NewPCG(uint64(row), 5)))
					}
					if err != nil || !slices.Equal(dst, want[row]) {
						t.Errorf("limit %d, row %d: %v, or a different view", limit, row, err)
						return
					}
				}
			})
		}
		all.Wait()
		if _, bytes := c.Kept(); bytes > limit {
			t.Errorf("%d bytes are kept, expected at most %d", bytes, limit)
		}
	}
}

// viewAt returns one view, drawn with its own generator.
func viewAt(t testing.TB, p Preprocessing, a Augmentation, img image.Image, seed uint64) []float32 {
	t.Helper()
	v, err := NewViewer(p, a)
	if err != nil {
		t.Fatal(err)
	}
	dst := make([]float32, p.Size())
	if err := v.Into(dst, img, rand.New(rand.NewPCG(seed, 5))); err != nil {
		t.Fatal(err)
	}
	return dst
}

// TestReducedViews checks for all test images that a reduced image gives the same views as the whole image.
func TestReducedViews(t *testing.T) {
	grey := unchanged(0, 18, "bicubic")
	grey.Channels = "L"
	smaller := 0
	for name, img := range testPictures(t) {
		for _, p := range []Preprocessing{unchanged(20, 16, "bilinear"), unchanged(21, 12, "lanczos"), grey} {
			for _, r := range Recipes() {
				v, err := NewViewer(p, r.Augmentation)
				if err != nil {
					t.Fatal(err)
				}
				reduced := v.reducePicture(img)
				if reduced != img {
					smaller++
					if n := bytesOf(reduced); n >= bytesOf(img) || n != v.reducedBytes(img) {
						t.Errorf("%s, %s: %d bytes, before %d, predicted %d", name, r.Name, n, bytesOf(img),
							v.reducedBytes(img))
					}
				}
				for seed := range uint64(3) {
					if !slices.Equal(viewAt(t, p, r.Augmentation, reduced, seed),
						viewAt(t, p, r.Augmentation, img, seed)) {
						t.Errorf("%s, %s, %s: views differ", name, r.Name, p.Key())
					}
				}
			}
		}
	}
	if smaller < 100 {
		t.Errorf("only %d images were reduced: the test is too weak", smaller)
	}
}

// TestImageCacheOfOtherViewer checks that an image resized for one viewer is not used for a different viewer.
func TestImageCacheOfOtherViewer(t *testing.T) {
	files, paths := photographs(t, 1)
	prism, err := NewViewer(unchanged(0, 14, "bilinear"), Augmentation{Crop: cropRandom, Resize: 16, Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewViewer(unchanged(0, 14, "bilinear"), Augmentation{Crop: cropRandom, Resize: 17, Exact: true})
	if err != nil {
		t.Fatal(err)
	}
	c := NewImageCache(files, paths, 1<<20, DecodeOptions{})
	if b := imageAt(t, c, 0, prism).Bounds(); b.Dx() != 16 || b.Dy() != 16 {
		t.Errorf("kept at %v, expected 16×16", b)
	}
	if b := imageAt(t, c, 0, other).Bounds(); b.Dx() != 17 {
		t.Errorf("a different viewer gets %v", b)
	}
	if b := imageAt(t, c, 0, nil).Bounds(); b.Dx() != 60 {
		t.Errorf("Image is %v, expected the whole image", b)
	}
	if imageAt(t, c, 0, prism) != imageAt(t, c, 0, prism) {
		t.Error("the image that was kept first was evicted")
	}
}
