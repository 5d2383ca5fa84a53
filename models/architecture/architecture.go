// Package architecture turns a short description of a convolutional network into an ONNX model with random weights,
// to be trained from scratch.
//
// A description is strict YAML: a name, the input, a list of layers, the initialisation, the preprocessing. An
// unknown key is an error that lists the known ones. [Parse] checks everything, sizes included, before it
// allocates; [Network.Model] then draws the weights. Every tensor has its own random source, a function of the seed
// and the tensor's name. So the same description and seed give the same bytes, and adding a layer does not change
// the weights of the others.
//
// Models have one input "input" [N,C,S,S], one output "features" [N,D], a free batch size and operator set [opset].
// BatchNormalization nodes hold their running statistics (0 and 1 before training).
//
// The package imports graph, and backbone for the type of the preprocessing. It runs nothing.
package architecture

import (
	"fmt"
	"slices"

	"winnow/backbone"
	"winnow/backbone/graph"
)

// opset is the models' operator set version.
const opset = 17

// Names of a model's input and output.
const (
	Input  = "input"
	Output = "features"
)

// Bounds on a description. Anything larger is a mistake.
const (
	maxFile       = 1 << 16 // bytes of a description
	maxSide       = 1 << 12 // pixels
	maxChannels   = 1 << 16
	maxVector     = 1 << 24 // values of a flattened tensor
	maxLayers     = 1 << 12
	maxDepth      = 8       // of nested stages, residuals and repeats
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

// Parse parses a description; file is its name in errors.
func Parse(file string, text []byte) (*Network, error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("architecture: %s: found %d bytes, expected a description of at most %d", file,
			len(text), maxFile)
	}
	root, err := parseDescription(file, text)
	if err != nil {
		return nil, err
	}
	n := &Network{}
	if err := n.readLayers(root); err != nil {
		return nil, err
	}
	p, err := n.planLayers()
	if err != nil {
		return nil, err
	}
	n.Dim, n.Parameters = p.dim, p.parameters
	return n, nil
}

// readLayers fills in the network from the document.
func (n *Network) readLayers(root part) (err error) {
	k := root.readKeys("name", "about", "input", "init", "layers", "preprocessing")
	n.Name, n.About = k.readWord("name"), k.readTextLine("about", "")
	n.init = readInit(k, listInitializers()[defaultInit])
	in := k.readSection("input", "channels", "side")
	n.Channels, n.Side = in.readInteger("channels", 0, 1, maxChannels), in.readInteger("side", 0, 1, maxSide)
	if k.failSection(in.err); k.err != nil {
		return k.err
	}
	if n.Preprocessing, err = readPreprocessing(k, n.Channels, n.Side); err != nil {
		return err
	}
	n.layers = readList(k, "layers", 0)
	return k.err
}

// planLayers lays out the layers.
func (n *Network) planLayers() (*plan, error) {
	p := &plan{numbers: map[string]int{}, init: n.init}
	end, err := n.layers.buildLayers(p, value{tensor: Input, channels: n.Channels, side: n.Side})
	if err != nil {
		return nil, err
	}
	if !end.flat {
		return nil, n.layers.at.errorHere("the network ends with %v, expected a vector: end with global_average_pool "+
			"or flatten", end)
	}
	p.dim = end.channels
	return p, p.renameLast(end.tensor, Output)
}

// Model draws the weights and returns the network. It cannot fail, because Parse has checked the description.
func (n *Network) Model(seed uint64) *graph.Model {
	p, err := n.planLayers()
	if err != nil {
		panic("architecture: " + err.Error()) // Parse ran the same plan
	}
	b := graph.NewBuilder(n.Name, opset)
	side := graph.Fixed(int64(n.Side))
	b.Input(Input, graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(int64(n.Channels)), side, side})
	for _, w := range p.weights {
		b.Constant(graph.NewTensor(w.name, w.drawWeight(seed), w.dims...))
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

// Metadata of a network whose weights are all still as [Network.Model] drew them.
const (
	architectureKey = "winnow.architecture"
	seedKey         = "winnow.seed"
)

// Drawn reports whether a network's metadata say that its weights are random, not trained.
func Drawn(m *graph.Model) bool {
	return slices.ContainsFunc(m.Metadata, func(p graph.Property) bool { return p.Key == seedKey })
}

// Trained returns metadata without the entries that mark random weights.
func Trained(metadata []graph.Property) []graph.Property {
	return slices.DeleteFunc(slices.Clone(metadata), func(p graph.Property) bool {
		return p.Key == architectureKey || p.Key == seedKey
	})
}
