package trial

import (
	"testing"

	"winnow/backbone/graph"
	"winnow/internal/testing/orttest"
)

// quantised builds a convolution, a pooling and a classifier in float32 with weights on a grid of 8 bits, and the same
// as exporters quantise it: in the form QDQ or QLinear.
func quantised(form string) *graph.Model {
	n := newNet(true, 8, 8)
	b := n.Builder
	grid := func(dims ...int64) (whole, integers string) {
		size := int64(1)
		for _, d := range dims {
			size *= d
		}
		values, bytes := make([]float32, size), make([]uint8, size)
		for i := range values {
			bytes[i] = uint8(n.rng.IntN(255))
			values[i] = (float32(bytes[i]) - 128) / 256
		}
		if form == "" {
			return b.Constant(graph.NewTensor("w", values, dims...)), ""
		}
		return "", b.Constant(graph.NewTensor("q", bytes, dims...))
	}
	scale := func(v float32) string { return b.Constant(graph.NewTensor("scale", []float32{v})) }
	zero := func(v uint8) string { return b.Constant(graph.NewTensor("zero", []uint8{v})) }
	kernel, kernelQ := grid(6, 3, 4, 4)
	matrix, matrixQ := grid(6, 10)
	w := []string{scale(1. / 256), zero(128)}
	x, maps, logits := []string{scale(1. / 255), zero(0)}, []string{scale(1. / 32), zero(128)},
		[]string{scale(1. / 32), zero(128)}
	strides := graph.Ints("strides", 4, 4)
	with := func(first string, lists ...[]string) []string {
		all := []string{first}
		for _, l := range lists {
			all = append(all, l...)
		}
		return all
	}
	through := func(t string, s []string) string { // quantise and back
		return b.Node("DequantizeLinear", with(b.Node("QuantizeLinear", with(t, s)), s))
	}
	switch form {
	case "":
		y := b.Node("GlobalAveragePool", []string{b.Node("Conv", []string{n.x, kernel}, strides)})
		b.Output(b.NodeTo("logits", "MatMul", []string{b.Node("Flatten", []string{y}), matrix}))
	case "QDQ":
		y := b.Node("Conv", []string{through(n.x, x), b.Node("DequantizeLinear", with(kernelQ, w))}, strides)
		y = through(b.Node("GlobalAveragePool", []string{through(y, maps)}), maps)
		y = b.Node("MatMul", []string{b.Node("Flatten", []string{y}), b.Node("DequantizeLinear", with(matrixQ, w))})
		b.Output(through(y, logits))
	case "QLinear":
		b.Import("com.microsoft", 1)
		y := b.Node("QLinearConv", with(b.Node("QuantizeLinear", with(n.x, x)), x, []string{kernelQ}, w, maps), strides)
		pooled := b.Fresh("pooled")
		b.Add(&graph.Node{Op: "QLinearGlobalAveragePool", Domain: "com.microsoft", Inputs: with(y, maps, maps),
			Outputs: []string{pooled}, Attributes: []*graph.Attribute{graph.Int("channels_last", 0)}})
		y = b.Node("QLinearMatMul", with(b.Node("Flatten", []string{pooled}), maps, []string{matrixQ}, w, logits))
		b.Output(b.Node("DequantizeLinear", with(y, logits)))
	}
	return b.Model()
}

// Quantised networks give the features of the network in float32, up to the grid of their activations, as float32.
func TestQuantised(t *testing.T) {
	orttest.Runtime(t)
	pre := unit(8, 8)
	whole, err := Add(fileOf(quantised(""), pre))
	if err != nil {
		t.Fatal(err)
	}
	want := vectors(t, whole, pre, 3)
	for _, form := range []string{"QDQ", "QLinear"} {
		m := quantised(form)
		if graph.Quantised(m) == "" || m.Graph.Parameters() < 6*3*4*4+60 {
			t.Errorf("%s: %q, %d weights", form, graph.Quantised(m), m.Graph.Parameters())
		}
		p, err := Add(fileOf(m, pre))
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		if p.Dim != 6 {
			t.Errorf("%s: %d numbers of %s, %s", form, p.Dim, p.Cut, p.Why)
		}
		found := vectors(t, p, pre, 3)
		for i, v := range want.Data {
			if d := found.Data[i] - v; d > 1./24 || d < -1./24 {
				t.Errorf("%s: number %d is %v, expected %v", form, i, found.Data[i], v)
			}
		}
	}
}

// An output of a few numbers is an answer: the error names a tensor before it that works.
func TestAnswers(t *testing.T) {
	orttest.Runtime(t)
	pre := unit(8, 8)
	n := newNet(true, 8, 8)
	y := n.reshape(n.conv(n.x, 6, 3, 4, 4), -1, 24)
	a, b := n.dense(y, 24, 12), n.dense(y, 24, 12)
	score := n.Node("ReduceSum", []string{n.Node("Mul", []string{a, b}), n.ints(1)})
	n.Output(score)
	m := n.Model()
	_, err := Add(fileOf(m, pre))
	list := graph.Candidates(m, 5)
	if err == nil || len(list) == 0 || err.Error() != `models: net.onnx: graph: output "ReduceSum" has 1 numbers for `+
		`each image, an answer, expected features: take the tensor before it as the output, `+list[0].String() {
		t.Errorf("%v, candidates %v", err, list)
	}
	for _, c := range list {
		if p, err := Prepare(fileOf(m, pre), c.Name); err != nil || p.Dim < 4 {
			t.Errorf("%s: %v", c.Name, err)
		}
	}
}

// A network for strips sees as wide a picture as it takes.
func TestNotSquare(t *testing.T) {
	orttest.Runtime(t)
	for _, size := range [][2]int{{16, 8}, {4, 32}} {
		pre := unit(size[0], size[1])
		n := newNet(true, int64(size[0]), int64(size[1]))
		y := n.conv(n.x, 6, 3, 4, 4)
		p, err := Add(fileOf(n.end(n.Node("Flatten", []string{y}), 6*int64(size[0]*size[1]/16)), pre))
		if err != nil {
			t.Fatal(err)
		}
		if p.Dim != 6*size[0]*size[1]/16 {
			t.Errorf("%d numbers", p.Dim)
		}
		if _, err := p.Activations(pre); err != nil {
			t.Error(err)
		}
	}
}
