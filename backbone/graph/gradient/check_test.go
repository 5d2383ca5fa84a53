package gradient_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
)

// array is a value in a test: numbers with a shape.
type array struct {
	dims []int64
	data []float64
}

// forCPU returns the kernels of the CPU, or none.
func forCPU(kernels bool) gradient.Kernels {
	if kernels {
		return gradient.ForCPU
	}
	return gradient.NoKernels
}

// drawn returns an array of this shape with random numbers between lo and hi.
func drawn(seed uint64, lo, hi float64, dims ...int64) array {
	rng := rand.New(rand.NewPCG(seed, 1))
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	a := array{dims: dims, data: make([]float64, n)}
	for i := range a.data {
		a.data[i] = lo + (hi-lo)*rng.Float64()
	}
	return a
}

func (a array) tensor(t graph.DataType) ort.Tensor {
	if t == graph.Float64 {
		return ort.Float64s(a.data, a.dims...)
	}
	x := make([]float32, len(a.data))
	for i, v := range a.data {
		x[i] = float32(v)
	}
	return ort.Float32s(x, a.dims...)
}

func arrayOf(t ort.Tensor) array {
	if t.F64 != nil {
		return array{t.Shape, t.F64}
	}
	a := array{dims: t.Shape, data: make([]float64, len(t.F32))}
	for i, v := range t.F32 {
		a.data[i] = float64(v)
	}
	return a
}

// machine runs a derivative with ONNX Runtime.
type machine struct {
	t        testing.TB
	d        *gradient.Derivative
	typ      graph.DataType
	fwd, bwd *ort.Session
}

func newMachine(t testing.TB, d *gradient.Derivative, typ graph.DataType) *machine {
	t.Helper()
	m := &machine{t: t, d: d, typ: typ}
	for _, part := range []struct {
		to    **ort.Session
		model *graph.Model
		name  string
	}{{&m.fwd, d.Forward, "forward"}, {&m.bwd, d.Backward, "backward"}} {
		if err := part.model.Check(); err != nil {
			t.Fatalf("%s model: %v", part.name, err)
		}
		s, err := orttest.Runtime(t).NewSession(part.model.Marshal(), ort.SessionOptions{})
		if err != nil {
			t.Fatalf("%s model: %v", part.name, err)
		}
		*part.to = s
	}
	t.Cleanup(m.close)
	return m
}

func (m *machine) close() {
	m.fwd.Close()
	m.bwd.Close()
}

// forward runs the forward model and returns its outputs by name.
func (m *machine) forward(values map[string]array) map[string]ort.Tensor {
	m.t.Helper()
	tensors := map[string]ort.Tensor{}
	var in []ort.Tensor
	for _, info := range m.fwd.Inputs() {
		v, ok := values[info.Name]
		if !ok {
			m.t.Fatalf("the forward model needs %q", info.Name)
		}
		tensors[info.Name] = v.tensor(m.typ)
		in = append(in, tensors[info.Name])
	}
	out := make([]ort.Tensor, len(m.fwd.Outputs()))
	if err := m.fwd.Run(in, out); err != nil {
		m.t.Fatalf("forward: %v", err)
	}
	for i, info := range m.fwd.Outputs() {
		tensors[info.Name] = out[i]
	}
	return tensors
}

// backward runs the backward model. It returns the gradients of d.Weights, then of d.Inputs.
func (m *machine) backward(tensors map[string]ort.Tensor, dOutput array) []array {
	m.t.Helper()
	tensors[m.d.GradOutput] = dOutput.tensor(m.typ)
	var in []ort.Tensor
	for _, info := range m.bwd.Inputs() {
		v, ok := tensors[info.Name]
		if !ok {
			m.t.Fatalf("the backward model needs %q, which the forward model does not output", info.Name)
		}
		in = append(in, v)
	}
	out := make([]ort.Tensor, len(m.bwd.Outputs()))
	if err := m.bwd.Run(in, out); err != nil {
		m.t.Fatalf("backward: %v", err)
	}
	list := make([]array, len(out))
	for i := range out {
		list[i] = arrayOf(out[i])
	}
	return list
}

// ruleCase is a small model, differentiated with respect to all its inputs.
type ruleCase struct {
	name  string
	opset int64 // 0: 17
	typ   graph.DataType
	in    []array
	build func(b *graph.Builder, in []string) string
	fixed []int // inputs without a gradient
	norms gradient.BatchNorm

	kernels bool // winnow's own operators
}

