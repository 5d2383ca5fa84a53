// Package architecture turns a short description of a convolutional network into an ONNX model whose weights
// are drawn from a seed: what a person trains from scratch.
//
// A description is strict YAML: a name, the input, a list of layers, how weights are drawn, how images are
// prepared. Unknown keys are errors that say which are known. [Parse] checks everything, sizes included, before
// any memory is asked for; [Network.Model] then draws. Every tensor draws from its own source, a function of
// the seed and the tensor's name, so the same description and seed give the same bytes, and another layer moves
// no draw of the others.
//
// Models have one input "input" [N,C,S,S], one output "features" [N,D], a free batch and operator set
// [Opset]. Their BatchNormalization nodes keep their running statistics (0 and 1 before training).
//
// It imports graph, and backbone for the type of the preprocessing. It runs nothing.
package architecture

import (
	"fmt"
	"slices"

	"winnow/backbone"
	"winnow/graph"
)

// Opset is the operator set version of the models.
const Opset = 17

// Names of a model's two ends.
const (
	Input  = "input"
	Output = "features"
)

// Bounds that no description reaches: beyond them is a mistake in a file.
const (
	maxFile       = 1 << 16 // bytes of a description
	maxSide       = 1 << 12 // pixels
	maxChannels   = 1 << 16
	maxVector     = 1 << 24 // numbers of a flattened tensor
	maxLayers     = 1 << 12
	maxDepth      = 8       // of stages, residuals and repeats in each other
	maxParameters = 1 << 28 // 1 GiB
)

// Network is a checked description.
type Network struct {
	Name          string
	About         string
	Channels      int // of the input
	Side          int // of the input, pixels
	Dim           int // of the features
	Parameters    int64
	Preprocessing backbone.Preprocessing

	init   initializer
	layers list
}

// Parse reads a description; file stands in the errors.
func Parse(file string, text []byte) (*Network, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("architecture: %s: found %d bytes, expected a description of at most %d", file, len(text), maxFile)
	}
	root, err := parse(file, text)
	if err != nil {
		return nil, err
	}
	n := &Network{}
	if err := n.read(root); err != nil {
		return nil, err
	}
	p, err := n.plan()
	if err != nil {
		return nil, err
	}
	n.Dim, n.Parameters = p.dim, p.parameters
	return n, nil
}

// read fills the network from the document.
func (n *Network) read(root part) (err error) {
	k := root.keys("name", "about", "input", "init", "layers", "preprocessing")
	n.Name, n.About = k.word("name"), k.text("about", "")
	n.init = readInit(k, initializers()[defaultInit])
	in := k.section("input", "channels", "side")
	n.Channels, n.Side = in.whole("channels", 0, 1, maxChannels), in.whole("side", 0, 1, maxSide)
	if k.fail(in.err); k.err != nil {
		return k.err
	}
	if n.Preprocessing, err = readPreprocessing(k, n.Channels, n.Side); err != nil {
		return err
	}
	n.layers = readList(k, "layers", 0)
	return k.err
}

// plan lays the layers out.
func (n *Network) plan() (*plan, error) {
	p := &plan{numbers: map[string]int{}, init: n.init}
	end, err := n.layers.build(p, value{tensor: Input, channels: n.Channels, side: n.Side})
	if err != nil {
		return nil, err
	}
	if !end.flat {
		return nil, n.layers.at.errorf("the network ends with %v, expected a vector: end with global_average_pool or flatten", end)
	}
	p.dim = end.channels
	return p, p.name(end.tensor, Output)
}

// Model draws the weights and writes the network. The description was checked by Parse, so it cannot fail.
func (n *Network) Model(seed uint64) *graph.Model {
	p, err := n.plan()
	if err != nil {
		panic("architecture: " + err.Error()) // Parse has planned it before
	}
	b := graph.NewBuilder(n.Name, Opset)
	side := graph.Fixed(int64(n.Side))
	b.Input(Input, graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(int64(n.Channels)), side, side})
	for _, w := range p.weights {
		b.Constant(graph.NewTensor(w.name, w.draw(seed), w.dims...))
	}
	for _, node := range p.nodes {
		b.Add(node)
	}
	b.Output(Output)
	m := b.Model()
	m.Doc = n.About
	m.Metadata = []graph.Property{{Key: architectureKey, Value: n.Name}, {Key: seedKey, Value: fmt.Sprint(seed)}}
	return m
}

// What the metadata of a network say as long as all its weights are as [Network.Model] drew them.
const (
	architectureKey = "winnow.architecture"
	seedKey         = "winnow.seed"
)

// Drawn reports whether a network says that its weights were drawn and not trained.
func Drawn(m *graph.Model) bool {
	return slices.ContainsFunc(m.Metadata, func(p graph.Property) bool { return p.Key == seedKey })
}

// Trained returns metadata without what says that a network was drawn.
func Trained(metadata []graph.Property) []graph.Property {
	return slices.DeleteFunc(slices.Clone(metadata), func(p graph.Property) bool { return p.Key == architectureKey || p.Key == seedKey })
}
