package graph

import (
	"fmt"
	"maps"
	"slices"
)

// WithValues stores numbers in a model. Each named constant, an initializer or the output of a Constant node, gets the
// given row-major values and keeps its shape and its type, float32. This puts trained weights and running statistics
// back into the original model, which is then an ordinary ONNX file.
func WithValues(m *Model, values map[string][]float32) (*Model, error) {
	c := Extend(m).Model()
	left := maps.Clone(values)
	filled := func(t *Tensor) (*Tensor, error) {
		v, ok := left[t.Name]
		if !ok {
			return t, nil
		}
		delete(left, t.Name)
		n, err := t.Size()
		if err != nil {
			return nil, fmt.Errorf("graph: tensor %q: %w", t.Name, err)
		}
		if t.Type != Float32 || n != int64(len(v)) {
			return nil, fmt.Errorf("graph: tensor %q: found %d values for %v %v, expected %d for float32", t.Name,
				len(v), t.Type, t.Dims, n)
		}
		f := NewTensor(t.Name, v, t.Dims...)
		f.rest = t.rest
		return f, nil
	}
	for i, t := range c.Graph.Initializers {
		f, err := filled(t)
		if err != nil {
			return nil, err
		}
		c.Graph.Initializers[i] = f
	}
	for i, n := range c.Graph.Nodes {
		t := n.ConstantValue()
		if t == nil || left[t.Name] == nil {
			continue
		}
		f, err := filled(t)
		if err != nil {
			return nil, err
		}
		node := *n
		node.Attributes = []*Attribute{TensorValue("value", f)}
		c.Graph.Nodes[i] = &node
	}
	if len(left) > 0 {
		return nil, fmt.Errorf("graph: values %q: the model has no constants of these names",
			slices.Sorted(maps.Keys(left)))
	}
	return c, nil
}
