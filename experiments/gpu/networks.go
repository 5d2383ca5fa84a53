package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// network is a model that maps images to vectors.
type network struct {
	name           string
	model          *graph.Model
	input, output  string
	dim            int
	channels, side int
}

// networks returns the selected networks, both those with random weights and those in the folder of models, the most
// important first.
func (b *bench) networks() ([]*network, error) {
	list, err := b.allNetworks()
	if err != nil || b.nets == "" {
		return list, err
	}
	beginnings, all := strings.Split(b.nets, ","), []string{}
	list = slices.DeleteFunc(list, func(n *network) bool {
		all = append(all, n.name)
		return !slices.ContainsFunc(beginnings, func(s string) bool { return strings.HasPrefix(n.name, s) })
	})
	if len(list) == 0 {
		return nil, fmt.Errorf("gpu: -networks: found %q, expected beginnings of %s", b.nets, strings.Join(all, ", "))
	}
	return list, nil
}

func (b *bench) allNetworks() ([]*network, error) {
	list := []*network{b.resNet(), b.transformer()}
	if b.models == "" {
		return list, nil
	}
	files, err := filepath.Glob(filepath.Join(b.models, "*.onnx"))
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		n, err := readNetwork(strings.TrimSuffix(filepath.Base(file), ".onnx"), data)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	slices.SortStableFunc(list, func(a, b *network) int { return a.rank() - b.rank() })
	return list, nil
}

// readNetwork reads a model and removes the layers after its feature vector.
func readNetwork(name string, data []byte) (*network, error) {
	m, err := graph.ReadNamed(name, data)
	if err != nil {
		return nil, err
	}
	tensor, err := graph.FeatureTensor(m)
	if err != nil {
		return nil, fmt.Errorf("gpu: %s: %w", name, err)
	}
	cut, output, dim, err := graph.Vector(m, tensor.Tensor)
	if err != nil {
		return nil, fmt.Errorf("gpu: %s: %w", name, err)
	}
	in := cut.Graph.DataInputs()
	if len(in) != 1 || len(in[0].Shape) != 4 || !in[0].Shape[1].Known() || !in[0].Shape[2].Known() || dim == 0 {
		return nil, fmt.Errorf("gpu: %s: found the inputs %v, expected one [N,channels,side,side]", name, in)
	}
	return &network{name, gradient.Plain(cut), in[0].Name, output, dim, int(in[0].Shape[1].Size),
		int(in[0].Shape[2].Size)}, nil
}

// drawing builds a network with random weights (He et al. 2015, eq. 10).
type drawing struct {
	b       *graph.Builder
	rng     *rand.Rand
	channel map[string]int
}

func draw(name string, side int) (*drawing, string) {
	d := &drawing{graph.NewBuilder(name, gradient.Opset), rand.New(rand.NewPCG(5, 0)), map[string]int{}}
	x := d.b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(int64(side)),
		graph.Fixed(int64(side))})
	d.channel[x] = 3
	return d, x
}

func (d *drawing) weight(name string, std float64, dims ...int) string {
	n, sizes := 1, make([]int64, len(dims))
	for i, s := range dims {
		n, sizes[i] = n*s, int64(s)
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(std * d.rng.NormFloat64())
	}
	return d.b.Constant(graph.NewTensor(d.b.Fresh(name), data, sizes...))
}

func (d *drawing) constant(v float32) string {
	return d.b.Constant(graph.NewTensor(d.b.Fresh("constant"), []float32{v}))
}

func (d *drawing) integers(v ...int64) string {
	return d.b.Constant(graph.NewTensor(d.b.Fresh("sizes"), v, int64(len(v))))
}

func (d *drawing) conv(x string, out, kernel, stride, pad int, gain float64) string {
	in, k, s, p := d.channel[x], int64(kernel), int64(stride), int64(pad)
	y := d.b.Node("Conv", []string{x, d.weight("conv.weight", gain*math.Sqrt(2/float64(in*kernel*kernel)), out, in,
		kernel, kernel), d.weight("conv.bias", 0.01, out)},
		graph.Ints("kernel_shape", k, k), graph.Ints("strides", s, s), graph.Ints("pads", p, p, p, p))
	d.channel[y] = out
	return y
}

func (d *drawing) relu(x string) string {
	y := d.b.Node("Relu", []string{x})
	d.channel[y] = d.channel[x]
	return y
}

// name returns the name of a network with random weights. The name contains "small" if the network is smaller than of.
func (b *bench) name(of string) string {
	if b.small {
		return of + " (drawn, small)"
	}
	return of + " (drawn)"
}

