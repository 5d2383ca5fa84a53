// Package vits makes small vision transformers with drawn weights in the forms in which exporters write the known
// ones, and evaluates the same architectures in plain loops of float64, for comparison.
package vits

import (
	"fmt"
	"math/rand/v2"

	"winnow/backbone/graph"
)

// Kind is an architecture.
type Kind string

// The architectures.
const (
	DINOv2  Kind = "dinov2"  // resized position embeddings, scaled layers, Gelu by erf
	DINOv3  Kind = "dinov3"  // registers, rotary positions, scaled layers, Gelu by erf
	CLIP    Kind = "clip"    // a norm before the layers, quick Gelu, a projection
	SigLIP2 Kind = "siglip2" // no class token, pooling by attention, Gelu by tanh
)

// Kinds lists the architectures.
func Kinds() []Kind { return []Kind{DINOv2, DINOv3, CLIP, SigLIP2} }

// Sizes of all networks.
const (
	Side      = 12 // of the images, of three channels
	Patch     = 4
	Grid      = Side / Patch
	Patches   = Grid * Grid
	Trained   = 4 // side of the grid for which DINOv2's position embeddings were made
	Registers = 2
	Width     = 8
	Heads     = 2
	Inner     = 12 // of the layers' perceptrons
	Layers    = 2
	Projected = 6 // width of CLIP's image_embeds
	epsilon   = 1e-6
)

// Form is how a network is written.
type Form struct {
	Kind  Kind
	Fused bool // with the operators of com.microsoft that ONNX Runtime's optimiser writes
	Parts bool // norms and Gelu in their parts, as exporters before operator set 17 write them
	Free  bool // height and width are free, as exporters leave them
}

func (f Form) String() string {
	s := string(f.Kind)
	if f.Fused {
		s += " fused"
	}
	if f.Parts {
		s += " in parts"
	}
	if f.Free {
		s += " of free size"
	}
	return s
}

// Forms lists ways in which an architecture is written.
func Forms(k Kind) []Form {
	return []Form{{Kind: k}, {Kind: k, Parts: true, Free: true}, {Kind: k, Fused: true, Free: true}}
}

// Output returns the name of the network's vector.
func (f Form) Output() string {
	if f.Kind == CLIP {
		return "image_embeds"
	}
	return "pooler_output"
}

// param is where a parameter's element [i,j] lies in an initializer.
type param struct {
	name        string
	off, si, sj int
}

// Net is a network.
type Net struct {
	Form
	Model   *graph.Model
	Weights map[string][]float64 // of the initializers that are weights; Eval reads them
	params  map[string]param
}

// builder writes one network.
type builder struct {
	*graph.Builder
	net  *Net
	rng  *rand.Rand
	anon int
}

// New draws a network.
func New(f Form, seed uint64) *Net {
	opset := int64(17)
	if f.Parts {
		opset = 14
	}
	n := &Net{Form: f, Weights: map[string][]float64{}, params: map[string]param{}}
	b := &builder{graph.NewBuilder("main_graph", opset), n, rand.New(rand.NewPCG(seed, 0x766974)), 100}
	if f.Fused {
		b.Import("com.microsoft", 1)
	}
	b.write()
	n.Model = b.Builder.Model()
	return n
}

// draw adds an initializer of drawn values about a mean.
func (b *builder) draw(name string, mean, spread float64, dims ...int64) string {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	values, wide := make([]float32, n), make([]float64, n)
	for i := range values {
		values[i] = float32(mean + spread*b.rng.NormFloat64())
		wide[i] = float64(values[i])
	}
	b.net.Weights[name] = wide
	cols := 1
	if len(dims) > 1 {
		cols = int(n / dims[0])
	}
	b.net.params[name] = param{name, 0, cols, 1}
	return b.Constant(graph.NewTensor(name, values, dims...))
}

// at adds a node with the name that tracing gives it: the modules that contain it.
func (b *builder) at(path, op string, inputs []string, attributes ...*graph.Attribute) string {
	return b.in("", path, op, inputs, attributes...)
}

func (b *builder) in(domain, path, op string, inputs []string, attributes ...*graph.Attribute) string {
	name := b.Fresh("/" + path + "/" + op)
	out := b.Fresh(name + "_output_0")
	b.Add(&graph.Node{Name: name, Domain: domain, Op: op, Inputs: inputs, Outputs: []string{out},
		Attributes: attributes})
	return out
}

func (b *builder) ints(v ...int64) string {
	return b.Constant(graph.NewTensor("ints", v, int64(len(v))))
}

func (b *builder) index(v int64) string { return b.Constant(graph.NewTensor("index", []int64{v})) }

func (b *builder) number(v float64) string {
	return b.Constant(graph.NewTensor("number", []float32{float32(v)}))
}

// size returns a size of a tensor as a list of one, as tracing writes it.
func (b *builder) size(path, tensor string, axis int64) string {
	return b.at(path, "Unsqueeze", []string{b.scalar(path, tensor, axis), b.ints(0)})
}

