package review

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"winnow/datasets/imageroot"
	"winnow/datasets/location"
)

func pngFile(w, h int, c color.NRGBA) []byte {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for i := range w * h {
		img.SetNRGBA(i%w, i/w, c)
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		panic(err)
	}
	return b.Bytes()
}

var red = color.NRGBA{255, 0, 0, 255}

func decoded(t *testing.T, data []byte) image.Image {
	t.Helper()
	img, err := jpeg.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img
}

// TestCropIsSent checks the thumbnail and the image file of a crop.
func TestCropIsSent(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "wide.png"), pngFile(300, 100, red), 0o600); err != nil {
		t.Fatal(err)
	}
	root, err := imageroot.OpenClosed(t.Context(), location.At(dir))
	if err != nil {
		t.Fatal(err)
	}
	p := newPictureCache(root)
	const path = "wide.png#xywh=290,10,50,40&id=1"
	small, err := p.makeSmall(context.Background(), path, leastSide)
	if err != nil {
		t.Fatal(err)
	}
	if b := decoded(t, small).Bounds(); b.Dx()*4 != b.Dy() {
		t.Errorf("small: %v, expected the proportions of 10×40", b)
	}
	f, err := p.openPicture(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(f)
	if img, derr := png.Decode(bytes.NewReader(data)); errors.Join(err, derr, f.Close()) != nil ||
		f.Type != "image/png" || int64(len(data)) != f.Size || img.Bounds().Size() != image.Pt(10, 40) {
		t.Errorf("%v, %v, %+v", err, derr, f)
	}
	if _, err := p.openPicture("wide.png#xywh=300,0,1,1"); err == nil {
		t.Error("a crop outside was opened")
	}
}

// TestSmall checks the sizes and proportions of thumbnails, and the white background of transparent images.
func TestSmall(t *testing.T) {
	fsys := fstest.MapFS{
		"wide.png":  {Data: pngFile(300, 100, red)},
		"small.png": {Data: pngFile(20, 10, red)},
		"clear.png": {Data: pngFile(30, 30, color.NRGBA{0, 0, 0, 0})},
	}
	p := newPictureCache(fsys)
	for _, c := range []struct {
		path       string
		side, w, h int
		r, g, b    uint32
	}{
		{"wide.png", 150, 150, 50, 255, 0, 0}, {"wide.png", 1, leastSide, 5, 255, 0, 0},
		{"wide.png", 10_000, 300, 100, 255, 0, 0},
		{"small.png", 160, 20, 10, 255, 0, 0}, {"clear.png", 16, 16, 16, 255, 255, 255},
	} {
		data, err := p.makeSmall(t.Context(), c.path, c.side)
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		img := decoded(t, data)
		if b := img.Bounds(); b.Dx() != c.w || b.Dy() != c.h {
			t.Errorf("%s at %d: %v, expected %d×%d", c.path, c.side, b, c.w, c.h)
		}
		r, g, b, _ := img.At(3, 3).RGBA()
		for _, v := range [][2]uint32{{r, c.r}, {g, c.g}, {b, c.b}} {
			if d := int(v[0]>>8) - int(v[1]); d > 6 || d < -6 {
				t.Errorf("%s: colour %d %d %d", c.path, r>>8, g>>8, b>>8)
			}
		}
	}
}

// TestUnreadable checks that images that cannot be decoded return an unreadable error and are not cached.
func TestUnreadable(t *testing.T) {
	whole := pngFile(50, 50, red)
	var bomb bytes.Buffer
	bomb.Write(whole[:16])
	bomb.Write([]byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536×65536
	bomb.Write(whole[24:])
	fsys := fstest.MapFS{
		"text.jpg": {Data: []byte("<html><script>alert(1)</script>")}, "empty.jpg": {},
		"cut.png":  {Data: whole[:len(whole)/2]},
		"bomb.png": {Data: bomb.Bytes()}, "folder/x": {Data: whole},
	}
	p := newPictureCache(fsys)
	for _, path := range []string{"text.jpg", "empty.jpg", "cut.png", "bomb.png", "folder", "missing.jpg",
		"../text.jpg", "/etc/passwd", ""} {
		if _, err := p.makeSmall(t.Context(), path, 100); !errors.As(err, new(*unreadable)) {
			t.Errorf("%s: got %v", path, err)
		}
	}
	for _, path := range []string{"text.jpg", "empty.jpg", "folder", "missing.jpg", "../text.jpg", "/etc/passwd", ""} {
		if f, err := p.openPicture(path); !errors.As(err, new(*unreadable)) {
			t.Errorf("%s: opened %v, %v", path, f, err)
		}
	}
	if len(p.at) > 0 {
		t.Errorf("kept %d", len(p.at))
	}
}

// TestMemory checks that the cache stays within its limit and keeps the most recently used thumbnails.
func TestMemory(t *testing.T) {
	p := newPictureCache(nil)
	for i := range 100 {
		p.putCached(smallKey{side: i}, make([]byte, mostMemory/10))
		if _, ok := p.getCached(smallKey{}); !ok || p.bytes > mostMemory || len(p.at) != p.order.Len() {
			t.Fatalf("%v, %d bytes, %d and %d entries", ok, p.bytes, len(p.at), p.order.Len())
		}
	}
	if _, ok := p.getCached(smallKey{side: 99}); !ok || len(p.at) != 10 {
		t.Errorf("%d entries, the last one there: %v", len(p.at), ok)
	}
}

// TestPipe checks that a named pipe among the images is an error, and that reading it does not block.
func TestPipe(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.jpg"), 0o600); err != nil {
		t.Skip(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	p := newPictureCache(root.FS())
	_, small := p.makeSmall(t.Context(), "pipe.jpg", 100)
	_, file := p.openPicture("pipe.jpg")
	for _, err := range []error{small, file} {
		if !errors.As(err, new(*unreadable)) || !strings.Contains(err.Error(), "is a named pipe") {
			t.Errorf("got %v", err)
		}
	}
}
