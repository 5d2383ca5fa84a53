package live_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"winnow/backbone"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/live"
	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
)

// folder returns a file system with the images of g.
func folder(t *testing.T, g *gratings) (fstest.MapFS, []string) {
	files, paths := fstest.MapFS{}, []string{}
	for i, img := range g.pictures {
		var out bytes.Buffer
		if err := png.Encode(&out, img); err != nil {
			t.Fatal(err)
		}
		path := "set/" + string(rune('a'+i)) + ".png"
		files[path], paths = &fstest.MapFile{Data: out.Bytes()}, append(paths, path)
	}
	return files, paths
}

// Views depend only on (seed, step, place in the batch), not on the number of goroutines. The view without
// augmentation equals the view from which features are extracted.
func TestPixels(t *testing.T) {
	g := newGratings(1, 12)
	files, paths := folder(t, g)
	rows := []int{3, 7, 3, 0, 11}
	load := func(workers int, a backbone.Augmentation, seed uint64) []float32 {
		p, err := live.NewPixels(live.PixelsConfig{
			Pictures:      backbone.NewImageCache(files, paths, 1<<20, backbone.DecodeOptions{}),
			Preprocessing: greyInput(), Augmentation: a, Workers: workers,
			Source: func(int) *rand.Rand { return rand.New(rand.NewPCG(seed, 5)) },
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := p.Load(rows)
		if err != nil {
			t.Fatal(err)
		}
		return out[0]
	}
	one := load(1, backbone.Augmentation{}, 1)
	for i, r := range rows {
		want := make([]float32, side*side)
		if err := backbone.Preprocess(want, g.pictures[r], greyInput()); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(want, one[i*side*side:(i+1)*side*side]) {
			t.Errorf("row %d differs from the evaluation view", r)
		}
	}
	a := backbone.Augmentation{Crop: "random", Pad: 2, Flip: 0.5}
	first := load(1, a, 1)
	for _, workers := range []int{2, 3, 8} {
		if !slices.Equal(first, load(workers, a, 1)) {
			t.Errorf("%d goroutines give other views than one", workers)
		}
	}
	if slices.Equal(first, load(1, a, 2)) {
		t.Error("another seed gives the same views")
	}
	if slices.Equal(first[:side*side], first[2*side*side:3*side*side]) {
		t.Error("a row that is named twice gets equal views")
	}
}

// A cache holds the image at the size that views are cut from. Twenty times as many images fit as at full size.
func TestPicturesAreKeptSmall(t *testing.T) {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewRGBA(image.Rect(0, 0, 300, 200))); err != nil {
		t.Fatal(err)
	}
	p := greyInput()
	p.Resize = side + 4
	cache := backbone.NewImageCache(fstest.MapFS{"photo.png": {Data: out.Bytes()}}, []string{"photo.png"}, 1<<20,
		backbone.DecodeOptions{})
	in, err := live.NewPixels(live.PixelsConfig{Pictures: cache, Preprocessing: p})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Load([]int{0}); err != nil {
		t.Fatal(err)
	}
	if n, size := cache.Kept(); n != 1 || size > 300*200/20 {
		t.Errorf("%d images of %d bytes are kept, expected one of 24×16", n, size)
	}
}

func TestUnreadable(t *testing.T) {
	g := newGratings(1, 12)
	files, paths := folder(t, g)
	files["set/e.png"] = &fstest.MapFile{Data: []byte("no picture")}
	delete(files, "set/k.png")
	p, err := live.NewPixels(live.PixelsConfig{Pictures: backbone.NewImageCache(files, paths, 0,
		backbone.DecodeOptions{}), Preprocessing: greyInput()})
	if err != nil {
		t.Fatal(err)
	}
	m, weights := network(2)
	e := encode(t, g, open(t, m, weights, gradient.BatchNorm{}), p, 12, 0)
	for _, c := range []struct {
		rows []int
		want string
	}{{[]int{0, 4, 1}, "set/e.png"}, {[]int{10}, "set/k.png"}, {upTo(12), "set/e.png"}} {
		if _, err := e.Forward(c.rows); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("rows %v: %v, expected %q", c.rows, err, c.want)
		}
	}
	if _, err := e.Forward([]int{0, 1}); err != nil {
		t.Errorf("after an error: %v", err)
	}
}

// Training only the last stage gives the whole network's gradients of that stage: on pixels, after a frozen prefix
// that runs for each batch, and after a prefix that ran once.
func TestFrozenPrefix(t *testing.T) {
	g := newGratings(1, 24)
	m, weights := network(2)
	last := weights[3:]
	frozen, part, boundary, err := gradient.Split(m, "features", last)
	if err != nil {
		t.Fatal(err)
	}
	if len(boundary) != 1 || boundary[0] != "mid" {
		t.Fatalf("boundary %q", boundary)
	}
	rt := orttest.Runtime(t)
	d, err := gradient.Differentiate(part, gradient.Options{Output: "features", Weights: last})
	if err != nil {
		t.Fatal(err)
	}
	prefix, err := ort.NewPrefix(rt, frozen, boundary)
	if err != nil {
		t.Fatal(err)
	}
	defer prefix.Close()
	images := pixels(t, g, backbone.Augmentation{}, nil)
	prefixed, err := live.NewPrefixed(prefix, images, 3)
	if err != nil {
		t.Fatal(err)
	}
	calls := 0
	need := int64(24 * 6 * 6 * 6 * 4)
	cached, err := live.NewCached(t.Context(), prefixed, 24, 7, need, func(done, total int) {
		if calls++; total != 24 || done != min(7*calls, 24) {
			t.Errorf("progress reported %d of %d", done, total)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if cached.Bytes() != need || calls != 4 {
		t.Errorf("%d bytes in %d calls, expected %d in 4", cached.Bytes(), calls, need)
	}
	rows, G := []int{5, 23, 0, 11, 6, 2, 9}, drawn(1, 7, 8)
	run := func(inputs live.Inputs, whole bool) *live.Encoder {
		net := open(t, m, last, gradient.BatchNorm{})
		if !whole {
			if net, err = ort.NewLive(rt, d, ort.LiveOptions{Model: m}); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { net.Close() })
		}
		e := encode(t, g, net, inputs, 8, 0)
		value(t, e, rows, G)
		if err := e.Backward(G); err != nil {
			t.Fatal(err)
		}
		return e
	}
	want := run(images, true)
	for name, in := range map[string]live.Inputs{"prefixed": prefixed, "cached": cached} {
		if d := apart(want, run(in, false)); !(d < 1e-5) {
			t.Errorf("%s: gradients are off by %.3g", name, d)
		}
	}

	_, err = live.NewCached(t.Context(), prefixed, 24, 7, need-1, nil)
	var large *live.TooLarge
	if !errors.As(err, &large) || large.Need != need || large.Limit != need-1 {
		t.Errorf("a cache of %d bytes over the limit: %v", 1, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := live.NewCached(ended, prefixed, 24, 7, need, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := cached.Load([]int{24}); err == nil {
		t.Error("a missing row was accepted")
	}
	if _, err := live.NewPrefixed(prefix, cached, 0); err == nil {
		t.Error("inputs of another size were accepted")
	}
}
