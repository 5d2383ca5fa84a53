package graph

import (
	"fmt"
	"slices"
)

// Builder adds constants, nodes, inputs and outputs to a model, and invents names where the caller gives none. winnow
// builds all graphs with it, in product code and tests.
type Builder struct {
	m     *Model
	taken map[string]bool // names of tensors and nodes
	last  map[string]int  // the last number that Fresh appended to a name, so that names are not reused
}

// irFor returns the oldest IR version (file format version) for an operator set, so that older readers accept the file.
func irFor(opset int64) int64 {
	switch {
	case opset <= 8:
		return 3
	case opset <= 9:
		return 4
	case opset <= 10:
		return 5
	case opset <= 11:
		return 6
	case opset <= 14:
		return 7
	case opset <= 18:
		return 8
	case opset <= 20:
		return 9
	}
	return 10
}

// NewBuilder starts an empty model with a version of ONNX's operator set.
func NewBuilder(name string, opset int64) *Builder {
	return &Builder{
		m: &Model{
			IRVersion: irFor(opset), Producer: "winnow",
			Opsets: []Opset{{Version: opset}},
			Graph:  &Graph{Name: name},
		},
		taken: map[string]bool{}, last: map[string]int{},
	}
}

// Extend starts from a copy of a model. The copy shares the model's nodes and tensors.
func Extend(m *Model) *Builder {
	c := *m
	g := *m.Graph
	c.Graph = &g
	b := &Builder{m: &c, taken: map[string]bool{}, last: map[string]int{}}
	g.Nodes, g.Initializers = slices.Clone(g.Nodes), slices.Clone(g.Initializers)
	g.Inputs, g.Outputs = slices.Clone(g.Inputs), slices.Clone(g.Outputs)
	g.ValueInfo = slices.Clone(g.ValueInfo)
	b.takeAll(&g)
	return b
}

// takeAll marks every name in a graph, and in the graphs inside its nodes, as taken.
func (b *Builder) takeAll(g *Graph) {
	for _, v := range slices.Concat(g.Inputs, g.Outputs, g.ValueInfo) {
		b.taken[v.Name] = true
	}
	for _, t := range g.Initializers {
		b.taken[t.Name] = true
	}
	for _, s := range g.Sparse {
		b.taken[s.Values.Name] = true
	}
	for _, n := range g.Nodes {
		b.taken[n.Name] = true
		for _, name := range slices.Concat(n.Inputs, n.Outputs) {
			b.taken[name] = true
		}
		for _, sub := range n.Subgraphs() {
			b.takeAll(sub)
		}
	}
}

// Model returns the built model; the builder must not be used afterwards.
func (b *Builder) Model() *Model { return b.m }

// Opset returns the version of ONNX's operator set that the nodes must fit.
func (b *Builder) Opset() int64 { return b.m.Opset() }

// Fresh reserves and returns an unused name: name itself, or name followed by a number.
func (b *Builder) Fresh(name string) string {
	try := name
	for try == "" || b.taken[try] {
		b.last[name] = max(b.last[name], 1) + 1
		try = fmt.Sprintf("%s_%d", name, b.last[name])
	}
	b.taken[try] = true
	return try
}

// Input adds a data input and returns its name.
func (b *Builder) Input(name string, t DataType, shape Shape) string {
	name = b.Fresh(name)
	b.m.Graph.Inputs = append(b.m.Graph.Inputs, &ValueInfo{Name: name, Type: t, Shape: shape})
	return name
}

// Constant adds an initializer, renamed if its name is taken, and returns its name. Up to IR version 3 the constant
// must also be listed as an input.
func (b *Builder) Constant(t *Tensor) string {
	c := *t
	c.Name = b.Fresh(t.Name)
	b.m.Graph.Initializers = append(b.m.Graph.Initializers, &c)
	if b.m.IRVersion < 4 {
		b.m.Graph.Inputs = append(b.m.Graph.Inputs, &ValueInfo{Name: c.Name, Type: c.Type, Shape: ShapeOf(c.Dims...)})
	}
	return c.Name
}

// Node adds an operation with one output, whose name is derived from the operator, and returns that name.
func (b *Builder) Node(op string, inputs []string, attributes ...*Attribute) string {
	return b.NodeTo(b.Fresh(op), op, inputs, attributes...)
}

// NodeTo adds an operation with one output of the given name, which must be unused or reserved by [Builder.Fresh].
func (b *Builder) NodeTo(output, op string, inputs []string, attributes ...*Attribute) string {
	b.Add(&Node{Name: output, Op: op, Inputs: inputs, Outputs: []string{output}, Attributes: attributes})
	return output
}

// Add adds a node unchanged.
func (b *Builder) Add(n *Node) {
	for _, out := range n.Outputs {
		b.taken[out] = true
	}
	b.m.Graph.Nodes = append(b.m.Graph.Nodes, n)
}

// Output appends tensors to the model's outputs, with inferred types and shapes. Inference runs once for all of them.
func (b *Builder) Output(tensors ...string) {
	facts := Infer(b.m)
	for _, t := range tensors {
		b.m.Graph.Outputs = append(b.m.Graph.Outputs, describeTensor(facts, t))
	}
}

// SetOutputs makes these tensors the model's only outputs.
func (b *Builder) SetOutputs(tensors ...string) {
	b.m.Graph.Outputs = nil
	b.Output(tensors...)
}
