package extraction

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/models"
)

// unit returns a preprocessing that yields images of high × wide with values from 0 to 1.
func unit(high, wide int) backbone.Preprocessing {
	p := backbone.Preprocessing{Resize: wide, Exact: true, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
		Std: [3]float32{1, 1, 1}}
	return p.WithSize(wide, high)
}

// net builds networks as exporters write them. With free, a network takes any number of images and computes its shapes
// at run time. Otherwise its batch is 1, and shapes contain this 1 as a constant.
type net struct {
	*graph.Builder
	free bool
	x    string
	rng  *rand.Rand
}

func newNet(free bool, high, wide int64) *net {
	n := &net{Builder: graph.NewBuilder("net", 17), free: free, rng: rand.New(rand.NewPCG(1, 2))}
	batch := graph.Fixed(1)
	if free {
		batch = graph.Free("N")
	}
	n.x = n.Input("x", graph.Float32, graph.Shape{batch, graph.Fixed(3), graph.Fixed(high), graph.Fixed(wide)})
	return n
}

func (n *net) weight(dims ...int64) string {
	size := int64(1)
	for _, d := range dims {
		size *= d
	}
	values := make([]float32, size)
	for i := range values {
		values[i] = float32(n.rng.NormFloat64()) * 0.3
	}
	return n.Constant(graph.NewTensor("w", values, dims...))
}

func (n *net) ints(v ...int64) string { return n.Constant(graph.NewTensor("i", v, int64(len(v)))) }

// shape returns a tensor of sizes, in which -1 stands for the number of images.
func (n *net) shape(sizes ...int64) string {
	list := make([]int64, len(sizes))
	var parts []string
	for i, s := range sizes {
		if s < 0 {
			list[i] = 1
			count := n.Node("Gather", []string{n.Node("Shape", []string{n.x}), n.ints(0)})
			parts = append(parts, count)
			continue
		}
		list[i] = s
		parts = append(parts, n.ints(s))
	}
	if !n.free {
		return n.ints(list...)
	}
	return n.Node("Concat", parts, graph.Int("axis", 0))
}

func (n *net) reshape(x string, sizes ...int64) string {
	return n.Node("Reshape", []string{x, n.shape(sizes...)})
}

func (n *net) transpose(x string, perm ...int64) string {
	return n.Node("Transpose", []string{x}, graph.Ints("perm", perm...))
}

// dense applies a linear layer to the last axis.
func (n *net) dense(x string, in, out int64) string {
	return n.Node("Add", []string{n.Node("MatMul", []string{x, n.weight(in, out)}), n.weight(out)})
}

func (n *net) conv(x string, out, in, k, stride int64) string {
	return n.Node("Conv", []string{x, n.weight(out, in, k, k)}, graph.Ints("strides", stride, stride))
}

// end adds the feature tensor and a classifier behind it.
func (n *net) end(x string, dim int64) *graph.Model {
	features := n.Node("Tanh", []string{x})
	n.Output(n.NodeTo("logits", "Gemm", []string{features, n.weight(dim, 5)}))
	return n.Model()
}

const tokens, width, heads = 5, 8, 2 // sizes of the transformers below, for images of 8×8

// embed converts the image into a class token and four patches.
func (n *net) embed() string {
	patches := n.reshape(n.conv(n.x, width, 3, 4, 4), -1, width, tokens-1)
	class := n.Node("Expand", []string{n.weight(1, 1, width), n.shape(-1, 1, width)})
	all := n.Node("Concat", []string{class, n.transpose(patches, 0, 2, 1)}, graph.Int("axis", 1))
	return n.Node("Add", []string{all, n.weight(1, tokens, width)})
}

