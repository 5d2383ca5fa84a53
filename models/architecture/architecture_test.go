package architecture

import (
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
)

func network(t *testing.T, text string) *Network {
	t.Helper()
	n, err := Parse("net.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// outputs runs a model on n random images and returns the named tensors.
func outputs(t *testing.T, m *graph.Model, net *Network, n int, names ...string) []ort.Tensor {
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
	rng := newSource(5, "images")
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
		n, err := Embedded(name)
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

// TestSeed: the same seed gives the same bytes, another seed other weights, and an additional layer does not change
// the weights of those before it.
func TestSeed(t *testing.T) {
	text := "name: a\ninput: {channels: 1, side: 8}\nlayers:\n  - conv: {out: 4, kernel: 3}\n"
	one := network(t, text+"  - flatten")
	two := network(t, text+"  - relu\n  - conv: {out: 4, kernel: 3}\n  - flatten")
	weights := func(n *Network, seed uint64) []byte { return n.Model(seed).Graph.Initializer("conv1.weight").Raw() }
	if first, again := one.Model(1).Marshal(), one.Model(1).Marshal(); string(first) != string(again) {
		t.Error("the same seed gave two models")
	}
	if string(weights(one, 1)) == string(weights(one, 2)) {
		t.Error("two seeds gave the same weights")
	}
	if string(weights(one, 1)) != string(weights(two, 1)) {
		t.Error("a further layer moved the draws of another")
	}
	if m := two.Model(1).Graph; string(m.Initializer("conv1.weight").Raw()[:64]) == string(m.Initializer(
		"conv2.weight").Raw()[:64]) {
		t.Error("two layers have the same draws")
	}
}

// TestInitialisers compares mean and variance of large tensors with the formulas, and the bounds of uniform ones.
func TestInitialisers(t *testing.T) {
	const in, out, k = 64, 32, 3
	fanIn, fanOut := float64(in*k*k), float64(out*k*k)
	for name, want := range map[string]struct {
		variance float64
		uniform  bool
		bias     bool
	}{
		"he_normal": {2 / fanIn, false, false}, "he_uniform": {2 / fanIn, true, false},
		"xavier_normal": {2 / (fanIn + fanOut), false, false}, "xavier_uniform": {2 / (fanIn + fanOut), true, false},
		"lecun_uniform": {1 / fanIn, true, false}, "torch": {1 / (3 * fanIn), true, true},
	} {
		n := network(t, "name: a\ninit: "+name+"\ninput: {channels: 3, side: 3}\nlayers:\n"+
			"  - conv: {out: 64, kernel: 1}\n  - conv: {out: 32, kernel: 3}\n  - flatten\n  - linear: {out: 5, "+
			"init: he_normal}\n")
		g := n.Model(3).Graph
		w, _ := g.Initializer("conv2.weight").Float32s()
		if got := variance(w); math.Abs(got/want.variance-1) > 0.05 ||
			math.Abs(mean(w)) > 0.05*math.Sqrt(want.variance) {
			t.Errorf("%s: found mean %g and variance %g, expected 0 and %g", name, mean(w), got, want.variance)
		}
		most := 0.0
		for _, v := range w {
			most = max(most, math.Abs(float64(v)))
		}
		if end := math.Sqrt(3 * want.variance); want.uniform != (most <= end*1.000001) || want.uniform &&
			most < 0.99*end {
			t.Errorf("%s: the largest weight is %g, the end of a uniform one %g", name, most, end)
		}
		b, _ := g.Initializer("conv2.bias").Float32s()
		if want.bias != (variance(b) > 0) || len(b) != out {
			t.Errorf("%s: biases %v", name, b)
		}
		if l, _ := g.Initializer("linear1.bias").Float32s(); variance(l) != 0 {
			t.Errorf("%s: the linear layer's own init was not used: %v", name, l)
		}
	}
}

// TestDepth: with He's weights the mean square stays the same over 20 layers; with Xavier's every rectifier halves
// it. This would detect a wrong variance.
func TestDepth(t *testing.T) {
	for init, expected := range map[string]float64{"he_normal": 1, "he_uniform": 1,
		"xavier_normal": math.Pow(0.5, 18)} {
		n := network(t, "name: deep\ninit: "+init+"\ninput: {channels: 3, side: 4}\nlayers:\n"+
			"  - flatten\n  - linear: {out: 512}\n  - repeat: {times: 19, layers: [relu, {linear: {out: 512}}]}\n")
		out := outputs(t, n.Model(1), n, 64, "linear2", Output)
		got := square(out[1].F32) / square(out[0].F32)
		if got < expected/3 || got > expected*3 {
			t.Errorf("%s: the mean square went from %g to %g, a factor of %g, expected about %g", init,
				square(out[0].F32), square(out[1].F32), got, expected)
		}
	}
	conv := network(t, "name: deep\ninput: {channels: 3, side: 16}\nlayers:\n"+
		"  - conv: {out: 32, kernel: 3, pad: same}\n  - repeat: {times: 12, layers: [relu, {conv: {out: 32, "+
		"kernel: 3, pad: same}}]}\n  - flatten\n")
	out := outputs(t, conv.Model(1), conv, 16, "conv1", Output)
	if got := square(out[1].F32) / square(out[0].F32); got < 0.1 || got > 3 { // padding takes a little at each layer
		t.Errorf("convolutions: the mean square changed by a factor of %g", got)
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

// TestLayers compares the nodes of a network that has every kind of layer with the expected ones.
func TestLayers(t *testing.T) {
	n := network(t, `
name: all
input: {channels: 3, side: 9}
layers:
  - conv: {out: 4, kernel: 1}
  - conv: {out: 8, kernel: 3, stride: 2, pad: 1, groups: 2, bias: false}
  - batch_norm: {scale: 0.5, epsilon: 1e-3, momentum: 0.8}
  - relu
  - max_pool: {kernel: 3, stride: 1, pad: 1}
  - stage:
      name: s
      layers:
        - residual:
            layers: [{conv: {out: 6, kernel: 3, pad: same}}, {prelu: {slope: 0.1}}]
            shortcut: [{conv: {out: 6, kernel: 1}}]
        - residual: {layers: [relu]}
  - average_pool: {kernel: 2}
  - flatten
  - batch_norm
  - repeat: {times: 2, layers: [{linear: {out: 3, bias: false}}]}
`)
	m := n.Model(1)
	var got []string
	facts := graph.Infer(m)
	for _, node := range m.Graph.Nodes {
		got = append(got, node.Op+" "+node.Name+" ← "+strings.Join(node.Inputs,
			" ")+" "+facts[node.Outputs[0]].Shape.String())
	}
	want := []string{
		"Conv conv1 ← input conv1.weight conv1.bias [N,4,9,9]",
		"Conv conv2 ← conv1 conv2.weight [N,8,5,5]",
		"BatchNormalization norm1 ← conv2 norm1.scale norm1.shift norm1.mean norm1.variance [N,8,5,5]",
		"Relu relu1 ← norm1 [N,8,5,5]",
		"MaxPool pool1 ← relu1 [N,8,5,5]",
		"Conv s.block1.conv1 ← pool1 s.block1.conv1.weight s.block1.conv1.bias [N,6,5,5]",
		"PRelu s.block1.prelu1 ← s.block1.conv1 s.block1.prelu1.slope [N,6,5,5]",
		"Conv s.block1.shortcut.conv1 ← pool1 s.block1.shortcut.conv1.weight s.block1.shortcut.conv1.bias [N,6,5,5]",
		"Add s.block1.sum ← s.block1.prelu1 s.block1.shortcut.conv1 [N,6,5,5]",
		"Relu s.block2.relu1 ← s.block1.sum [N,6,5,5]",
		"Add s.block2.sum ← s.block2.relu1 s.block1.sum [N,6,5,5]",
		"AveragePool pool2 ← s.block2.sum [N,6,2,2]",
		"Flatten flatten1 ← pool2 [N,24]",
		"BatchNormalization norm2 ← flatten1 norm2.scale norm2.shift norm2.mean norm2.variance [N,24]",
		"Gemm linear1 ← norm2 linear1.weight [N,3]",
		"Gemm linear2 ← linear1 linear2.weight [N,3]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	outputs(t, m, n, 2, Output)
	read, err := graph.ReadNamed("all.onnx", m.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]float32{"norm1.scale": 0.5, "norm1.shift": 0, "norm1.mean": 0,
		"norm1.variance": 1, "s.block1.prelu1.slope": 0.1, "conv1.bias": 0} {
		list, err := read.Graph.Initializer(name).Float32s()
		if err != nil || list[0] != value || variance(list) > 1e-12 {
			t.Errorf("%s: found %v, %v, expected %g everywhere", name, list, err, value)
		}
	}
}
