package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
)

// exactGradients computes the gradients of all weights in float64 on the CPU. They show whether the float32 gradients
// of the device or of the CPU are more accurate. slope gives the gradient of the vectors, as in derive.
func (b *bench) exactGradients(n *network) (names []string, grads [][]float64, err error) {
	m, err := doubled(n.model)
	if err != nil {
		return nil, nil, err
	}
	if names, err = gradient.Choose(n.model, n.output, gradient.AllWeights); err != nil {
		return nil, nil, err
	}
	d, err := gradient.Differentiate(m, gradient.Options{Output: n.output, Weights: names})
	if err != nil {
		return nil, nil, err
	}
	known := map[string]ort.Tensor{
		n.input: ort.Float64s(widened(b.pictures(n, b.compared)), int64(b.compared), int64(n.channels), int64(n.side),
			int64(n.side)),
		d.GradOutput: ort.Float64s(widened(slope(b.compared, n.dim).Data), int64(b.compared), int64(n.dim)),
	}
	for name, t := range m.Graph.Constants() {
		if t.Type == graph.Float64 {
			data, err := t.Float64s()
			if err != nil {
				return nil, nil, err
			}
			known[name] = ort.Float64s(data, t.Dims...)
		}
	}
	for _, pass := range []*graph.Model{d.Forward, d.Backward} {
		s, err := b.cpu.NewSession(pass.Marshal(), ort.SessionOptions{})
		if err != nil {
			return nil, nil, err
		}
		in, out := make([]ort.Tensor, len(s.Inputs())), make([]ort.Tensor, len(s.Outputs()))
		for i, info := range s.Inputs() {
			in[i] = known[info.Name]
		}
		if err := errors.Join(s.Run(in, out), s.Close()); err != nil {
			return nil, nil, err
		}
		for i, info := range s.Outputs() {
			known[info.Name] = out[i]
		}
	}
	for _, name := range d.Grads {
		grads = append(grads, known[name].F64)
	}
	return names, grads, nil
}

func widened(x []float32) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = float64(v)
	}
	return y
}

// doubled returns a model in float64. It replaces operators that ONNX Runtime's CPU provider has only in float32.
func doubled(m *graph.Model) (*graph.Model, error) {
	facts := graph.Infer(m)
	b := graph.NewBuilder(m.Graph.Name+" in float64", m.Opset())
	b.Reserve(m.Graph)
	d := &doubling{b: b, facts: facts}
	for _, in := range m.Graph.DataInputs() {
		c := *in
		c.Type = wider(c.Type)
		b.Model().Graph.Inputs = append(b.Model().Graph.Inputs, &c)
	}
	for _, t := range m.Graph.Initializers {
		if t.Type == graph.Float32 {
			data, err := t.Float64s()
			if err != nil {
				return nil, err
			}
			t = graph.NewTensor(t.Name, data, t.Dims...)
		}
		b.Model().Graph.Initializers = append(b.Model().Graph.Initializers, t)
	}
	for _, n := range m.Graph.Nodes {
		var err error
		switch n.Op {
		case "Conv":
			err = d.conv(n)
		case "GlobalAveragePool":
			b.NodeTo(n.Outputs[0], "ReduceMean", n.Inputs, graph.Ints("axes", 2, 3), graph.Int("keepdims", 1))
		case "LRN":
			err = d.lrn(n)
		default:
			if t := n.ConstantValue(); t != nil && t.Type == graph.Float32 {
				err = fmt.Errorf("a constant node in float32")
			}
			b.Add(n)
		}
		if err != nil {
			return nil, fmt.Errorf("gpu: %s of %q in float64: %w", n.Op, n.Outputs[0], err)
		}
	}
	for _, out := range m.Graph.Outputs {
		c := *out
		c.Type = wider(c.Type)
		b.Model().Graph.Outputs = append(b.Model().Graph.Outputs, &c)
	}
	return b.Model(), nil
}

func wider(t graph.DataType) graph.DataType {
	if t == graph.Float32 {
		return graph.Float64
	}
	return t
}

type doubling struct {
	b     *graph.Builder
	facts map[string]*graph.ValueInfo
}

func (d *doubling) list(v ...int64) string {
	return d.b.Constant(graph.NewTensor(d.b.Fresh("list"), v, int64(len(v))))
}

func (d *doubling) number(v float64) string {
	return d.b.Constant(graph.NewTensor(d.b.Fresh("number"), []float64{v}))
}

func (d *doubling) reshape(x string, shape ...int64) string {
	return d.b.Node("Reshape", []string{x, d.list(shape...)})
}

// sizes returns the sizes of a tensor's axes, starting at the axis from.
func (d *doubling) sizes(name string, from int) (list []int64, err error) {
	v := d.facts[name]
	if v == nil || len(v.Shape) != 4 {
		return nil, fmt.Errorf("found the shape %v of %q, expected four sizes", v, name)
	}
	for _, s := range v.Shape[from:] {
		if !s.Known() {
			return nil, fmt.Errorf("found the shape %v of %q, expected known sizes", v.Shape, name)
		}
		list = append(list, s.Size)
	}
	return list, nil
}

