package train_test

import (
	"context"
	"image"
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/live"
	"winnow/features"
	"winnow/filters"
	"winnow/head"
	"winnow/internal/testing/orttest"
	"winnow/losses"
	"winnow/train"
	"winnow/train/samples"
)

// BenchmarkTunedStep measures what a fine-tuning step of `winnow train --finetune all` costs beside its network: views
// of pictures, head, filter, losses, memory, solver of the head, records. The network is a stand-in on a device: it
// only waits, a third of the time forwards and the rest backwards, and so does the place of its weights. Metrics: the
// median step, and what of it is not the network's time.
func BenchmarkTunedStep(b *testing.B) {
	const width, batch, steps, pictures = 1280, 64, 200, 256
	orttest.UseBLAS(b)
	rng := rand.New(rand.NewPCG(1, 1))
	set := claimSet(rng, 2000, width)
	h, err := head.New(b.Context(), head.Config{In: width, Out: claimOut, Init: head.Random}, set.X, rng)
	if err != nil {
		b.Fatal(err)
	}
	seen := make(shown, pictures)
	for i := range seen {
		img := image.NewYCbCr(image.Rect(0, 0, 224, 224), image.YCbCrSubsampleRatio420)
		for j := range img.Y {
			img.Y[j] = uint8(rng.Uint32())
		}
		seen[i] = img
	}
	clock := new(train.Clock)
	pixels := or(live.NewPixels(live.PixelsConfig{Pictures: seen, Preprocessing: backbone.Preprocessing{Resize: 256,
		Crop: 224, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255, Std: [3]float32{1, 1, 1}},
		Augmentation: backbone.Augmentation{Flip: 0.5}, Source: clock.SourceAhead(1, "views")}))(b)
	net := newWaiting(set, pixels.Sizes()[0], 24*time.Millisecond)
	encoder := or(live.New(live.Config{Network: net, Inputs: pixels, Head: h, Labels: set.Labels, IDs: set.IDs,
		Batch: batch}))(b)
	defer encoder.Close()
	cfg := filters.Default()
	cfg.Scorer, cfg.AvgSimSteps = "vmf", 0
	sampler := or(train.NewSampler(train.Groups{Classes: 16, Images: 4}, set.Labels, 1))(b)
	schedule := or(train.NewSchedule(train.ScheduleConfig{}, 1e-6, steps, sampler.Batches()))(b)
	group := func(name string, params []*features.Param) train.Group {
		return train.Group{Name: name, Params: params, Solver: or(train.NewSolver(train.DefaultSolver("adam")))(b),
			Schedule: schedule}
	}
	tc := train.Config{Encoder: encoder, Sampler: sampler, Clock: clock, Steps: steps, Dir: b.TempDir(),
		Filter:  or(filters.New(cfg, filters.Env{Dim: claimOut, Classes: claimClasses}))(b),
		Bank:    features.NewBank(claimBank, claimOut, claimClasses),
		Samples: or(samples.New(samples.Config{IDs: set.IDs, Labels: set.Labels, From: 1}))(b),
		Groups:  []train.Group{group(train.BackboneGroup, net.params), group(train.HeadGroup, h.Params())},
	}
	for _, against := range []string{"batch", "bank"} {
		loss := or(losses.New("contrastive", nil, losses.Env{Dim: claimOut, Classes: claimClasses}))(b)
		tc.Terms = append(tc.Terms, train.Term{Name: against, Loss: loss, Weight: 1, Bank: against == "bank"})
	}
	for b.Loop() {
		var took, besides []time.Duration
		at := time.Now()
		tc.Observe = train.Together(tc.Observe, train.On(func(train.Step) {
			took = append(took, time.Since(at))
			besides = append(besides, time.Since(at)-net.spent)
			net.spent, at = 0, time.Now()
		}))
		if _, err := or(train.New(tc))(b).Run(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(1e3*median(took[steps/2:]), "step-ms")
		b.ReportMetric(1e3*median(besides[steps/2:]), "beside-network-ms")
	}
}

// shown are pictures that repeat.
type shown []image.Image

func (s shown) ImageFor(row int, _ *backbone.Viewer) (image.Image, error) { return s[row%len(s)], nil }

// waiting is a network and a place that wait instead of computing.
type waiting struct {
	vectors features.Set
	images  int
	step    time.Duration
	params  []*features.Param
	spent   time.Duration
	at      int
}

func newWaiting(vectors features.Set, images int, step time.Duration) *waiting {
	return &waiting{vectors: vectors, images: images, step: step,
		params: []*features.Param{features.NewParam("w", 16, 16)}}
}

func (w *waiting) wait(d time.Duration) {
	began := time.Now()
	time.Sleep(d)
	w.spent += time.Since(began)
}

func (w *waiting) Params() []*features.Param { return w.params }
func (w *waiting) State() []*features.Param  { return nil }
func (w *waiting) Dim() int                  { return w.vectors.Dim() }
func (w *waiting) Inputs() []int             { return []int{w.images} }
func (w *waiting) Place() features.Place     { return w }
func (w *waiting) Close() error              { return nil }

func (w *waiting) Forward(dst blas32.General, _ [][]float32, n int, _ bool) error {
	w.wait(w.step / 3)
	for i := range n {
		copy(features.Row(dst, i), w.vectors.Row((w.at+i)%w.vectors.Len()))
	}
	w.at += n
	return nil
}

func (w *waiting) Backward(blas32.General, bool) error {
	w.wait(w.step * 2 / 3)
	return nil
}

func (w *waiting) Hold(bool) error                 { return nil }
func (w *waiting) Fetch(string, [][]float32) error { return nil }
func (w *waiting) Store(string, [][]float32) error { return nil }
func (w *waiting) Run(*features.Program, features.Portion, []float32) (float64, error) {
	w.wait(200 * time.Microsecond)
	return 1, nil
}

// or returns a value, or ends a benchmark.
func or[T any](v T, err error) func(*testing.B) T {
	return func(b *testing.B) T {
		if err != nil {
			b.Fatal(err)
		}
		return v
	}
}
