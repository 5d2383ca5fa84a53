package backbone

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"os"
	"strings"
	"testing"

	"winnow/datasets"
)

// TestCrop checks for every decoder that a crop is a part of the whole image after EXIF rotation, even if the options
// disable the rotation.
func TestCrop(t *testing.T) {
	root := os.DirFS("testdata/pil")
	for _, name := range []string{"exif-6.png", "exif-3.png", "exif-jpg.jpg", "exif-webp.webp", "jpeg-420.jpg"} {
		whole, err := Decode(readFile(t, "testdata/pil/"+name), DecodeOptions{EXIF: true})
		if err != nil {
			t.Fatal(err)
		}
		w, h := whole.Bounds().Dx(), whole.Bounds().Dy()
		pixels := rgbOf(whole)
		for _, c := range []datasets.Crop{{X: 0, Y: 0, W: w, H: h}, {X: 1, Y: 2, W: 3, H: 5},
			{X: w - 2, Y: h - 3, W: 100, H: 100}, {X: w - 1, Y: h - 1, W: 1, H: 1}} {
			path := name + c.String() + "&id=7"
			err := ReadImage(root, path, DecodeOptions{Enough: func(int, int) (int, int) { return 1, 1 }},
				func(img image.Image) error {
					b := img.Bounds()
					if want := image.Rect(0, 0, min(c.W, w-c.X), min(c.H, h-c.Y)); b != want {
						return fmt.Errorf("is %v, expected %v", b, want)
					}
					got := rgbOf(img)
					for y := range b.Dy() {
						if row := 3 * b.Dx(); !bytes.Equal(got[y*row:][:row], pixels[3*((c.Y+y)*w+c.X):][:row]) {
							return fmt.Errorf("row %d differs from the image", y)
						}
					}
					return nil
				})
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

func TestCropOutside(t *testing.T) {
	err := ReadImage(os.DirFS("testdata/pil"), "jpeg-420.jpg#xywh=37,0,5,5", DecodeOptions{},
		func(image.Image) error { return nil })
	if want := "the crop of 5×5 pixels from 37,0 is outside the image of 37×29"; err == nil ||
		!strings.Contains(err.Error(), want) {
		t.Errorf("%v, expected %q", err, want)
	}
}

// TestCropsAreShown checks that thumbnails, training images and the search for equal files use the crop.
func TestCropsAreShown(t *testing.T) {
	root := os.DirFS("testdata/pil")
	paths := []string{"jpeg-420.jpg#xywh=3,4,20,10&id=1", "jpeg-420.jpg#xywh=3,4,20,10&id=2",
		"jpeg-420.jpg#xywh=3,4,20,11", "jpeg-420.jpg"}
	want := []image.Point{{20, 10}, {20, 10}, {20, 11}, {37, 29}}
	small, err := Thumbnails(context.Background(), root, paths, 100, nil)
	if err != nil {
		t.Fatal(err)
	}
	cache := NewImageCache(root, paths, 1<<20, DecodeOptions{})
	sums := map[[32]byte]int{}
	for i, path := range paths {
		if small[i].Err != nil || small[i].Image.Bounds().Size() != want[i] {
			t.Errorf("%s: thumbnail %+v, expected %v", path, small[i], want[i])
		}
		if quick := ReadThumbnail(root, path, 100); quick.Err != nil || quick.Image.Bounds().Size() != want[i] {
			t.Errorf("%s: quick thumbnail %+v, expected %v", path, quick, want[i])
		}
		if img, err := cache.Image(i); err != nil || img.Bounds().Size() != want[i] {
			t.Errorf("%s: %v, expected %v", path, err, want[i])
		}
		sum, err := Inspect(root, path)
		if err != nil {
			t.Error(err)
		}
		sums[sum]++
	}
	if len(sums) != 3 {
		t.Errorf("%d different images, expected 3: two crops are the same", len(sums))
	}
}
