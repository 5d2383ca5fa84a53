package live_test

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"testing"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/live"
	"winnow/backbone/ort"
	"winnow/head"
	"winnow/internal/testing/orttest"
)

const (
	side    = 12
	width   = 10 // length of the network's vectors
	classes = 6
)

// gratings holds images of stripes. The class is their direction; phase, contrast and noise are random.
type gratings struct {
	pictures []image.Image
	labels   []int
	ids      []int
}

func newGratings(seed uint64, n int) *gratings {
	rng := rand.New(rand.NewPCG(seed, 1))
	g := &gratings{}
	for i := range n {
		class := i % classes
		angle := math.Pi * float64(class) / classes
		phase, contrast := 2*math.Pi*rng.Float64(), 40+60*rng.Float64()
		img := image.NewGray(image.Rect(0, 0, side, side))
		for y := range side {
			for x := range side {
				v := 128 + contrast*math.Sin(1.6*(math.Cos(angle)*float64(x)+math.Sin(angle)*float64(y))+phase) +
					25*rng.NormFloat64()
				img.SetGray(x, y, color.Gray{Y: uint8(min(max(v, 0), 255))})
			}
		}
		g.pictures, g.labels, g.ids = append(g.pictures, img), append(g.labels, class), append(g.ids, 100+i)
	}
	return g
}

func (g *gratings) ImageFor(row int, _ *backbone.Viewer) (image.Image, error) {
	return g.pictures[row], nil
}

func greyInput() backbone.Preprocessing {
	return backbone.Preprocessing{Crop: side, Interpolation: "bilinear", Channels: "L", Scale: 1. / 255,
		Mean: [3]float32{0.5, 0.5, 0.5}, Std: [3]float32{0.25, 0.25, 0.25}}
}

// network returns x [N,1,12,12] → Conv, BatchNormalization, Relu, MaxPool → "mid" → Conv, BatchNormalization, Relu,
// GlobalAveragePool, Flatten → "features" [N,10].
func network(seed uint64) (*graph.Model, []string) {
	rng := rand.New(rand.NewPCG(seed, 2))
	b := graph.NewBuilder("gratings", 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(1), graph.Fixed(side), graph.Fixed(side)})
	tensor := func(name string, value func() float64, dims ...int64) string {
		n := int64(1)
		for _, d := range dims {
			n *= d
		}
		data := make([]float32, n)
		for i := range data {
			data[i] = float32(value())
		}
		return b.Constant(graph.NewTensor(name, data, dims...))
	}
	about := func(mean, spread float64) func() float64 {
		return func() float64 { return mean + spread*rng.NormFloat64() }
	}
	var weights []string
	block := func(x, name string, out, in int64) string {
		w := tensor(name+".weight", about(0, math.Sqrt(2/float64(9*in))), out, in, 3, 3)
		y := b.Node("Conv", []string{x, w}, graph.Ints("pads", 1, 1, 1, 1))
		scale, shift := tensor(name+".scale", about(1, 0.1), out), tensor(name+".shift", about(0, 0.1), out)
		weights = append(weights, w, scale, shift)
		y = b.Node("BatchNormalization", []string{y, scale, shift,
			tensor(name+".mean", about(0, 0.1), out), tensor(name+".var",
				func() float64 { return 1 + rng.Float64() }, out)})
		return b.Node("Relu", []string{y})
	}
	y := block(x, "one", 6, 1)
	y = b.NodeTo("mid", "MaxPool", []string{y}, graph.Ints("kernel_shape", 2, 2), graph.Ints("strides", 2, 2))
	y = block(y, "two", width, 6)
	b.Output(b.NodeTo("features", "Flatten", []string{b.Node("GlobalAveragePool", []string{y})}))
	return b.Model(), weights
}

// open loads the derivative of a model.
func open(t testing.TB, m *graph.Model, weights []string, bn gradient.BatchNorm) *ort.Live {
	t.Helper()
	rt := orttest.Runtime(t)
	d, err := gradient.Differentiate(m, gradient.Options{Output: "features", Weights: weights, BatchNorm: bn})
	if err != nil {
		t.Fatal(err)
	}
	l, err := ort.NewLive(rt, d, ort.LiveOptions{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

func newHead(t testing.TB, seed uint64) *head.Head {
	t.Helper()
	h, err := head.New(t.Context(), head.Config{In: width, Out: 8, Bias: true, Init: head.Random},
		matrix(nil, 0, width), rand.New(rand.NewPCG(seed, 3)))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// encode returns an encoder over the images of g.
func encode(t testing.TB, g *gratings, net backbone.LiveNetwork, inputs live.Inputs, batch, chunk int) *live.Encoder {
	t.Helper()
	e, err := live.New(live.Config{Network: net, Inputs: inputs, Head: newHead(t, 5), Labels: g.labels, IDs: g.ids,
		Batch: batch, Chunk: chunk})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func pixels(t testing.TB, g *gratings, a backbone.Augmentation, source func(ahead int) *rand.Rand) *live.Pixels {
	t.Helper()
	p, err := live.NewPixels(live.PixelsConfig{Pictures: g, Preprocessing: greyInput(), Augmentation: a,
		Source: source})
	if err != nil {
		t.Fatal(err)
	}
	return p
}
