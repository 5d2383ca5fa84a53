// Package architecture builds the untrained networks that winnow knows by name ([Names]) as ONNX models with random
// weights, to be trained from scratch.
//
// A [Network] is a list of layers, written as a Go function over a [Plan]. Every tensor has its own random source, a
// function of the seed and the tensor's name. So the same network and seed give the same bytes, and adding a layer does
// not change the weights of the others.
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
	"winnow/internal/catalog"
)

// opset is the models' operator set version.
const opset = 17

// Names of a model's input and output.
const (
	Input  = "input"
	Output = "features"
)

// Network describes a network.
type Network struct {
	Name          string                 `json:"name"`
	Channels      int                    `json:"channels"` // channels of the input
	Side          int                    `json:"side"`     // side of the input in pixels
	Dim           int                    `json:"dim"`      // dimension of the features; set by [Find] and [List]
	Parameters    int64                  `json:"parameters"`
	About         string                 `json:"about"`
	Preprocessing backbone.Preprocessing `json:"-"`

	Init   Initializer   `json:"-"` // initializer of the weights of convolutions and linear layers
	Layers func(p *Plan) `json:"-"` // adds the layers, which end with a vector
}

// Names returns the names of the networks.
func Names() (names []string) {
	for _, n := range networks {
		names = append(names, n.Name)
	}
	return names
}

// Find returns a network by name.
func Find(name string) (Network, error) {
	names := func(n Network) []string { return []string{n.Name} }
	n, err := catalog.Find("architecture: network", name, networks, names)
	if err != nil {
		return n, err
	}
	return n.measured(), nil
}

// List returns all networks.
func List() (list []Network) {
	for _, n := range networks {
		list = append(list, n.measured())
	}
	return list
}

// measured returns the network with the sizes that follow from its layers.
func (n Network) measured() Network {
	p := n.planLayers()
	n.Dim = p.channels
	n.Parameters = 0
	for _, w := range p.weights {
		n.Parameters += w.weightSize()
	}
	return n
}

// planLayers lays out the layers.
func (n Network) planLayers() *Plan {
	p := &Plan{tensor: Input, channels: n.Channels, side: n.Side, init: n.Init, numbers: map[string]int{}}
	n.Layers(p)
	p.nodes[len(p.nodes)-1].Outputs[0] = Output
	return p
}

// Model draws the weights and returns the network.
func (n Network) Model(seed uint64) *graph.Model {
	p := n.planLayers()
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

// Metadata that marks a network whose weights are all as [Network.Model] drew them.
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
