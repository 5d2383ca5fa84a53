// Package plainnet evaluates ONNX models one node after the other, in plain loops of float64, to check what ONNX
// Runtime computes of them. It knows the operators of image networks in the forms of all operator sets, and is slow.
package plainnet

import (
	"fmt"
	"slices"

	"winnow/backbone/graph"
)

// Value is a tensor. Integers and booleans are held as numbers too.
type Value struct {
	Dims []int
	X    []float64
}

// Rows returns how many numbers each entry of the first axis has.
func (v Value) Rows() int { return size(v.Dims[1:]) }

func size(dims []int) int {
	n := 1
	for _, d := range dims {
		n *= d
	}
	return n
}

func zeros(dims ...int) Value { return Value{slices.Clone(dims), make([]float64, size(dims))} }

// Run evaluates a model on its only data input and returns the named tensor.
func Run(m *graph.Model, input Value, output string) (v Value, err error) {
	at := ""
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("plainnet: %s: %v", at, r)
		}
	}()
	values := map[string]Value{"": {}}
	for _, t := range m.Graph.Initializers {
		values[t.Name] = constant(t)
	}
	values[m.Graph.DataInputs()[0].Name] = input
	for _, n := range m.Graph.Nodes {
		at = n.Op + " " + n.Outputs[0]
		op := ops[n.Op]
		if op == nil {
			op = windows[n.Op]
		}
		if op == nil {
			return v, fmt.Errorf("plainnet: %s: unknown operator", at)
		}
		in := make([]Value, len(n.Inputs))
		for i, name := range n.Inputs {
			in[i] = values[name]
		}
		for i, out := range op(node{n, m.Opset()}, in) {
			if i < len(n.Outputs) {
				values[n.Outputs[i]] = out
			}
		}
		if slices.Contains(n.Outputs, output) {
			break
		}
	}
	v, ok := values[output]
	if !ok {
		return v, fmt.Errorf("plainnet: no tensor %q", output)
	}
	return v, nil
}

func constant(t *graph.Tensor) Value {
	v := Value{Dims: make([]int, len(t.Dims))}
	for i, d := range t.Dims {
		v.Dims[i] = int(d)
	}
	var err error
	switch t.Type {
	case graph.Int64:
		var list []int64
		list, err = t.Int64s()
		for _, n := range list {
			v.X = append(v.X, float64(n))
		}
	case graph.Uint8, graph.Int8:
		for _, b := range t.Raw() {
			if t.Type == graph.Int8 {
				v.X = append(v.X, float64(int8(b)))
			} else {
				v.X = append(v.X, float64(b))
			}
		}
	default:
		v.X, err = t.Float64s()
	}
	if err != nil {
		panic(err)
	}
	return v
}

// node is a node with the operator set that says what it means.
type node struct {
	*graph.Node
	opset int64
}

// ints returns a list given as an attribute or, in later operator sets, as an input.
func (n node) ints(name string, in []Value, at int) []int {
	if at < len(in) && in[at].X != nil {
		return whole(in[at])
	}
	var list []int
	for _, v := range n.Ints(name) {
		list = append(list, int(v))
	}
	return list
}

func whole(v Value) []int {
	list := make([]int, len(v.X))
	for i, x := range v.X {
		list[i] = int(x)
	}
	return list
}

// axis returns an axis from the front.
func axis(a, rank int) int {
	if a < 0 {
		a += rank
	}
	return a
}

// strides returns how far apart entries are along each axis.
func strides(dims []int) []int {
	s, step := make([]int, len(dims)), 1
	for i := len(dims) - 1; i >= 0; i-- {
		s[i] = step
		step *= dims[i]
	}
	return s
}

// each visits the indices of a tensor in order.
func each(dims []int, visit func(at int, index []int)) {
	index := make([]int, len(dims))
	for at := range size(dims) {
		visit(at, index)
		for i := len(dims) - 1; i >= 0; i-- {
			if index[i]++; index[i] < dims[i] {
				break
			}
			index[i] = 0
		}
	}
}

// pick makes a tensor whose entries are those of v at other indices.
func pick(v Value, dims []int, from func(index, source []int)) Value {
	out, step, source := zeros(dims...), strides(v.Dims), make([]int, len(v.Dims))
	each(dims, func(at int, index []int) {
		from(index, source)
		p := 0
		for i, s := range source {
			p += s * step[i]
		}
		out.X[at] = v.X[p]
	})
	return out
}

// broadcast returns the shape that two shapes have together.
func broadcast(a, b []int) []int {
	out := make([]int, max(len(a), len(b)))
	for i := range out {
		out[i] = 1
		for _, d := range [][]int{a, b} {
			if at := i - len(out) + len(d); at >= 0 && d[at] != 1 {
				if out[i] != 1 && out[i] != d[at] {
					panic(fmt.Sprintf("shapes %v and %v", a, b))
				}
				out[i] = d[at]
			}
		}
	}
	return out
}

func expand(v Value, dims []int) Value {
	if slices.Equal(v.Dims, dims) {
		return v
	}
	return pick(v, dims, func(index, source []int) {
		for i := range source {
			if source[i] = 0; v.Dims[i] > 1 {
				source[i] = index[len(index)-len(source)+i]
			}
		}
	})
}

func both(a, b Value, f func(x, y float64) float64) Value {
	dims := broadcast(a.Dims, b.Dims)
	a, b = expand(a, dims), expand(b, dims)
	out := zeros(dims...)
	for i := range out.X {
		out.X[i] = f(a.X[i], b.X[i])
	}
	return out
}

func apply(v Value, f func(x float64) float64) Value {
	out := zeros(v.Dims...)
	for i, x := range v.X {
		out.X[i] = f(x)
	}
	return out
}