var networks = []struct {
	name string
	make func(n *net) *graph.Model
	free bool // its batch can be freed
}{
	{"flattened", func(n *net) *graph.Model {
		return n.end(n.reshape(n.conv(n.x, 6, 3, 4, 4), -1, 24), 24)
	}, true},
	{"transformer", func(n *net) *graph.Model {
		x := n.embed()
		part := func(perm ...int64) string {
			return n.transpose(n.reshape(n.dense(x, width, width), -1, tokens, heads, width/heads), perm...)
		}
		scores := n.Node("Softmax", []string{n.Node("MatMul", []string{part(0, 2, 1, 3), part(0, 2, 3, 1)})},
			graph.Int("axis", -1))
		mixed := n.transpose(n.Node("MatMul", []string{scores, part(0, 2, 1, 3)}), 0, 2, 1, 3)
		x = n.Node("Add", []string{x, n.dense(n.reshape(mixed, -1, tokens, width), width, width)})
		return n.end(n.Node("Gather", []string{x, n.Constant(graph.NewTensor("c", []int64{0}))},
			graph.Int("axis", 1)), width)
	}, false},
	{"images are mixed", func(n *net) *graph.Model { // shapes allow any batch, but vectors depend on the batch
		y := n.reshape(n.conv(n.x, 6, 3, 4, 4), -1, 24)
		if n.free {
			return n.end(n.Node("Add", []string{y, y}), 24)
		}
		mean := n.Node("ReduceMean", []string{y}, graph.Ints("axes", 0), graph.Int("keepdims", 1))
		return n.end(n.Node("Add", []string{y, mean}), 24)
	}, false},
}

func backboneOf(m *graph.Model, p backbone.Preprocessing) *models.Backbone {
	data := m.Marshal()
	return &models.Backbone{Data: data, Entry: models.Entry{Name: "net", File: "net.onnx", Preprocessing: p,
		SHA256: models.Sum(data)}}
}

// vectors runs a prepared network on n pictures at once.
func vectors(t *testing.T, p *models.Prepared, pre backbone.Preprocessing, n int) blas32.General {
	t.Helper()
	run, err := ort.NewNetwork(orttest.Runtime(t), p.Model, p.Tensor, NetworkInput(p, pre))
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	z := features.NewMatrix(n, run.Dim())
	if err := run.Infer(z, drawNoisePictures(pre, n), n); err != nil {
		t.Fatal(err)
	}
	return z
}

func near(t *testing.T, what string, found, want []float32, limit float64) {
	t.Helper()
	if d := compareRelatively(found, want); !(d <= limit) {
		t.Errorf("%s: differs by %.3g: found %v, expected %v", what, d, found[:min(4, len(found))],
			want[:min(4, len(want))])
	}
}

// A network exported with a batch of 1 gives the same vectors as exported with a free batch: for all images at once if
// its batch can be freed, else image by image. The same is true of its gradients.
func TestFixedBatch(t *testing.T) {
	rt, pre := orttest.Runtime(t), unit(8, 8)
	for _, c := range networks {
		t.Run(c.name, func(t *testing.T) {
			p, err := PrepareBackbone(backboneOf(c.make(newNet(false, 8, 8)), pre), "")
			if err != nil {
				t.Fatal(err)
			}
			twin, err := PrepareBackbone(backboneOf(c.make(newNet(true, 8, 8)), pre), "")
			if err != nil {
				t.Fatal(err)
			}
			if freed := p.Batch == 0; freed != c.free || twin.Fixed != nil || !freed && len(p.Warnings) != 1 {
				t.Fatalf("batch %d, warnings %q, expected freed: %v", p.Batch, p.Warnings, c.free)
			}
			near(t, "vectors", vectors(t, p, pre, 3).Data, vectors(t, twin, pre, 3).Data, 1e-5)
			if !c.free {
				return // run/tuning tests the sum of the gradients of single images
			}
			want, got := gradients(t, rt, twin.Model, twin.Tensor, pre, 3), gradients(t, rt, p.Model, p.Tensor, pre,
				max(3*(1-p.Batch), 1))
			if len(want) == 0 || len(got) != len(want) {
				t.Fatalf("%d weights, expected %d", len(got), len(want))
			}
			for i := range want {
				near(t, fmt.Sprintf("gradient %d", i), got[i], want[i], 1e-4)
			}
		})
	}
}

