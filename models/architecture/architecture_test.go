package architecture

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
)

// outputs runs a model on n random images and returns the named tensors.
func outputs(t *testing.T, m *graph.Model, net Network, n int, names ...string) []ort.Tensor {
	t.Helper()
	b := graph.Extend(m)
	b.SetOutputs(names...)
	if err := b.Model().Check(); err != nil {
		t.Fatal(err)
	}
	s, err := orttest.Runtime(t).NewSession(b.Model().Marshal(), ort.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x := make([]float32, n*net.Channels*net.Side*net.Side)
	rng := rand.New(rand.NewPCG(5, 0))
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	out := make([]ort.Tensor, len(names))
	if err := s.Run([]ort.Tensor{ort.Float32s(x, int64(n), int64(net.Channels), int64(net.Side), int64(net.Side))},
		out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestEmbedded runs every embedded network and checks its parameter count against sums made by hand.
func TestEmbedded(t *testing.T) {
	// block counts a conv without bias, and scale, shift and statistics of its norm.
	block := func(in, out, kernel int64) int64 { return in*out*kernel*kernel + 4*out }
	stage := func(in, out int64, blocks int64) int64 {
		n := block(in, out, 3) + block(out, out, 3)
		if in != out {
			n += block(in, out, 1)
		}
		return n + (blocks-1)*2*block(out, out, 3)
	}
	want := map[string]struct {
		dim        int
		parameters int64
	}{
		"lenet":  {500, 20*9 + 20 + 20 + 50*20*9 + 50 + 50 + 500*50*5*5 + 500 + 500},
		"lenet5": {500, 20*25 + 20 + 50*20*25 + 50 + 500*50*4*4 + 500},
		"glyphnet": {192, block(1, 24, 5) + block(24, 48, 3) + block(48, 96, 3) + block(96, 128, 3) +
			block(128, 192, 3)},
		"convnet4":      {64, block(1, 64, 3) + 3*block(64, 64, 3)},
		"cifar_resnet":  {64, block(3, 16, 3) + stage(16, 16, 2) + stage(16, 32, 2) + stage(32, 64, 2)},
		"cifar_resnet8": {64, block(3, 16, 3) + stage(16, 16, 1) + stage(16, 32, 1) + stage(32, 64, 1)},
	}
	names := Names()
	if len(names) != len(want) {
		t.Errorf("found %v, expected %d of them", names, len(want))
	}
	for _, name := range names {
		n, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		m := n.Model(1)
		if n.Name != name || n.About == "" || n.Dim != want[name].dim || n.Parameters != want[name].parameters ||
			m.Graph.Parameters() != n.Parameters {
			t.Errorf("%s: found %q, %d numbers, %d parameters (the model has %d), expected %+v", name, n.Name, n.Dim,
				n.Parameters, m.Graph.Parameters(), want[name])
		}
		if got := m.Graph.Outputs[0]; got.Name != Output ||
			got.Shape.String() != "[N,"+strings.TrimPrefix(graph.Shape{graph.Fixed(int64(n.Dim))}.String(), "[") {
			t.Errorf("%s: found the output %v", name, got)
		}
		for _, batch := range []int{1, 3} {
			y := outputs(t, m, n, batch, Output)[0]
			if y.Shape[0] != int64(batch) || len(y.F32) != batch*n.Dim || variance(y.F32) == 0 {
				t.Errorf("%s: found %v with variance %g", name, y.Shape, variance(y.F32))
			}
			for _, v := range y.F32 {
				if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
					t.Fatalf("%s: found %v", name, v)
				}
			}
		}
	}
}

// The same seed gives the same bytes, and another seed gives other weights. An additional layer does not change the
// weights of the layers before it.
func TestSeed(t *testing.T) {
	one := Network{Name: "a", Channels: 1, Side: 8, Layers: func(p *Plan) { p.Conv(4, 3, 1, 0, true); p.Flatten() }}
	two := one
	two.Layers = func(p *Plan) { p.Conv(4, 3, 1, 0, true); p.Relu(); p.Conv(4, 3, 1, 0, true); p.Flatten() }
	weights := func(n Network, seed uint64) []byte { return n.Model(seed).Graph.Initializer("conv1.weight").Raw() }
	if first, again := one.Model(1).Marshal(), one.Model(1).Marshal(); string(first) != string(again) {
		t.Error("the same seed gave two models")
	}
	if string(weights(one, 1)) == string(weights(one, 2)) {
		t.Error("two seeds gave the same weights")
	}
	if string(weights(one, 1)) != string(weights(two, 1)) {
		t.Error("a further layer moved the draws of another")
	}
}

// TestInitializers compares mean and variance of large tensors with the formulas, and the bounds of uniform ones.
func TestInitializers(t *testing.T) {
	const in = 64 * 3 * 3
	for init, want := range map[Initializer]float64{HeNormal: 2. / in, LecunUniform: 1. / in} {
		n := Network{Name: "a", Channels: 3, Side: 3, Init: init, Layers: func(p *Plan) {
			p.Conv(64, 1, 1, 0, true)
			p.Conv(32, 3, 1, 0, true)
			p.Flatten()
		}}
		w, _ := n.Model(3).Graph.Initializer("conv2.weight").Float32s()
		if got := variance(w); math.Abs(got/want-1) > 0.05 || math.Abs(mean(w)) > 0.05*math.Sqrt(want) {
			t.Errorf("%v: found mean %g and variance %g, expected 0 and %g", init, mean(w), got, want)
		}
		most := 0.0
		for _, v := range w {
			most = max(most, math.Abs(float64(v)))
		}
		if end := math.Sqrt(3 * want); (init == LecunUniform) != (most <= end*1.000001) {
			t.Errorf("%v: the largest weight is %g, the end of a uniform one %g", init, most, end)
		}
	}
}

func mean(x []float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v)
	}
	return sum / float64(len(x))
}

func square(x []float32) float64 {
	var sum float64
	for _, v := range x {
		sum += float64(v) * float64(v)
	}
	return sum / float64(len(x))
}

func variance(x []float32) float64 { m := mean(x); return square(x) - m*m }
