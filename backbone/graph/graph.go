// Package graph represents an ONNX model as data: it reads, checks, cuts, extends and writes models, and infers
// shapes. It does not run models and needs no library.
//
// Conventions: a [Model] that was read from bytes points into them (tensors are not copied), so the bytes must not
// change afterwards. Functions that change a model return a new model, which shares nodes and tensors with the
// original; the original does not change. Names of tensors are the edges of the graph; "" is an omitted optional input
// or an unused output. Unknown fields are kept and written back.
//
// Field and type numbers are those of the ONNX intermediate representation (onnx.proto, IR version 3 to 13).
package graph

import "slices"

// Model is a whole ONNX file.
type Model struct {
	IRVersion       int64      `onnx:"1"`
	Producer        string     `onnx:"2"`
	ProducerVersion string     `onnx:"3"`
	Domain          string     `onnx:"4"`
	Version         int64      `onnx:"5"` // version of the model itself
	Doc             string     `onnx:"6"`
	Graph           *Graph     `onnx:"7"`
	Opsets          []Opset    `onnx:"8"`
	Metadata        []Property `onnx:"14"`
	Rest            []byte     `onnx:"rest"` // unknown fields, unchanged
}

// Opset is the version of an operator set that the nodes use. The domain "" is ONNX's own.
type Opset struct {
	Domain  string `onnx:"1"`
	Version int64  `onnx:"2"`
}

// Property is a key with its value.
type Property struct {
	Key   string `onnx:"1"`
	Value string `onnx:"2"`
}

// Graph is a list of nodes in topological order, between inputs and outputs.
type Graph struct {
	Nodes        []*Node      `onnx:"1"`
	Name         string       `onnx:"2"`
	Initializers []*Tensor    `onnx:"5"` // constants; up to IR version 3 each one is also listed as an input
	Inputs       []*ValueInfo `onnx:"11"`
	Outputs      []*ValueInfo `onnx:"12"`
	ValueInfo    []*ValueInfo `onnx:"13"` // types and shapes that the file declares for intermediate tensors
	Sparse       []Sparse     `onnx:"15"`
	Rest         []byte       `onnx:"rest"`
}

// Sparse is a sparse initializer. Only its name is read.
type Sparse struct {
	Values struct {
		Name string `onnx:"8"`
		Rest []byte `onnx:"rest"`
	} `onnx:"1"`
	Rest []byte `onnx:"rest"`
}

// Node is one operation.
type Node struct {
	Inputs     []string     `onnx:"1"`
	Outputs    []string     `onnx:"2"`
	Name       string       `onnx:"3"` // may be empty
	Op         string       `onnx:"4"`
	Attributes []*Attribute `onnx:"5"`
	Domain     string       `onnx:"7"` // "" (or "ai.onnx") for ONNX's own operators
	Rest       []byte       `onnx:"rest"`
}

// Opset returns the version of ONNX's operator set, or 0 if the model does not import it.
func (m *Model) Opset() int64 {
	for _, o := range m.Opsets {
		if IsONNX(o.Domain) {
			return o.Version
		}
	}
	return 0
}

// IsONNX reports whether a domain is that of ONNX's own operators.
func IsONNX(domain string) bool { return domain == "" || domain == "ai.onnx" }

// hasOp reports whether the node is one of the given ONNX operators.
func (n *Node) hasOp(ops ...string) bool {
	return IsONNX(n.Domain) && slices.Contains(ops, n.Op)
}

// Input returns the name of the i-th input, or "" if it is omitted.
func (n *Node) Input(i int) string {
	if i >= len(n.Inputs) {
		return ""
	}
	return n.Inputs[i]
}

// Producers maps each tensor that a node computes to the node.
func (g *Graph) Producers() map[string]*Node {
	by := make(map[string]*Node, len(g.Nodes))
	for _, n := range g.Nodes {
		for _, out := range n.Outputs {
			if out != "" {
				by[out] = n
			}
		}
	}
	return by
}

// Initializer returns the constant with that name, or nil.
func (g *Graph) Initializer(name string) *Tensor {
	for _, t := range g.Initializers {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// byName maps names to initializers.
func (g *Graph) byName() map[string]*Tensor {
	by := make(map[string]*Tensor, len(g.Initializers))
	for _, t := range g.Initializers {
		by[t.Name] = t
	}
	return by
}

// Constants returns the initializers and the values of Constant nodes, by name.
func (g *Graph) Constants() map[string]*Tensor {
	by := g.byName()
	for _, n := range g.Nodes {
		if t := n.ConstantValue(); t != nil {
			by[t.Name] = t
		}
	}
	return by
}

// DataInputs returns the inputs that the caller must provide, that is, inputs that are not also initializers.
func (g *Graph) DataInputs() []*ValueInfo {
	constant := g.byName()
	var list []*ValueInfo
	for _, in := range g.Inputs {
		if constant[in.Name] == nil {
			list = append(list, in)
		}
	}
	return list
}

// Parameters returns the number of values in all floating-point constants: initializers and values of Constant nodes.
// These are weights; shapes are integers.
func (g *Graph) Parameters() int64 {
	var sum int64
	for _, t := range g.Constants() {
		if t.Type.Floating() {
			n, _ := t.Size()
			sum += n
		}
	}
	return sum
}