// gradients returns the gradient of Σ z² over three images for every weight. It runs at images at a time.
func gradients(t *testing.T, rt *ort.Runtime, model []byte, output string, pre backbone.Preprocessing,
	at int) (list [][]float32) {
	t.Helper()
	m, err := graph.Read(model)
	if err != nil {
		t.Fatal(err)
	}
	weights, err := gradient.Choose(m, output, "all")
	if err != nil {
		t.Fatal(err)
	}
	d, err := gradient.Differentiate(m, gradient.Options{Output: output, Weights: weights})
	if err != nil {
		t.Fatal(err)
	}
	live, err := ort.NewLive(rt, d, ort.LiveOptions{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	pixels := drawNoisePictures(pre, 3)
	for from := 0; from < 3; from += at {
		z := features.NewMatrix(at, live.Dim())
		part := pixels[from*pre.Size() : (from+at)*pre.Size()]
		if err := live.Forward(z, [][]float32{part}, at, true); err != nil {
			t.Fatal(err)
		}
		for i := range z.Data {
			z.Data[i] *= 2
		}
		if err := live.Backward(z, from > 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range live.Params() {
		list = append(list, p.Grad)
	}
	return list
}

// AddBackbone returns the reason if ONNX Runtime cannot run a network.
func TestAddRefuses(t *testing.T) {
	orttest.Runtime(t)
	n := newNet(true, 8, 8)
	y := n.reshape(n.conv(n.x, 6, 3, 4, 4), -1, 24)
	n.Import("com.example", 1)
	n.Builder.Add(&graph.Node{Op: "Unknown", Domain: "com.example", Inputs: []string{y}, Outputs: []string{"features"}})
	n.Output("features")
	_, err := AddBackbone(backboneOf(n.Model(), unit(8, 8)))
	if err == nil || !strings.Contains(err.Error(), "net.onnx: ONNX Runtime does not run it: ") {
		t.Errorf("found %v", err)
	}
}

// A network that mixes the images of a batch, or draws random numbers, is refused when it is added, and when a file
// that is not in the registry is opened.
func TestUnsettled(t *testing.T) {
	orttest.Runtime(t)
	pre := unit(8, 8)
	axis := func(n *net, v int64) string { return n.Constant(graph.NewTensor("axis", []int64{v})) }
	for _, c := range []struct {
		name string // name of the node in the error; "": no error
		add  func(n *net, y string) string
	}{
		{"", func(n *net, y string) string { return n.Node("Softmax", []string{y}, graph.Int("axis", 1)) }},
		{"", func(n *net, y string) string { return n.Node("CumSum", []string{y, axis(n, 1)}) }},
		{"", func(n *net, y string) string { // normalises each image separately
			z := n.reshape(y, -1, 4, 6)
			z = n.Node("InstanceNormalization", []string{z, n.weight(4), n.weight(4)})
			return n.reshape(z, -1, 24)
		}},
		{"ReduceMean", func(n *net, y string) string {
			return n.Node("Sub", []string{y, n.Node("ReduceMean", []string{y}, graph.Ints("axes", 0))})
		}},
		{"Softmax", func(n *net, y string) string { return n.Node("Softmax", []string{y}, graph.Int("axis", 0)) }},
		{"CumSum", func(n *net, y string) string { return n.Node("CumSum", []string{y, axis(n, 0)}) }},
		{"CumSum", func(n *net, y string) string {
			return n.Node("CumSum", []string{y, axis(n, 0)}, graph.Int("reverse", 1))
		}},
		{"LpNormalization", func(n *net, y string) string {
			return n.transpose(n.Node("LpNormalization", []string{n.transpose(y, 1, 0)}, graph.Int("axis", 1)), 1, 0)
		}},
		{"RandomUniformLike", func(n *net, y string) string {
			return n.Node("Mul", []string{y, n.Node("RandomUniformLike", []string{y})})
		}},
	} {
		n := newNet(true, 8, 8)
		m := n.end(c.add(n, n.reshape(n.conv(n.x, 6, 3, 4, 4), -1, 24)), 24)
		opened := backboneOf(m, pre)
		opened.Untried = true
		_, err := AddBackbone(backboneOf(m, pre))
		_, again := PrepareBackbone(opened, "")
		for _, err := range []error{err, again} {
			if (err != nil) != (c.name != "") {
				t.Errorf("%q: found %v", c.name, err)
			}
		}
	}
}

// PrepareBackbone measures the shape of feature maps behind an operator without a rule of shape inference, and averages
// the maps.
func TestLook(t *testing.T) {
	pre := unit(8, 8)
	orttest.Runtime(t)
	n := newNet(true, 8, 8)
	y := n.conv(n.x, 24, 3, 4, 4)
	some := n.Node("Cast", []string{n.ints(1, 1, 1, 1, 1, 1, 0)}, graph.Int("to", int64(graph.Bool)))
	n.Output(n.NodeTo("features", "Relu", []string{n.Node("Compress", []string{y, some}, graph.Int("axis", 1))}))
	p, err := PrepareBackbone(backboneOf(n.Model(), pre), "")
	if err != nil {
		t.Fatal(err)
	}
	if p.Dim != 6 {
		t.Errorf("%d numbers, expected 6", p.Dim)
	}
	vectors(t, p, pre, 3)
}
