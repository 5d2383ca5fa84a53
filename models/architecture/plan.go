package architecture

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"winnow/backbone/graph"
)

// Initializer draws the weights of a convolution or product around 0.
type Initializer int

// The initializers; in is the number of values that one output reads.
const (
	// HeNormal is N(0, 2/in): He et al., "Delving Deep into Rectifiers", ICCV 2015, Eq. 10.
	HeNormal Initializer = iota
	// LecunUniform is U(±√(3/in)), what Caffe calls xavier.
	LecunUniform
)

// Plan is the layout of a network: its nodes, and its weights before they are drawn. Layers follow each other: each
// reads the tensor of the one before, maps [N,channels,side,side] or, after Flatten, a vector [N,channels].
type Plan struct {
	nodes          []*graph.Node
	weights        []weight
	init           Initializer
	prefix         string         // of names inside stages and residuals
	numbers        map[string]int // layers so far by kind, with the prefix
	tensor         string
	channels, side int
}

// weight is a tensor to be filled: with a constant, or randomly around 0 with a standard deviation.
type weight struct {
	name      string
	dims      []int64
	value     float32 // of every element if deviation is 0
	deviation float64
	uniform   bool // else normal
}

func (w weight) weightSize() int64 {
	n := int64(1)
	for _, d := range w.dims {
		n *= d
	}
	return n
}

// drawWeight returns the elements. The random source is a function of the seed and the tensor's name.
func (w weight) drawWeight(seed uint64) []float32 {
	data := make([]float32, w.weightSize())
	sum := sha256.Sum256(append(binary.LittleEndian.AppendUint64(nil, seed), w.name...))
	rng := rand.New(rand.NewPCG(binary.LittleEndian.Uint64(sum[:]), binary.LittleEndian.Uint64(sum[8:])))
	bound := w.deviation * math.Sqrt(3)
	for i := range data {
		switch {
		case w.deviation == 0:
			data[i] = w.value
		case w.uniform:
			data[i] = float32(bound * (2*rng.Float64() - 1))
		default:
			data[i] = float32(w.deviation * rng.NormFloat64())
		}
	}
	return data
}

// nextName returns the name of the next layer of a kind: conv1, stage2.block1.conv2.
func (p *Plan) nextName(kind string) string {
	kind = p.prefix + kind
	p.numbers[kind]++
	return fmt.Sprint(kind, p.numbers[kind])
}

// addLayer adds a node that reads the last tensor and some weights. The node's output becomes the last tensor.
func (p *Plan) addLayer(name, op string, weights []weight, attributes ...*graph.Attribute) {
	inputs := []string{p.tensor}
	for _, w := range weights {
		inputs = append(inputs, w.name)
	}
	p.weights = append(p.weights, weights...)
	p.nodes = append(p.nodes, &graph.Node{Name: name, Op: op, Inputs: inputs, Outputs: []string{name},
		Attributes: attributes})
	p.tensor = name
}

// drawnWeight describes the weights of a convolution or product, whose outputs read the given dims of inputs.
func (p *Plan) drawnWeight(name string, dims ...int64) weight {
	in := 1.0
	for _, d := range dims[1:] {
		in *= float64(d)
	}
	w := weight{name: name + ".weight", dims: dims, deviation: math.Sqrt(2 / in)}
	if p.init == LecunUniform {
		w.deviation, w.uniform = math.Sqrt(1/in), true
	}
	return w
}

// Conv adds a square convolution, with biases of 0 if bias is true.
func (p *Plan) Conv(out, kernel, stride, pad int, bias bool) {
	name, k := p.nextName("conv"), int64(kernel)
	weights := []weight{p.drawnWeight(name, int64(out), int64(p.channels), k, k)}
	if bias {
		weights = append(weights, weight{name: name + ".bias", dims: []int64{int64(out)}})
	}
	p.addLayer(name, "Conv", weights, windowAttributes(kernel, stride, pad)...)
	p.channels, p.side = out, (p.side+2*pad-kernel)/stride+1
}

// MaxPool adds a layer that takes the maximum of square windows.
func (p *Plan) MaxPool(kernel, stride, pad int) {
	p.addLayer(p.nextName("pool"), "MaxPool", nil, windowAttributes(kernel, stride, pad)...)
	p.side = (p.side+2*pad-kernel)/stride + 1
}

func windowAttributes(kernel, stride, pad int) []*graph.Attribute {
	k, s, p := int64(kernel), int64(stride), int64(pad)
	return []*graph.Attribute{graph.Ints("kernel_shape", k, k), graph.Ints("pads", p, p, p, p),
		graph.Ints("strides", s, s)}
}

// BatchNorm adds a batch normalisation.
func (p *Plan) BatchNorm() {
	name, dims := p.nextName("norm"), []int64{int64(p.channels)}
	p.addLayer(name, "BatchNormalization", []weight{{name: name + ".scale", dims: dims, value: 1},
		{name: name + ".shift", dims: dims}, {name: name + ".mean", dims: dims},
		{name: name + ".variance", dims: dims, value: 1}}, graph.Float("epsilon", 1e-5), graph.Float("momentum", 0.9))
}

// Relu adds a rectifier.
func (p *Plan) Relu() { p.addLayer(p.nextName("relu"), "Relu", nil) }

// PRelu adds a rectifier with a trained slope below 0 for each channel, initially 0.25.
func (p *Plan) PRelu() {
	dims := []int64{int64(p.channels), 1, 1}
	if p.side == 0 {
		dims = dims[:1]
	}
	name := p.nextName("prelu")
	p.addLayer(name, "PRelu", []weight{{name: name + ".slope", dims: dims, value: 0.25}})
}

// Flatten adds a layer that converts maps to a vector.
func (p *Plan) Flatten() {
	p.addLayer(p.nextName("flatten"), "Flatten", nil, graph.Int("axis", 1))
	p.channels, p.side = p.channels*p.side*p.side, 0
}

// GlobalAverage adds a layer that returns the mean of each map as a vector.
func (p *Plan) GlobalAverage() {
	p.addLayer(p.nextName("average"), "GlobalAveragePool", nil)
	p.side = 1
	p.Flatten()
}

// Linear adds a matrix product with biases, which are initially 0.
func (p *Plan) Linear(out int) {
	name := p.nextName("linear")
	p.addLayer(name, "Gemm", []weight{p.drawnWeight(name, int64(out), int64(p.channels)),
		{name: name + ".bias", dims: []int64{int64(out)}}}, graph.Int("transB", 1))
	p.channels = out
}

// Stage prefixes the names of its layers with its own: it is a section of the network that training can start from.
func (p *Plan) Stage(name string, layers func()) {
	outer := p.prefix
	p.prefix += name + "."
	layers()
	p.prefix = outer
}

// Residual adds the output of its layers to that of the shortcut, which may have no layers.
func (p *Plan) Residual(layers, shortcut func()) {
	outer := p.prefix
	name := p.nextName("block")
	in := *p
	p.Stage(name[len(outer):], layers)
	out := *p
	p.tensor, p.channels, p.side = in.tensor, in.channels, in.side
	p.Stage(name[len(outer):]+".shortcut", shortcut)
	if out.channels != p.channels || out.side != p.side {
		panic(fmt.Sprintf("architecture: %s: the layers give %d maps of side %d, the shortcut %d of side %d", name,
			out.channels, out.side, p.channels, p.side))
	}
	sum := name + ".sum"
	p.nodes = append(p.nodes, &graph.Node{Name: sum, Op: "Add", Inputs: []string{out.tensor, p.tensor},
		Outputs: []string{sum}})
	p.tensor = sum
}
