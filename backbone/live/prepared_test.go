package live_test

import (
	"image"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"winnow/backbone"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/live"
)

// counted counts the requested images.
type counted struct {
	*gratings
	asked atomic.Int64
}

func (c *counted) ImageFor(row int, v *backbone.Viewer) (image.Image, error) {
	c.asked.Add(1)
	return c.gratings.ImageFor(row, v)
}

func preparable(t *testing.T, pictures live.Pictures, workers int, step *int) *live.Pixels {
	t.Helper()
	a, source := augmentation(step)
	p, err := live.NewPixels(live.PixelsConfig{Pictures: pictures, Preprocessing: greyInput(), Augmentation: a,
		Source: source, Workers: workers, Ahead: true})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Preparing rows, whether correct, wrong or never used, does not change any bit of the loaded views.
func TestPreparedViewsAreTheSame(t *testing.T) {
	g := &counted{gratings: newGratings(1, 24)}
	batches := [][]int{{3, 7, 3, 0}, {11, 2, 5, 1}, {4, 4, 23, 9, 8}, {6}, {0, 1, 2, 3}}
	load := func(workers int, prepare func(p *live.Pixels, step int)) (all [][]float32) {
		step := 0
		p := preparable(t, g, workers, &step)
		for i, rows := range batches {
			step = 10 + i
			x, err := p.Load(rows)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, slices.Clone(x[0]))
			if i+1 < len(batches) {
				prepare(p, i+1)
			}
			if !slices.Equal(x[0], all[i]) {
				t.Error("preparing overwrote the network's inputs")
			}
		}
		return all
	}
	want := load(1, func(*live.Pixels, int) {})
	for name, prepare := range map[string]func(p *live.Pixels, i int){
		"right":     func(p *live.Pixels, i int) { p.Prepare(batches[i]) },
		"wrong":     func(p *live.Pixels, i int) { p.Prepare([]int{i, i}) },
		"forgotten": func(p *live.Pixels, i int) { p.Prepare(batches[i]); p.Prepare(nil) },
	} {
		for _, workers := range []int{1, 2, 5} {
			got := load(workers, prepare)
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Errorf("%s, %d goroutines: batch %d differs", name, workers, i)
				}
			}
		}
	}
	step := 1
	p := preparable(t, g, 3, &step)
	p.Prepare(batches[4])
	step = 14 // not the next step: the prepared views belong to another step
	if x, err := p.Load(batches[4]); err != nil || !slices.Equal(x[0], want[4]) {
		t.Errorf("%v: the views belong to the step of Prepare, not to the step of Load", err)
	}
}

// Views made in the background are not made again, except one that is still in progress.
func TestPreparedIsUsed(t *testing.T) {
	g, step := &counted{gratings: newGratings(1, 24)}, 1
	p := preparable(t, g, 2, &step)
	rows := upTo(24)
	p.Prepare(rows)
	for end := time.Now().Add(time.Minute); g.asked.Load() < 24; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d images in a minute, expected 24", g.asked.Load())
		}
	}
	step++
	if _, err := p.Load(rows); err != nil || g.asked.Load() > 25 {
		t.Errorf("%v: requested %d images, expected 24, or one more", err, g.asked.Load())
	}
}

// An image that cannot be read is an error of its batch, whether prepared or not.
func TestUnreadablePrepared(t *testing.T) {
	g := newGratings(1, 12)
	files, paths := folder(t, g)
	files["set/e.png"] = &fstest.MapFile{Data: []byte("no picture")}
	step := 1
	p := preparable(t, backbone.NewImageCache(files, paths, 0, backbone.DecodeOptions{}), 3, &step)
	p.Prepare([]int{0, 4, 1})
	step++
	if _, err := p.Load([]int{0, 4, 1}); err == nil || !strings.Contains(err.Error(), "set/e.png") {
		t.Errorf("%v, expected set/e.png", err)
	}
	p.Prepare([]int{4})
	if _, err := p.Load([]int{0, 1}); err != nil {
		t.Errorf("an error of a batch that was never loaded: %v", err)
	}
}

// Weights after some steps are equal to the last bit, whether batches are announced or not.
func TestAnnouncedTrainsTheSame(t *testing.T) {
	g := newGratings(1, 24)
	m, weights := network(2)
	rng := rand.New(rand.NewPCG(8, 8))
	batches := make([][]int, 6)
	for i := range batches {
		batches[i] = rng.Perm(24)[:8]
	}
	train := func(announce bool, chunk int) (all []float32) {
		step := 0
		e := encode(t, g, open(t, m, weights, gradient.BatchNorm{Train: true}), preparable(t, g, 2, &step), 8, chunk)
		for i, rows := range batches {
			step++
			if announce && i+1 < len(batches) {
				e.Announce(batches[i+1])
			}
			value(t, e, rows, drawn(1, 8, 8))
			if err := e.Backward(drawn(1, 8, 8)); err != nil {
				t.Fatal(err)
			}
			for _, p := range e.Params() {
				for j, v := range p.Grad {
					p.Data[j] -= 0.01 * v
				}
			}
		}
		for _, p := range append(e.Params(), e.State()...) {
			all = append(all, p.Data...)
		}
		return all
	}
	for _, chunk := range []int{0, 3} {
		if !slices.Equal(train(false, chunk), train(true, chunk)) {
			t.Errorf("chunk %d: other weights if batches are announced", chunk)
		}
	}
}