// resNet returns ResNet-50 (He et al. 2016, table 1) as exported: normalisations folded, no classifier. Branches have
// small weights, so that activations stay in the range of float16.
func (b *bench) resNet() *network {
	d, x := draw("resnet50", b.side)
	x = d.relu(d.conv(x, 64, 7, 2, 3, 1))
	y := d.b.Node("MaxPool", []string{x}, graph.Ints("kernel_shape", 3, 3), graph.Ints("strides", 2, 2),
		graph.Ints("pads", 1, 1, 1, 1))
	d.channel[y], x = d.channel[x], y
	for stage, n := range b.blocks {
		for block := range n {
			width, stride, way := 64<<stage, 1, x
			if block == 0 {
				stride = min(2, stage+1)
				way = d.conv(x, 4*width, 1, stride, 0, 1)
			}
			y := d.relu(d.conv(x, width, 1, 1, 0, 1))
			y = d.relu(d.conv(y, width, 3, stride, 1, 1))
			sum := d.b.Node("Add", []string{d.conv(y, 4*width, 1, 1, 0, 0.3), way})
			d.channel[sum] = 4 * width
			x = d.relu(sum)
		}
	}
	return d.network(b.name("ResNet-50"), d.b.NodeTo("features", "Flatten",
		[]string{d.b.Node("GlobalAveragePool", []string{x})}), d.channel[x], b.side)
}

func (d *drawing) network(name, output string, dim, side int) *network {
	d.b.Output(output)
	return &network{name, d.b.Model(), "x", output, dim, 3, side}
}

// transformer returns ViT-S/16 (Dosovitskiy et al. 2021) with the mean of all tokens instead of a class token.
func (b *bench) transformer() *network {
	const patch = 16
	d, x := draw("vit", b.side)
	w, tokens := b.width, (b.side/patch)*(b.side/patch)
	heads := max(1, w/64)
	x = d.b.Node("Conv", []string{x, d.weight("patch.weight", 0.03, w, 3, patch, patch),
		d.weight("patch.bias", 0.01, w)}, graph.Ints("kernel_shape", patch, patch), graph.Ints("strides", patch, patch))
	x = d.b.Node("Transpose", []string{d.b.Node("Reshape", []string{x, d.integers(0, int64(w), int64(tokens))})},
		graph.Ints("perm", 0, 2, 1))
	x = d.b.Node("Add", []string{x, d.weight("position", 0.02, 1, tokens, w)})
	linear := func(x, name string, in, out int, gain float64) string {
		return d.b.Node("Add", []string{d.b.Node("MatMul",
			[]string{x, d.weight(name+".weight", gain/math.Sqrt(float64(in)), in, out)}),
			d.weight(name+".bias", 0.01, out)})
	}
	norm := func(x string) string {
		ones := make([]float32, w)
		for i := range ones {
			ones[i] = 1
		}
		scale := d.b.Constant(graph.NewTensor(d.b.Fresh("norm.weight"), ones, int64(w)))
		return d.b.Node("LayerNormalization", []string{x, scale, d.weight("norm.bias", 0.01, w)},
			graph.Int("axis", -1), graph.Float("epsilon", 1e-6))
	}
	split := func(x string, perm ...int64) string {
		x = d.b.Node("Reshape", []string{x, d.integers(0, int64(tokens), int64(heads), int64(w/heads))})
		return d.b.Node("Transpose", []string{x}, graph.Ints("perm", perm...))
	}
	for i := range b.depth {
		name := fmt.Sprint("block", i)
		y := norm(x)
		q := split(linear(y, name+".query", w, w, 1), 0, 2, 1, 3)
		k := split(linear(y, name+".key", w, w, 1), 0, 2, 3, 1)
		v := split(linear(y, name+".value", w, w, 1), 0, 2, 1, 3)
		s := d.b.Node("Mul", []string{d.b.Node("MatMul", []string{q, k}),
			d.constant(float32(1 / math.Sqrt(float64(w/heads))))})
		y = d.b.Node("Transpose", []string{d.b.Node("MatMul",
			[]string{d.b.Node("Softmax", []string{s}, graph.Int("axis", -1)), v})}, graph.Ints("perm", 0, 2, 1, 3))
		y = linear(d.b.Node("Reshape", []string{y, d.integers(0, int64(tokens), int64(w))}), name+".out", w, w, 0.5)
		x = d.b.Node("Add", []string{x, y})
		y = linear(norm(x), name+".wide", w, 4*w, 1)
		erf := d.b.Node("Erf", []string{d.b.Node("Div", []string{y, d.constant(math.Sqrt2)})})
		y = d.b.Node("Mul", []string{d.b.Node("Mul", []string{y, d.b.Node("Add", []string{erf, d.constant(1)})}),
			d.constant(0.5)})
		x = d.b.Node("Add", []string{x, linear(y, name+".narrow", 4*w, w, 0.5)})
	}
	return d.network(b.name("ViT-S/16"), d.b.NodeTo("features", "ReduceMean", []string{norm(x)},
		graph.Ints("axes", 1), graph.Int("keepdims", 0)), w, b.side)
}
