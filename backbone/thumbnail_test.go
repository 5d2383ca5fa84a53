package backbone_test

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
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
	files := fstest.MapFS{"wide.png": picture(300, 100, red), "high.png": picture(50, 200, blue), "small.png": picture(9, 7, red), "broken.png": {Data: []byte("\x89PNG\r\n\x1a\n")}}
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
		if got[i].Err == nil && (got[i].Image.Bounds().Size() != want.size || got[i].Image.NRGBAAt(3, 3) != want.colour) {
			t.Errorf("%s: %v of %v, expected %v of %v", paths[i], got[i].Image.Bounds().Size(), got[i].Image.NRGBAAt(3, 3), want.size, want.colour)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := backbone.Thumbnails(ctx, files, paths, 60, nil); err != context.Canceled {
		t.Errorf("stopped: %v", err)
	}
}
