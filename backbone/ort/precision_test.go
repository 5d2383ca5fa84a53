package ort_test

import (
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
)

// one is a model of one operator of 16 bits between casts.
func one(op string, opset int64, to graph.DataType) *graph.Model {
	b := graph.NewBuilder("one", opset)
	four := graph.Shape{graph.Fixed(4), graph.Fixed(4), graph.Fixed(4), graph.Fixed(4)}
	rank, weights, attributes := 4, 0, []*graph.Attribute(nil)
	var rest []string
	ints := func(v ...int64) { rest = append(rest, b.Constant(graph.NewTensor("i", v, int64(len(v))))) }
	switch op {
	case "Conv":
		weights = 4
	case "MatMul", "Gemm":
		rank, weights = 2, 2
	case "Add", "Sub", "Mul", "Div", "Max", "Min":
		weights = 4
	case "Where":
		weights = 4
	case "LayerNormalization":
		weights = 1
	case "Gelu":
		attributes = append(attributes, graph.String("approximate", "tanh"))
	case "AveragePool":
		attributes = append(attributes, graph.Ints("kernel_shape", 2, 2))
	case "Concat":
		weights, attributes = 4, append(attributes, graph.Int("axis", 1))
	case "Reshape":
		ints(16, 16)
	case "Unsqueeze", "Gather":
		ints(0)
	case "Slice":
		ints(0)
		ints(2)
	case "Expand":
		ints(4, 4, 4, 4)
	}
	x := b.Input("x", graph.Float32, four[:rank])
	in := []string{b.Node("Cast", []string{x}, graph.Int("to", int64(to)))}
	if weights > 0 {
		n, dims := 1, []int64{4, 4, 4, 4}[:weights]
		for range dims {
			n *= 4
		}
		w := b.Constant(graph.NewTensor("w", make([]float32, n), dims...))
		in = append(in, b.Node("Cast", []string{w}, graph.Int("to", int64(to))))
	}
	if op == "Where" {
		in = append([]string{b.Node("Cast", []string{x}, graph.Int("to", int64(graph.Bool)))}, in...)
	}
	y := b.NodeTo("y", op, append(in, rest...), attributes...)
	b.Output(b.Node("Cast", []string{y}, graph.Int("to", int64(graph.Float32))))
	m := b.Model()
	if m.Graph.Outputs[0].Shape == nil { // the wrapper would ask the CPU, which lacks the operator
		m.Graph.Outputs[0].Type, m.Graph.Outputs[0].Shape = graph.Float32, graph.Shape{graph.Free("n")}
	}
	return m
}

// TestPrecisionNoGPU loads every operator that graph.Lower lowers to bfloat16 onto CUDA, which must have it: the CPU,
// on which the library would otherwise compute it, has none of them but those that only move numbers.
func TestPrecisionNoGPU(t *testing.T) {
	cuda, cpu := standIn(t, ort.GPU{})
	count := 0
	for _, op := range []string{"Conv", "MatMul", "Gemm", "Add", "Sub", "Mul", "Div", "Neg", "Sum", "Max", "Min",
		"Where", "Relu", "Clip", "Sigmoid", "Tanh", "Erf", "Gelu", "HardSigmoid", "HardSwish", "Softplus", "Softmax",
		"LayerNormalization", "AveragePool", "ReduceSum", "Identity", "Reshape", "Transpose", "Flatten", "Squeeze",
		"Unsqueeze", "Concat", "Slice", "Gather", "Expand", "BatchNormalization", "MaxPool", "GlobalAveragePool"} {
		for opset := int64(11); opset <= 22; opset++ {
			if !graph.Lowers(op, opset, graph.BFloat16) {
				continue
			}
			count++
			s, err := cuda.NewSession(one(op, opset, graph.BFloat16).Marshal(), ort.SessionOptions{})
			if err != nil {
				t.Errorf("%s of operator set %d: %v", op, opset, err)
				continue
			}
			_ = s.Close()
		}
	}
	if count < 200 {
		t.Errorf("%d operators of all sets were tried", count)
	}
	if _, err := cpu.NewSession(one("Conv", 22, graph.BFloat16).Marshal(), ort.SessionOptions{}); err == nil {
		t.Error("the CPU convolves bfloat16: the test above shows nothing")
	}
}
