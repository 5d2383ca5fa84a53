package graph

// AttributeKind identifies the field of an attribute that holds its value; the numbers are ONNX's.
type AttributeKind int32

// The kinds that this package reads. Attributes of other kinds are kept unchanged.
const (
	KindFloat  AttributeKind = 1
	KindInt    AttributeKind = 2
	KindString AttributeKind = 3
	KindTensor AttributeKind = 4
	KindGraph  AttributeKind = 5
	KindFloats AttributeKind = 6
	KindInts   AttributeKind = 7
)

// Attribute is a named constant of a node.
type Attribute struct {
	Name   string        `onnx:"1"`
	Float  float32       `onnx:"2"`
	Int    int64         `onnx:"3"`
	String string        `onnx:"4"`
	Tensor *Tensor       `onnx:"5"`
	Graph  *Graph        `onnx:"6"`
	Floats []float32     `onnx:"7"`
	Ints   []int64       `onnx:"8"`
	Kind   AttributeKind `onnx:"20"`
	Rest   []byte        `onnx:"rest"`
}

// Int returns an integer attribute.
func Int(name string, v int64) *Attribute { return &Attribute{Name: name, Kind: KindInt, Int: v} }

// Float returns a float attribute.
func Float(name string, v float32) *Attribute {
	return &Attribute{Name: name, Kind: KindFloat, Float: v}
}

// Ints returns an attribute that is a list of integers.
func Ints(name string, v ...int64) *Attribute {
	return &Attribute{Name: name, Kind: KindInts, Ints: v}
}

// String returns a text attribute.
func String(name, v string) *Attribute {
	return &Attribute{Name: name, Kind: KindString, String: v}
}

// TensorValue returns an attribute that is a tensor.
func TensorValue(name string, t *Tensor) *Attribute {
	return &Attribute{Name: name, Kind: KindTensor, Tensor: t}
}

// Attribute returns the attribute with that name, or nil.
func (n *Node) Attribute(name string) *Attribute {
	for _, a := range n.Attributes {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Int returns the value of an integer attribute, or otherwise if the node does not have it.
func (n *Node) Int(name string, otherwise int64) int64 {
	if a := n.Attribute(name); a != nil && a.Kind == KindInt {
		return a.Int
	}
	return otherwise
}

// Float returns the value of a float attribute, or otherwise if the node does not have it.
func (n *Node) Float(name string, otherwise float32) float32 {
	if a := n.Attribute(name); a != nil && a.Kind == KindFloat {
		return a.Float
	}
	return otherwise
}

// Text returns the value of a text attribute, or otherwise if the node does not have it.
func (n *Node) Text(name, otherwise string) string {
	if a := n.Attribute(name); a != nil && a.Kind == KindString {
		return a.String
	}
	return otherwise
}

// Ints returns the value of a list attribute, or nil if the node does not have it.
func (n *Node) Ints(name string) []int64 {
	if a := n.Attribute(name); a != nil && a.Kind == KindInts {
		return a.Ints
	}
	return nil
}

// Subgraphs returns the graphs inside the node's attributes: branches of If, bodies of Loop and Scan.
func (n *Node) Subgraphs() []*Graph {
	var list []*Graph
	for _, a := range n.Attributes {
		if a.Graph != nil {
			list = append(list, a.Graph)
		}
	}
	return list
}
