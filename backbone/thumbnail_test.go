package backbone_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"winnow/backbone"
)

func TestThumbnails(t *testing.T) {
	picture := func(w, h int, c color.NRGBA) *fstest.MapFile {
		img := image.NewNRGBA(image.Rect(0, 0, w, h))
		for i := range w * h {
			copy(img.Pix[4*i:], []uint8{c.R, c.G, c.B, c.A})
		}
		var b bytes.Buffer
		if err := png.Encode(&b, img); err != nil {
			t.Fatal(err)
		}
		return &fstest.MapFile{Data: b.Bytes()}
	}
	red, blue := color.NRGBA{200, 0, 0, 255}, color.NRGBA{0, 0, 200, 255}
	files := fstest.MapFS{"wide.png": picture(300, 100, red), "high.png": picture(50, 200, blue),
		"small.png": picture(9, 7, red), "broken.png": {Data: []byte("\x89PNG\r\n\x1a\n")}}
	paths := []string{"wide.png", "nowhere.png", "small.png", "broken.png", "high.png"}
	var told atomic.Int64
	got, err := backbone.Thumbnails(t.Context(), files, paths, 60, func() { told.Add(1) })
	if err != nil || int(told.Load()) != len(paths) {
		t.Fatalf("%d told, %v", told.Load(), err)
	}
	for i, want := range []struct {
		size   image.Point
		colour color.NRGBA
	}{{image.Pt(60, 20), red}, {}, {image.Pt(9, 7), red}, {}, {image.Pt(15, 60), blue}} {
		if (got[i].Err != nil) != (want.size == image.Point{}) {
			t.Errorf("%s: %v", paths[i], got[i].Err)
			continue
		}
		if got[i].Err == nil && (got[i].Image.Bounds().Size() != want.size ||
			got[i].Image.NRGBAAt(3, 3) != want.colour) {
			t.Errorf("%s: %v of %v, expected %v of %v", paths[i], got[i].Image.Bounds().Size(),
				got[i].Image.NRGBAAt(3, 3), want.size, want.colour)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := backbone.Thumbnails(ctx, files, paths, 60, nil); err != context.Canceled {
		t.Errorf("stopped: %v", err)
	}
}

// TestReadThumbnail checks that a single thumbnail looks like one from Thumbnails, although photographs are reduced
// while decoding, and that it is rotated by EXIF.
func TestReadThumbnail(t *testing.T) {
	files, paths := fstest.MapFS{}, []string{"exif-6.png", "exif-jpg.jpg", "jpeg-420.jpg"}
	for _, path := range paths {
		data, err := os.ReadFile("testdata/pil/" + path)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = &fstest.MapFile{Data: data}
	}
	for _, size := range []image.Point{{801, 599}, {160, 1203}} {
		img := image.NewRGBA(image.Rectangle{Max: size})
		for i := range size.X * size.Y {
			x, y := i%size.X, i/size.X
			img.SetRGBA(x, y, color.RGBA{uint8(255 * x / size.X), uint8(255 * y / size.Y), uint8(x / 40 % 2 * 200),
				255})
		}
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, nil); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, size.String())
		files[size.String()] = &fstest.MapFile{Data: b.Bytes()}
	}
	for _, side := range []int{24, 160} {
		all, err := backbone.Thumbnails(t.Context(), files, paths, side, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, path := range paths {
			got := backbone.ReadThumbnail(files, path, side)
			if got.Err != nil || all[i].Err != nil {
				t.Errorf("%s: %v, %v", path, got.Err, all[i].Err)
				continue
			}
			want := all[i].Image
			if got.Image.Bounds() != want.Bounds() {
				t.Errorf("%s at %d: %v, expected %v", path, side, got.Image.Bounds(), want.Bounds())
				continue
			}
			sum := 0
			for j, v := range got.Image.Pix {
				sum += max(int(v)-int(want.Pix[j]), int(want.Pix[j])-int(v))
			}
			if mean := float64(sum) / float64(len(want.Pix)); mean > 4 {
				t.Errorf("%s at %d: differs by %.1f on average", path, side, mean)
			}
		}
	}
	if got := backbone.ReadThumbnail(os.DirFS("."), "testdata", 24); got.Err == nil {
		t.Error("a folder was accepted as an image")
	}
}

func TestFileType(t *testing.T) {
	for head, want := range map[string]string{
		"\xff\xd8\xff\xe0": "image/jpeg", "\x89PNG\r\n\x1a\n": "image/png", "GIF89a": "image/gif", "BM": "image/bmp",
		"RIFF\x00\x00\x00\x00WEBP": "image/webp", "<svg xmlns": "", "<html>": "", "": "",
	} {
		if got := backbone.FileType([]byte(head)); got != want {
			t.Errorf("%q: got %q, expected %q", head, got, want)
		}
	}
}
