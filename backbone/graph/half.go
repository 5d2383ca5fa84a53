package graph

import (
	"fmt"
	"slices"
)

// Half reports whether a model computes with floating-point numbers of 16 bits somewhere.
func Half(m *Model) bool {
	for _, f := range inferModel(m) {
		if f.typ == Float16 || f.typ == BFloat16 {
			return true
		}
	}
	return false
}

// Lift returns the model with every floating-point number of 16 bits as one of 32: initializers, constants in
// attributes and in the graphs inside nodes, casts, inputs and outputs. It computes the same up to the rounding that it
// avoids. Values in other files are an error.
func Lift(m *Model) (*Model, error) {
	c := Extend(m).Model()
	if err := c.Graph.liftGraph(); err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	return c, nil
}

// liftGraph changes a graph whose lists nobody else has; its nodes and tensors are replaced.
func (g *Graph) liftGraph() (err error) {
	for i, t := range g.Initializers {
		if g.Initializers[i], err = t.liftTensor(); err != nil {
			return err
		}
	}
	for _, list := range [][]*ValueInfo{g.Inputs, g.Outputs, g.ValueInfo} {
		for i, v := range list {
			if isHalf(v.Type) {
				c := *v
				c.Type = Float32
				list[i] = &c
			}
		}
	}
	for i, n := range g.Nodes {
		c := *n
		c.Attributes = slices.Clone(n.Attributes)
		for k, a := range c.Attributes {
			if c.Attributes[k], err = n.liftedAttribute(a); err != nil {
				return err
			}
		}
		g.Nodes[i] = &c
	}
	return nil
}

// liftedAttribute returns an attribute of a node with its constants, types and graphs lifted.
func (n *Node) liftedAttribute(a *Attribute) (*Attribute, error) {
	c := *a
	var err error
	if a.Tensor != nil {
		if c.Tensor, err = a.Tensor.liftTensor(); err != nil {
			return nil, err
		}
	}
	sub := func(g *Graph) (*Graph, error) {
		own := *g
		own.Nodes, own.Initializers = slices.Clone(g.Nodes), slices.Clone(g.Initializers)
		own.Inputs, own.Outputs = slices.Clone(g.Inputs), slices.Clone(g.Outputs)
		own.ValueInfo = slices.Clone(g.ValueInfo)
		return &own, own.liftGraph()
	}
	if a.Graph != nil {
		if c.Graph, err = sub(a.Graph); err != nil {
			return nil, err
		}
	}
	c.Graphs = slices.Clone(a.Graphs)
	for i, g := range c.Graphs {
		if c.Graphs[i], err = sub(g); err != nil {
			return nil, err
		}
	}
	// The attributes of ONNX's operators that name a type: of Cast, of EyeLike and the random ones, of softmax and
	// normalisations inside.
	if a.Kind == KindInt && isHalf(DataType(a.Int)) &&
		(a.Name == "to" || a.Name == "dtype" || a.Name == "output_dtype" || a.Name == "softmax_precision") {
		c.Int = int64(Float32)
	}
	return &c, nil
}

func isHalf(t DataType) bool { return t == Float16 || t == BFloat16 }

// liftTensor returns the tensor as float32 if its elements have 16 bits.
func (t *Tensor) liftTensor() (*Tensor, error) {
	if !isHalf(t.Type) {
		return t, nil
	}
	values, err := t.Float32s()
	if err != nil {
		return nil, err
	}
	c := NewTensor(t.Name, values, t.Dims...)
	c.Doc, c.rest = t.Doc, t.rest
	return c, nil
}
