package backbone

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestShiftIsMovedCrop: a shift by whole pixels gives the crop cut elsewhere, including padding, because a warp
// sees what the crop left out.
func TestShiftIsMovedCrop(t *testing.T) {
	img := resizePicture(t)
	p := unchanged(40, 16, "bilinear")
	a := Augmentation{Crop: cropRandom, Resize: 20, Pad: 6}
	v, err := NewViewer(p, a)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(40) {
		w := a.planView(p, 61, 47, drawFrom(rand.New(rand.NewPCG(seed, 1))))
		right, down := int(seed%5)-2, int(seed%7)-3
		moved := w
		moved.across.start -= right
		moved.down.start -= down
		if moved.across.start < 0 || moved.down.start < 0 || moved.across.start+16 > w.across.total ||
			moved.down.start+16 > w.down.total {
			continue
		}
		w.warp = warp{zoom: 1, right: float64(right) / 16, down: float64(down) / 16}
		got, want := make([]float32, p.Size()), make([]float32, p.Size())
		v.renderView(got, img, w)
		v.renderView(want, img, moved)
		if !slices.Equal(got, want) {
			t.Errorf("seed %d: a shift by %d, %d is not the moved crop", seed, right, down)
		}
	}
}

// TestBorderRepeats: beyond the picture its border is repeated.
func TestBorderRepeats(t *testing.T) {
	p := unchanged(0, 20, "bilinear")
	img := photograph(20, 20, 3)
	v, err := NewViewer(p, Augmentation{})
	if err != nil {
		t.Fatal(err)
	}
	w := Augmentation{}.planView(p, 20, 20, new(draws))
	w.warp = warp{zoom: 1, right: 0.25}
	dst := make([]float32, p.Size())
	v.renderView(dst, img, w)
	whole := run(t, img, p)
	for i, x := range dst {
		column := max(i%20-5, 0)
		if want := whole[i/20*20+column]; x != want {
			t.Fatalf("value %d is %v, expected %v", i, x, want)
		}
	}
}

// TestWarpDirections: positive shifts go right and down, a zoom above 1 enlarges, a positive angle turns
// clockwise.
func TestWarpDirections(t *testing.T) {
	p := unchanged(0, 21, "bilinear")
	p.Channels = "L"
	at := func(w warp, x, y int) float32 { // of a picture with one white pixel, four right of the centre
		img := photograph(21, 21, 1)
		clear(img.Pix)
		for i := 3; i < len(img.Pix); i += 4 {
			img.Pix[i] = 255
		}
		copy(img.Pix[img.PixOffset(14, 10):], []byte{255, 255, 255})
		v, err := NewViewer(p, Augmentation{})
		if err != nil {
			t.Fatal(err)
		}
		plan := Augmentation{}.planView(p, 21, 21, new(draws))
		plan.warp = w
		dst := make([]float32, p.Size())
		v.renderView(dst, img, plan)
		return dst[21*y+x]
	}
	for _, c := range []struct {
		w    warp
		x, y int
	}{
		{warp{zoom: 1}, 14, 10}, {warp{zoom: 1, right: 2. / 21}, 16, 10}, {warp{zoom: 1, down: -3. / 21}, 14, 7},
		{warp{zoom: 2}, 18, 10}, {warp{zoom: 1, angle: 1.5707963267948966}, 10, 14},
		{warp{zoom: 2, angle: -1.5707963267948966}, 10, 2},
	} {
		if got := at(c.w, c.x, c.y); got < 254 {
			t.Errorf("%+v: pixel %d, %d is %v, expected white", c.w, c.x, c.y, got)
		}
	}
}
