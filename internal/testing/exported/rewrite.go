package exported

import (
	"math"
	"slices"

	"winnow/backbone/graph"
)

// halved returns a network with its weights and sums in float16, between casts, or with ends of float16 too.
func halved(m *graph.Model, ends bool) *graph.Model {
	c := graph.Extend(m).Model()
	g := c.Graph
	for i, w := range g.Initializers {
		if w.Type == graph.Float32 {
			g.Initializers[i] = rounded(w)
		}
	}
	outputs := g.Outputs
	g.Outputs = nil
	in := *g.Inputs[0]
	name := in.Name
	if ends {
		in.Type = graph.Float16
		g.Inputs[0] = &in
		b := graph.Extend(c)
		for _, o := range outputs {
			b.Output(o.Name)
			b.Model().Graph.Outputs[len(b.Model().Graph.Outputs)-1].Type = graph.Float16
		}
		return b.Model()
	}
	nodes := g.Nodes
	g.Nodes, in.Name = nil, "pixels"
	g.Inputs[0] = &in
	b := graph.Extend(c)
	b.NodeTo(name, "Cast", []string{"pixels"}, graph.Int("to", int64(graph.Float16)))
	for _, n := range nodes {
		b.Add(n)
	}
	for _, o := range outputs {
		b.Output(b.NodeTo(o.Name+"_float", "Cast", []string{o.Name}, graph.Int("to", int64(graph.Float32))))
	}
	return b.Model()
}

// rounded returns a tensor in float16.
func rounded(w *graph.Tensor) *graph.Tensor {
	values, err := w.Float32s()
	if err != nil {
		panic(err)
	}
	bits := make([]uint8, 0, 2*len(values))
	for _, v := range values {
		h := uint16(0)
		if f := math.Abs(float64(v)); f > 1e-4 { // normal numbers; smaller ones become 0
			fraction, exponent := math.Frexp(f)
			whole := uint32(exponent+14)<<10 + uint32(math.RoundToEven((2*fraction-1)*1024))
			if h = uint16(whole); v < 0 {
				h |= 0x8000
			}
		}
		bits = append(bits, uint8(h), uint8(h>>8))
	}
	c := graph.NewTensor(w.Name, bits, int64(len(bits))) // bytes, retyped
	c.Type, c.Dims = graph.Float16, w.Dims
	return c
}

// quantised returns a network with QDQ pairs about the inputs and the kernels of its convolutions and products, as
// ONNX Runtime's static quantisation writes them.
func quantised(m *graph.Model) *graph.Model {
	c := graph.Extend(m).Model()
	g := c.Graph
	nodes := g.Nodes
	g.Nodes = nil
	b := graph.Extend(c)
	pair := func(x string, scale float32, zero uint8) string {
		s, z := b.Constant(graph.NewTensor(b.Fresh("scale"), []float32{scale})), b.Constant(graph.NewTensor(
			b.Fresh("zero"), []uint8{zero}))
		s, z = scalar(b, s), scalar(b, z)
		q := b.Node("QuantizeLinear", []string{x, s, z})
		return b.Node("DequantizeLinear", []string{q, s, z})
	}
	kernel := func(name string) string {
		t := g.Initializer(name)
		values, err := t.Float32s()
		if err != nil {
			panic(err)
		}
		most := float32(0)
		for _, v := range values {
			most = max(most, v, -v)
		}
		bytes := make([]uint8, len(values))
		for i, v := range values {
			bytes[i] = uint8(math.RoundToEven(float64(v/most*127)) + 128)
		}
		q := b.Constant(graph.NewTensor(name+"_quantized", bytes, t.Dims...))
		s, z := b.Constant(graph.NewTensor(b.Fresh("scale"), []float32{most / 127})), b.Constant(graph.NewTensor(
			b.Fresh("zero"), []uint8{128}))
		return b.Node("DequantizeLinear", []string{q, scalar(b, s), scalar(b, z)})
	}
	for _, n := range nodes {
		if slices.Contains([]string{"Conv", "Gemm"}, n.Op) {
			own := *n
			own.Inputs = slices.Clone(n.Inputs)
			own.Inputs[0] = pair(n.Inputs[0], 1./32, 64)
			own.Inputs[1] = kernel(n.Inputs[1])
			n = &own
		}
		b.Add(n)
	}
	return b.Model()
}

// scalar makes a constant of one element one without axes.
func scalar(b *graph.Builder, name string) string {
	b.Model().Graph.Initializer(name).Dims = nil
	return name
}