func (b *builder) scalar(path, tensor string, axis int64) string {
	return b.at(path, "Gather", []string{b.at(path, "Shape", []string{tensor}), b.index(axis)}, graph.Int("axis", 0))
}

// shaped reshapes to sizes, of which the first are given as tensors.
func (b *builder) shaped(path, tensor string, lead []string, rest ...int64) string {
	to := b.at(path, "Concat", append(lead, b.ints(rest...)), graph.Int("axis", 0))
	return b.at(path, "Reshape", []string{tensor, to})
}

// linear multiplies tokens by a drawn matrix, whose name is lost, and adds a bias, whose name is kept.
func (b *builder) linear(path, x string, in, out int64, bias bool) string {
	b.anon++
	w := b.draw(fmt.Sprintf("onnx::MatMul_%d", b.anon), 0, 0.5, in, out)
	b.net.params[path+".weight"] = b.net.params[w]
	y := b.at(slashed(path), "MatMul", []string{x, w})
	if !bias {
		return y
	}
	return b.at(slashed(path), "Add", []string{b.draw(path+".bias", 0, 0.3, out), y})
}

// slashed turns a module's name into the path of its nodes.
func slashed(path string) string {
	out := []byte(path)
	for i := range out {
		if out[i] == '.' && i+1 < len(out) && (out[i+1] < '0' || out[i+1] > '9') {
			out[i] = '/'
		}
	}
	return string(out)
}

// norm is a layer normalisation, whole or in its parts.
func (b *builder) norm(path, x string) string {
	scale, bias := b.draw(path+".weight", 1, 0.2, Width), b.draw(path+".bias", 0, 0.2, Width)
	at := slashed(path)
	if !b.net.Parts {
		return b.at(at, "LayerNormalization", []string{x, scale, bias}, graph.Int("axis", -1),
			graph.Float("epsilon", epsilon))
	}
	mean := graph.Ints("axes", -1)
	centred := b.at(at, "Sub", []string{x, b.at(at, "ReduceMean", []string{x}, mean)})
	variance := b.at(at, "ReduceMean", []string{b.at(at, "Pow", []string{centred, b.number(2)})}, mean)
	deviation := b.at(at, "Sqrt", []string{b.at(at, "Add", []string{variance, b.number(epsilon)})})
	unit := b.at(at, "Div", []string{centred, deviation})
	return b.at(at, "Add", []string{b.at(at, "Mul", []string{unit, scale}), bias})
}

// skipNorm is the sum of two tensors and its norm, in one node where that is how it is written.
func (b *builder) skipNorm(path, x, more string) (sum, normed string) {
	if !b.net.Fused {
		sum = b.at(slashed(path)+"_residual", "Add", []string{more, x})
		return sum, b.norm(path, sum)
	}
	scale, bias := b.draw(path+".weight", 1, 0.2, Width), b.draw(path+".bias", 0, 0.2, Width)
	name := b.Fresh("/" + slashed(path) + "/SkipLayerNormalization")
	normed, sum = b.Fresh(name+"_output_0"), b.Fresh(name+"_output_3")
	b.Add(&graph.Node{Name: name, Domain: "com.microsoft", Op: "SkipLayerNormalization",
		Inputs: []string{x, more, scale, bias}, Outputs: []string{normed, "", "", sum},
		Attributes: []*graph.Attribute{graph.Float("epsilon", epsilon)}})
	return sum, normed
}

// activation is the nonlinearity of the perceptrons.
func (b *builder) activation(path, x string) string {
	if b.net.Fused {
		switch b.net.Kind {
		case CLIP:
			return b.in("com.microsoft", path, "QuickGelu", []string{x}, graph.Float("alpha", 1.702))
		case SigLIP2:
			return b.in("com.microsoft", path, "FastGelu", []string{x})
		}
		return b.in("com.microsoft", path, "Gelu", []string{x})
	}
	switch b.net.Kind {
	case CLIP:
		return b.at(path, "Mul", []string{x, b.at(path, "Sigmoid", []string{b.at(path, "Mul", []string{b.number(1.702),
			x})})})
	case SigLIP2:
		cube := b.at(path, "Pow", []string{x, b.number(3)})
		inner := b.at(path, "Add", []string{x, b.at(path, "Mul", []string{b.number(0.044715), cube})})
		gate := b.at(path, "Add", []string{b.at(path, "Tanh", []string{b.at(path, "Mul", []string{
			b.number(0.7978845608028654), inner})}), b.number(1)})
		return b.at(path, "Mul", []string{b.at(path, "Mul", []string{b.number(0.5), x}), gate})
	}
	whole := b.at(path, "Add", []string{b.at(path, "Erf", []string{b.at(path, "Div", []string{x,
		b.number(1.4142135623730951)})}), b.number(1)})
	if b.net.Parts {
		return b.at(path, "Mul", []string{b.at(path, "Mul", []string{x, whole}), b.number(0.5)})
	}
	return b.at(path, "Mul", []string{x, b.at(path, "Mul", []string{whole, b.number(0.5)})})
}
