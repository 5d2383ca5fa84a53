package graph_test

import (
	"math"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
)

// mixed is a network with every kind of node that Lower treats in its own way: a product and a convolution, a constant
// made by a node, numbers made from none, a resize with float32 scales, integers, a cast, two outputs.
func mixed(t *testing.T, large float32) *graph.Model {
	t.Helper()
	b := graph.NewBuilder("mixed", 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(8), graph.Fixed(8)})
	w := b.Constant(graph.NewTensor("w", numbers(1, 5*3*3*3), 5, 3, 3, 3))
	y := b.Node("Conv", []string{x, w}, graph.Ints("pads", 1, 1, 1, 1))
	y = b.Node("Relu", []string{y})
	scales := b.Constant(graph.NewTensor("scales", []float32{1, 1, .5, .5}, 4))
	y = b.Node("Resize", []string{y, "", scales})
	made := b.Node("Constant", nil, graph.TensorValue("value", graph.NewTensor("", []float32{large}, 1)))
	y = b.Node("Mul", []string{y, made})
	filled := b.Node("ConstantOfShape", []string{b.Constant(graph.NewTensor("one", []int64{1}, 1))},
		graph.TensorValue("value", graph.NewTensor("", []float32{.25}, 1)))
	y = b.Node("Add", []string{y, filled})
	size := b.Node("Size", []string{filled})
	y = b.Node("Add", []string{y, b.Node("Cast", []string{size}, graph.Int("to", int64(graph.Float32)))})
	b.NodeTo("flat", "Flatten", []string{y})
	v := b.Constant(graph.NewTensor("v", numbers(2, 80*6), 80, 6))
	b.NodeTo("features", "MatMul", []string{"flat", v})
	b.Output("features", "flat")
	return b.Model()
}

func cosine(a, b []float32) float64 {
	var aa, bb, ab float64
	for i := range a {
		aa, bb, ab = aa+float64(a[i])*float64(a[i]), bb+float64(b[i])*float64(b[i]), ab+float64(a[i])*float64(b[i])
	}
	return ab / math.Sqrt(aa*bb)
}

// A lowered network has the inputs and outputs of the model and nearly its numbers, and they are rounded: they differ.
func TestLower(t *testing.T) {
	m := mixed(t, 2)
	l, err := graph.Lower(m)
	if err != nil {
		t.Fatal(err)
	}
	if graph.Half(m) || !graph.Half(l) {
		t.Errorf("numbers of 16 bits before: %v, after: %v", graph.Half(m), graph.Half(l))
	}
	x := ort.Float32s(numbers(3, 2*3*8*8), 2, 3, 8, 8)
	want, found := exec(t, m, x), exec(t, l, x)
	for i := range want {
		cos := cosine(want[i].F32, found[i].F32)
		same := true
		for k, v := range want[i].F32 {
			same = same && v == found[i].F32[k]
		}
		if cos < .999999 || same {
			t.Errorf("output %d: cosine %.8f, the same to the bit: %v", i, cos, same)
		}
	}
	// 70,000 is beyond float16.
	if l, err = graph.Lower(mixed(t, 70_000)); err != nil {
		t.Fatal(err)
	}
	finite := true
	for _, v := range exec(t, l, x)[0].F32 {
		finite = finite && v-v == 0
	}
	if finite {
		t.Error("70,000 is finite in float16")
	}
}
