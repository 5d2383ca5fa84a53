// Package graph represents an ONNX model as data: it reads, checks, cuts, extends and writes models, and infers
// shapes. It runs nothing and needs no library: bytes in, bytes out.
//
// Conventions: a [Model] read from bytes keeps pointing into them (tensors are not copied), so they must not
// change afterwards. Functions that change a model return a new one that shares nodes and tensors with the old
// one; the old one is not altered. Names of tensors are the edges of the graph; "" is an omitted optional input
// or an unused output. Unknown fields are kept and written back.
//
// Field and type numbers are those of the ONNX intermediate representation (onnx.proto, IR version 3 to 13).
package graph

import "slices"

// Model is a whole ONNX file.
type Model struct {
	IRVersion       int64
	Producer        string
	ProducerVersion string
	Domain          string
	Version         int64 // of the model itself
	Doc             string
	Opsets          []Opset
	Graph           *Graph
	Metadata        []Property

	rest []byte // unknown fields, unchanged
}

// Opset is the version of an operator set that the nodes use; Domain "" is ONNX's own.
type Opset struct {
	Domain  string
	Version int64
}

// Property is a key with its value.
type Property struct {
	Key, Value string
}

// Graph is a list of nodes in topological order, between inputs and outputs.
type Graph struct {
	Name         string
	Nodes        []*Node
	Initializers []*Tensor // constants; up to IR version 3 each is also listed as an input
	Inputs       []*ValueInfo
	Outputs      []*ValueInfo
	ValueInfo    []*ValueInfo // what the file states about intermediate tensors

	rest []byte
}

// Node is one operation.
type Node struct {
	Name       string // may be empty
	Op         string
	Domain     string // "" (or "ai.onnx") for ONNX's own operators
	Inputs     []string
	Outputs    []string
	Attributes []*Attribute

	rest []byte
}

// Opset returns the version of ONNX's own operator set, or 0 if the model imports none.
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

// hasOp reports whether the node is one of ONNX's own operators with these names.
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

// Producers maps each tensor that a node makes to that node.
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

// DataInputs returns the inputs that the caller must feed: those that are not also initializers.
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

// Parameters returns the number of values in all floating-point constants, initializers and the values of Constant
// nodes: weights, not shapes.
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