// derivative builds the case's model, with a free first axis in every input of rank 2 or more, and differentiates it.
func (c ruleCase) derivative() (*gradient.Derivative, map[string]array, error) {
	opset := c.opset
	if opset == 0 {
		opset = gradient.Opset
	}
	b := graph.NewBuilder("case", opset)
	values := map[string]array{}
	var in, by []string
	for i, a := range c.in {
		shape := graph.ShapeOf(a.dims...)
		if i == 0 && len(shape) > 1 {
			shape[0] = graph.Free("N")
		}
		name := b.Input(fmt.Sprintf("x%d", i), c.typ, shape)
		values[name] = a
		in = append(in, name)
	}
	for i, name := range in {
		free := true
		for _, f := range c.fixed {
			free = free && f != i
		}
		if free {
			by = append(by, name)
		}
	}
	b.Output(c.build(b, in))
	m := b.Model()
	d, err := gradient.Differentiate(m, gradient.Options{Inputs: by, BatchNorm: c.norms, Kernels: forCPU(c.kernels)})
	if err == nil {
		for _, s := range d.State {
			t := m.Graph.Initializer(s.Name)
			list, _ := t.Float64s()
			values[s.Name] = array{t.Dims, list}
		}
	}
	return d, values, err
}

// worst compares the gradients of the case with central differences and returns the largest relative difference.
func (c ruleCase) worst(t testing.TB) float64 {
	t.Helper()
	d, values, err := c.derivative()
	if err != nil {
		t.Fatal(err)
	}
	return difference(t, d, values, c.typ)
}

// difference compares the gradients of Σ w·y, with random w, with central differences. For each weight and input it
// computes the largest difference relative to the largest number, and returns the maximum of these.
func difference(t testing.TB, d *gradient.Derivative, values map[string]array, typ graph.DataType) float64 {
	t.Helper()
	m := newMachine(t, d, typ)
	defer m.close()
	first := m.forward(values)
	y := arrayOf(first[d.Output])
	w := drawn(99, -1, 1, y.dims...)
	grads := m.backward(first, w)
	value := func() float64 {
		var sum float64
		for i, v := range arrayOf(m.forward(values)[d.Output]).data {
			sum += v * w.data[i]
		}
		return sum
	}
	h := 5e-6
	if typ == graph.Float32 {
		h = 1e-2
	}
	var worst float64
	for i, name := range slices.Concat(d.Weights, d.Inputs) {
		x, size, most := values[name], 1e-3, 0.0
		if !slices.Equal(grads[i].dims, x.dims) {
			t.Fatalf("gradient of %s is %v, expected %v", name, grads[i].dims, x.dims)
		}
		for j := range x.data {
			at := x.data[j]
			x.data[j] = at + h
			up := value()
			x.data[j] = at - h
			down := value()
			x.data[j] = at
			slope := (up - down) / (2 * h)
			size = max(size, math.Abs(slope))
			most = max(most, math.Abs(slope-grads[i].data[j]))
			if math.IsNaN(grads[i].data[j]) {
				return math.NaN()
			}
		}
		worst = max(worst, most/size)
	}
	return worst
}

// runCases checks every case: to 1e-6 in float64, and to 1e-2 in float32.
func runCases(t *testing.T, cases []ruleCase) {
	for _, c := range cases {
		if c.typ == 0 {
			c.typ = graph.Float64
		}
		t.Run(c.name, func(t *testing.T) {
			limit := 1e-6
			if c.typ == graph.Float32 {
				limit = 1e-2
			}
			if got := c.worst(t); !(got < limit) {
				t.Errorf("the gradient is off by %.3g of its size, expected less than %g", got, limit)
			}
		})
	}
}

// op returns a builder of one node over all inputs.
func op(name string, attributes ...*graph.Attribute) func(*graph.Builder, []string) string {
	return func(b *graph.Builder, in []string) string { return b.Node(name, in, attributes...) }
}

func TestFirst(t *testing.T) {
	runCases(t, []ruleCase{
		{name: "relu", in: []array{drawn(1, -1, 1, 3, 4)}, build: op("Relu")},
		{name: "add repeated", in: []array{drawn(1, -1, 1, 3, 4), drawn(2, -1, 1, 4)}, build: op("Add")},
		{name: "add repeated inside", in: []array{drawn(1, -1, 1, 3, 4, 2), drawn(2, -1, 1, 4, 1)}, build: op("Add")},
		{name: "twice", in: []array{drawn(1, -1, 1, 3, 4)}, build: func(b *graph.Builder, in []string) string {
			return b.Node("Add", []string{b.Node("Relu", in), in[0]})
		}},
	})
}