// conv replaces a convolution by a matrix product of its filters with the inputs of each tap.
func (d *doubling) conv(n *graph.Node) error {
	out, err := d.sizes(n.Outputs[0], 1)
	if err != nil {
		return err
	}
	in, err := d.sizes(n.Inputs[0], 1)
	if err != nil {
		return err
	}
	filters, err := d.sizes(n.Inputs[1], 0)
	if err != nil {
		return err
	}
	or := func(name string, otherwise ...int64) []int64 {
		if v := n.Ints(name); len(v) > 0 {
			return v
		}
		return otherwise
	}
	if auto := n.Text("auto_pad", "NOTSET"); auto != "NOTSET" {
		return fmt.Errorf("found auto_pad %q, expected pads", auto)
	}
	pads, strides, dilations := or("pads", 0, 0, 0, 0), or("strides", 1, 1), or("dilations", 1, 1)
	groups := n.Int("group", 1)
	x := d.b.Node("Pad", []string{n.Inputs[0], d.list(0, 0, pads[0], pads[1], 0, 0, pads[2], pads[3])})
	var taps []string
	for i := range filters[2] {
		for j := range filters[3] {
			top, left := i*dilations[0], j*dilations[1]
			tap := d.b.Node("Slice", []string{x, d.list(top, left), d.list(top+(out[1]-1)*strides[0]+1,
				left+(out[2]-1)*strides[1]+1), d.list(2, 3), d.list(strides[0], strides[1])})
			taps = append(taps, d.reshape(tap, -1, groups, in[0]/groups, out[1]*out[2]))
		}
	}
	columns := taps[0]
	if len(taps) > 1 {
		columns = d.b.Node("Concat", taps, graph.Int("axis", 2))
	}
	w := d.reshape(d.b.Node("Transpose", []string{n.Inputs[1]}, graph.Ints("perm", 0, 2, 3, 1)), groups,
		filters[0]/groups, filters[1]*filters[2]*filters[3])
	y := d.reshape(d.b.Node("MatMul", []string{w, columns}), append([]int64{-1}, out...)...)
	if len(n.Inputs) > 2 && n.Inputs[2] != "" {
		y = d.b.Node("Add", []string{y, d.reshape(n.Inputs[2], out[0], 1, 1)})
	}
	d.b.NodeTo(n.Outputs[0], "Identity", []string{y})
	return nil
}

// lrn replaces a local response normalisation by y = x·(bias + α/size·Σ x²)^-β, with the sum over size channels around
// each channel.
func (d *doubling) lrn(n *graph.Node) error {
	in, err := d.sizes(n.Inputs[0], 1)
	if err != nil {
		return err
	}
	size := n.Int("size", 1)
	squares := d.b.Node("Pad", []string{d.b.Node("Mul", []string{n.Inputs[0], n.Inputs[0]}),
		d.list(0, (size-1)/2, 0, 0, 0, size/2, 0, 0)})
	var parts []string
	for i := range size {
		parts = append(parts, d.b.Node("Slice", []string{squares, d.list(i), d.list(i + in[0]), d.list(1)}))
	}
	sum := d.b.Node("Mul", []string{d.b.Node("Sum", parts), d.number(float64(n.Float("alpha", 1e-4)) / float64(size))})
	sum = d.b.Node("Pow", []string{d.b.Node("Add", []string{sum, d.number(float64(n.Float("bias", 1)))}),
		d.number(-float64(n.Float("beta", 0.75)))})
	d.b.NodeTo(n.Outputs[0], "Mul", []string{n.Inputs[0], sum})
	return nil
}

// inFloat64 reports whether a network can run in float64: for each of its operators ONNX Runtime's CPU provider has a
// float64 kernel, or doubled replaces the operator.
func (n *network) inFloat64() bool {
	return !slices.ContainsFunc(n.model.Graph.Nodes, func(n *graph.Node) bool {
		return n.Op == "Erf" || n.Op == "Gelu"
	})
}

// exactly compares the gradients of the device and of the CPU with gradients in float64.
func (b *bench) exactly(n *network) error {
	return b.measure(func() (r Record, err error) {
		names, grads, err := b.exactGradients(n)
		if err != nil {
			return r, err
		}
		want := derived{names: names}
		for _, g := range grads {
			rounded := make([]float32, len(g))
			for i, v := range g {
				rounded[i] = float32(v)
			}
			want.grads = append(want.grads, rounded)
		}
		r.Values = map[string]float64{"weights": float64(len(names))}
		for _, on := range []struct {
			name, value string
			open        func() (*trained, error)
		}{
			{"device", "relative", func() (*trained, error) { return b.openTrained(n, ways()[0], false) }},
			{"CPU", "cpu_relative", func() (*trained, error) { return newTrained(b.cpu, n, ways()[0]) }},
		} {
			t, err := on.open()
			if err != nil {
				return r, err
			}
			found, err := b.derive(t, n)
			if err != nil {
				return r, err
			}
			g := compare(want, found)
			r.Values[on.value] = g.most
			if on.value == "relative" {
				r.Values["cosine"] = g.least
			}
			r.Text += fmt.Sprintf("%s: %s; ", on.name, strings.Join(g.worstFew(), ", "))
		}
		r.Text = strings.TrimSuffix(r.Text, "; ")
		return r, nil
	}, n.name, "gradients", besideFloat64)
}

// besideFloat64 names the comparison of gradients with float64's.
const besideFloat64 = "beside float64 on the CPU"
