package graph_test

import (
	"fmt"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
)

// ruleCase is one node after inputs of known shape. The first size is the free batch "N".
type ruleCase struct {
	name   string
	opset  int64
	shapes [][]int64 // shapes of the float32 inputs at run time; the first size of each input of rank > 0 is N
	build  func(b *graph.Builder, in []string) string
	exact  bool // whether every size must be known before the run
}

func ints(b *graph.Builder, values ...int64) string {
	return b.Constant(graph.NewTensor("ints", values, int64(len(values))))
}

// one returns a builder of a single node.
func one(op string, attributes ...*graph.Attribute) func(*graph.Builder, []string) string {
	return func(b *graph.Builder, in []string) string { return b.Node(op, in, attributes...) }
}

// with is like one, with a list of integers as an additional input.
func with(op string, list []int64, attributes ...*graph.Attribute) func(*graph.Builder, []string) string {
	return func(b *graph.Builder, in []string) string {
		return b.Node(op, append(in, ints(b, list...)), attributes...)
	}
}

// conv2 builds a Conv with 4 filters over 2 maps.
func conv2(attributes ...*graph.Attribute) func(*graph.Builder, []string) string {
	return func(b *graph.Builder, in []string) string {
		return b.Node("Conv", []string{in[0], weight(b, 4, 2, 3, 2)}, attributes...)
	}
}

var ruleCases = []ruleCase{
	{"Relu", 13, [][]int64{{3, 4}}, one("Relu"), true},
	{"Cast", 13, [][]int64{{3, 4}}, one("Cast", graph.Int("to", int64(graph.Float64))), true},
	{"Dropout", 13, [][]int64{{3, 4}}, one("Dropout"), true},
	{"Softmax", 13, [][]int64{{3, 4}}, one("Softmax"), true},
	{"Add one axis less", 13, [][]int64{{3, 4, 5}, {3, 1, 1}}, one("Add"), true},
	{"Mul by a row", 13, [][]int64{{3, 4}},
		func(b *graph.Builder, in []string) string { return b.Node("Mul", []string{weight(b, 4), in[0]}) }, true},
	{"Max of three", 13, [][]int64{{3, 4}, {3, 1}, {3, 4}}, one("Max"), true},
	{"Gemm", 13, [][]int64{{3, 4}}, func(b *graph.Builder, in []string) string {
		return b.Node("Gemm", []string{in[0], weight(b, 5, 4)}, graph.Int("transB", 1))
	}, true},
	{"Gemm of a transpose", 13, [][]int64{{3, 4}}, func(b *graph.Builder, in []string) string {
		return b.Node("Gemm", []string{in[0], weight(b, 3, 6)}, graph.Int("transA", 1))
	}, true},
	{"MatMul of matrices", 13, [][]int64{{3, 4}}, func(b *graph.Builder, in []string) string {
		return b.Node("MatMul", []string{in[0], weight(b, 4, 6)})
	}, true},
	{"MatMul of stacks", 13, [][]int64{{3, 2, 5, 4}}, func(b *graph.Builder, in []string) string {
		return b.Node("MatMul", []string{in[0], weight(b, 2, 4, 6)})
	}, true},
	{"MatMul by a vector", 13, [][]int64{{3, 5, 4}}, func(b *graph.Builder, in []string) string {
		return b.Node("MatMul", []string{in[0], weight(b, 4)})
	}, true},
	{"Conv", 13, [][]int64{{3, 2, 9, 8}}, conv2(), true},
	{"Conv strides pads dilations", 13, [][]int64{{3, 2, 9, 8}},
		conv2(graph.Ints("strides", 2, 3), graph.Ints("pads", 1, 0, 2, 1), graph.Ints("dilations", 2, 1)), true},
	{"Conv same", 13, [][]int64{{3, 2, 9, 8}},
		conv2(graph.String("auto_pad", "SAME_UPPER"), graph.Ints("strides", 2, 2)), true},
	{"Conv valid", 13, [][]int64{{3, 2, 9, 8}}, conv2(graph.String("auto_pad", "VALID"), graph.Ints("strides", 2, 2)),
		true},
	{"Conv of rank 3", 13, [][]int64{{3, 2, 9}}, func(b *graph.Builder, in []string) string {
		return b.Node("Conv", []string{in[0], weight(b, 4, 1, 3)}, graph.Int("group", 2))
	}, true},
	{"MaxPool floor", 13, [][]int64{{3, 2, 9, 8}},
		one("MaxPool", graph.Ints("kernel_shape", 3, 3), graph.Ints("strides", 2, 2)), true},
	{"MaxPool ceil", 13, [][]int64{{3, 2, 9, 8}},
		one("MaxPool", graph.Ints("kernel_shape", 3, 3), graph.Ints("strides", 2, 2), graph.Int("ceil_mode", 1)), true},
	{"MaxPool ceil with a last window in the padding", 13, [][]int64{{3, 2, 6, 6}},
		one("MaxPool", graph.Ints("kernel_shape", 2, 2), graph.Ints("strides", 4, 4), graph.Ints("pads", 1, 1, 1, 1),
			graph.Int("ceil_mode", 1)), true},
	{"AveragePool", 13, [][]int64{{3, 2, 9, 8}},
		one("AveragePool", graph.Ints("kernel_shape", 2, 3), graph.Ints("pads", 1, 1, 1, 1)), true},
	{"GlobalAveragePool", 13, [][]int64{{3, 2, 9, 8}}, one("GlobalAveragePool"), true},
	{"LRN", 13, [][]int64{{3, 2, 9, 8}}, one("LRN", graph.Int("size", 5)), true},
	{"ReduceMean attribute", 13, [][]int64{{3, 2, 9, 8}},
		one("ReduceMean", graph.Ints("axes", 2, -1), graph.Int("keepdims", 0)), true},
	{"ReduceMean input", 18, [][]int64{{3, 2, 9, 8}}, with("ReduceMean", []int64{-1, 2}), true},
	{"ReduceSum all", 13, [][]int64{{3, 2}}, one("ReduceSum", graph.Int("keepdims", 0)), true},
	{"ReduceL2", 12, [][]int64{{3, 2}}, one("ReduceL2", graph.Ints("axes", 1)), true},
	{"ArgMax", 13, [][]int64{{3, 2, 9}}, one("ArgMax", graph.Int("axis", -1), graph.Int("keepdims", 0)), true},
	{"Reshape zero and rest", 13, [][]int64{{3, 2, 9, 8}}, with("Reshape", []int64{0, -1}), true},
	{"Reshape free first", 13, [][]int64{{3, 2, 9, 8}}, with("Reshape", []int64{-1, 18, 8}), true},
	{"Reshape two into one", 13, [][]int64{{3, 2, 9, 8}}, with("Reshape", []int64{-1, 9, 8}), false}, // 2·N has no name
	{"Flatten", 13, [][]int64{{3, 2, 9, 8}}, one("Flatten"), true},
	{"Flatten last", 13, [][]int64{{3, 2, 9}}, one("Flatten", graph.Int("axis", -1)), false},
	{"Flatten 0", 13, [][]int64{{3, 1, 1}}, one("Flatten", graph.Int("axis", 0)), true},
	{"Transpose", 13, [][]int64{{3, 2, 9}}, one("Transpose"), true},
	{"Transpose perm", 13, [][]int64{{3, 2, 9}}, one("Transpose", graph.Ints("perm", 1, 0, 2)), true},
	{"Squeeze attribute", 12, [][]int64{{3, 1, 9, 1}}, one("Squeeze", graph.Ints("axes", 3)), true},
	{"Squeeze input", 13, [][]int64{{3, 1, 9, 1}}, with("Squeeze", []int64{1, -1}), true},
	{"Squeeze all", 13, [][]int64{{3, 1, 9, 1}}, one("Squeeze"), true},
	{"Unsqueeze attribute", 12, [][]int64{{3, 9}}, one("Unsqueeze", graph.Ints("axes", 1, 3)), true},
	{"Unsqueeze input", 13, [][]int64{{3, 9}}, with("Unsqueeze", []int64{-1}), true},
	{"Expand", 13, [][]int64{{3, 1}}, with("Expand", []int64{2, 1, 5}), true},
	{"Concat", 13, [][]int64{{3, 4}, {3, 5}}, one("Concat", graph.Int("axis", -1)), true},
	{"Split equal", 12, [][]int64{{3, 6}}, inferSplit(3, nil), true},
	{"Split sizes", 13, [][]int64{{3, 6}}, inferSplit(2, []int64{4, 2}), true},
	{"Split uneven", 18, [][]int64{{3, 7}}, inferSplit(3, nil, graph.Int("num_outputs", 3)), true},
	{"Slice attribute", 9, [][]int64{{3, 6, 8}}, one("Slice", graph.Ints("axes", 1, 2), graph.Ints("starts", 1, -3),
		graph.Ints("ends", 4, 100)), true},
	{"Slice input", 13, [][]int64{{3, 6, 8}}, slices4([]int64{1, 7}, []int64{6, -9}, []int64{1, 2}, []int64{2, -3}),
		true},
	{"Slice backwards to the first", 13, [][]int64{{3, 6, 8}},
		slices4([]int64{6}, []int64{-100}, []int64{2}, []int64{-3}), true},
	{"Slice backwards from beyond", 13, [][]int64{{3, 6, 8}},
		slices4([]int64{100}, []int64{-100}, []int64{2}, []int64{-7}), true},
	{"Slice by more than there is", 13, [][]int64{{3, 6, 8}},
		slices4([]int64{-1}, []int64{-100}, []int64{2}, []int64{-50}), true},
	{"Slice nothing", 13, [][]int64{{3, 6, 8}}, slices4([]int64{4}, []int64{2}, []int64{1}, []int64{1}), true},
	{"Slice all", 13, [][]int64{{3, 6, 8}}, slices4([]int64{0}, []int64{1 << 40}, []int64{0}, []int64{1}), true},
	{"Gather one", 13, [][]int64{{3, 6, 8}}, func(b *graph.Builder, in []string) string {
		return b.Node("Gather", []string{in[0], b.Constant(graph.NewTensor("i", []int64{2}))}, graph.Int("axis", 1))
	}, true},
	{"Gather some", 13, [][]int64{{3, 6, 8}}, with("Gather", []int64{2, 2, 5, 0}, graph.Int("axis", -1)), true},
	{"Gather a size", 13, [][]int64{{3, 6, 8}}, func(b *graph.Builder, in []string) string { // x.view(x.size(0), -1)
		first := b.Node("Gather", []string{b.Node("Shape", in), b.Constant(graph.NewTensor("i", []int64{0}))})
		to := b.Node("Concat", []string{b.Node("Unsqueeze", []string{first, ints(b, 0)}), ints(b, -1)},
			graph.Int("axis", 0))
		return b.Node("Reshape", []string{in[0], to})
	}, true},
	{"Tile", 13, [][]int64{{3, 6, 8}}, with("Tile", []int64{1, 2, 3}), true},
	{"Tile the batch", 13, [][]int64{{3, 6, 8}}, with("Tile", []int64{2, 2, 3}), false},
	{"LayerNormalization's deviation", 17, [][]int64{{3, 6, 8}}, func(b *graph.Builder, in []string) string {
		scale := b.Constant(graph.NewTensor("scale", make([]float32, 8), 8))
		b.Add(&graph.Node{Op: "LayerNormalization", Inputs: []string{in[0], scale},
			Outputs: []string{"y", "mean", "deviation"}})
		return "deviation"
	}, true},
	{"Pad attribute", 10, [][]int64{{3, 6}}, one("Pad", graph.Ints("pads", 0, 1, 0, 2)), true},
	{"Pad input", 13, [][]int64{{3, 6}}, with("Pad", []int64{0, 1, 0, -2}), true},
	{"Pad the batch", 13, [][]int64{{3, 6}}, with("Pad", []int64{1, 1, 1, 2}), false},
	{"Pad axes", 18, [][]int64{{3, 6, 7}}, func(b *graph.Builder, in []string) string {
		return b.Node("Pad", []string{in[0], ints(b, 1, 2), "", ints(b, -1)})
	}, true},
	{"shape by value", 13, [][]int64{{3, 6, 7}}, func(b *graph.Builder, in []string) string {
		s := b.Node("Shape", []string{in[0]})
		n := b.Node("Slice", []string{s, ints(b, 0), ints(b, 1), ints(b, 0)})
		hw := b.Node("Slice", []string{s, ints(b, 1), ints(b, 3), ints(b, 0)})
		area := b.Node("Mul", []string{b.Node("Gather", []string{hw, ints(b, 0)}),
			b.Node("Gather", []string{hw, ints(b, 1)})})
		half := b.Node("Div", []string{b.Node("Sub", []string{b.Node("Add", []string{area, ints(b, 4)}), ints(b, 4)}),
			ints(b, 2)})
		same := b.Node("Mul", []string{n, ints(b, 1)})
		return b.Node("Reshape", []string{in[0],
			b.Node("Concat", []string{same, half, ints(b, -1)}, graph.Int("axis", 0))})
	}, true},
	{"shape with Equal and Where", 13, [][]int64{{3, 6, 1}}, func(b *graph.Builder, in []string) string {
		asked := ints(b, -1, 6, 5) // -1: unchanged, in PyTorch's expand
		ones := b.Node("ConstantOfShape", []string{ints(b, 3)},
			graph.TensorValue("value", graph.NewTensor("", []int64{1}, 1)))
		stay := b.Node("Equal", []string{asked, b.Node("Mul", []string{ones, ints(b, -1)})})
		return b.Node("Expand", []string{in[0], b.Node("Where", []string{stay, ones, asked})})
	}, true},
	{"scalar Constant", 13, [][]int64{{3, 6}}, func(b *graph.Builder, in []string) string {
		at := b.Node("Unsqueeze", []string{b.Node("Constant", nil, graph.Int("value_int", 1)), ints(b, 0)})
		return b.Node("Unsqueeze", []string{in[0], at})
	}, true},
	{"Constant list", 13, [][]int64{{3, 6}}, func(b *graph.Builder, in []string) string {
		return b.Node("Reshape", []string{in[0], b.Node("Constant", nil, graph.Ints("value_ints", 0, 2, 3))})
	}, true},
	{"Shape start end", 15, [][]int64{{3, 6, 7}}, func(b *graph.Builder, in []string) string {
		return b.Node("Reshape", []string{in[0], b.Node("Concat",
			[]string{b.Node("Shape", []string{in[0]}, graph.Int("end", 1)), ints(b, 42)}, graph.Int("axis", 0))})
	}, true},
	{"com.microsoft's Gelu", 13, [][]int64{{3, 6, 7}}, func(b *graph.Builder, in []string) string {
		b.Import("com.microsoft", 1)
		b.Add(&graph.Node{Op: "Gelu", Domain: "com.microsoft", Inputs: in, Outputs: []string{"y"}})
		return "y"
	}, true},
	{"an unknown operator", 13, [][]int64{{3, 6, 7}}, func(b *graph.Builder, in []string) string {
		return b.Node("Hardmax", []string{b.Node("MeanVarianceNormalization", in)})
	}, false},
	{"TopK", 13, [][]int64{{3, 4, 5}}, func(b *graph.Builder, in []string) string {
		b.Add(&graph.Node{Op: "TopK", Inputs: []string{in[0], ints(b, 2)}, Outputs: []string{"values", "places"},
			Attributes: []*graph.Attribute{graph.Int("axis", 1)}})
		return "places"
	}, true},
	{"Pad as PyTorch traces it", 13, [][]int64{{3, 2, 6, 7}}, func(b *graph.Builder, in []string) string {
		zeros := b.Node("ConstantOfShape", []string{ints(b, 4)}, graph.TensorValue("value", graph.NewTensor("",
			[]int64{0}, 1)))
		list := b.Node("Concat", []string{ints(b, 1, 2, 0, 3), zeros}, graph.Int("axis", 0))
		list = b.Node("Reshape", []string{list, ints(b, -1, 2)})
		list = b.Node("Slice", []string{list, ints(b, -1), ints(b, -1<<63+1), ints(b, 0), ints(b, -1)})
		list = b.Node("Reshape", []string{b.Node("Transpose", []string{list}), ints(b, -1)})
		return b.Node("Pad", []string{in[0], b.Node("Cast", []string{list}, graph.Int("to", int64(graph.Int64)))})
	}, true},
	{"Pad to a multiple", 13, [][]int64{{3, 2, 6, 9}}, func(b *graph.Builder, in []string) string {
		size := b.Node("Gather", []string{b.Node("Shape", in), ints(b, 3)})
		more := b.Node("Mod", []string{b.Node("Sub", []string{ints(b, 4), b.Node("Mod", []string{size, ints(b,
			4)})}), ints(b, 4)})
		return b.Node("Pad", []string{in[0], b.Node("Concat", []string{ints(b, 0, 0, 0, 0, 0, 0, 0), more},
			graph.Int("axis", 0))})
	}, true},
	{"Reshape by a table of sizes", 13, [][]int64{{3, 4, 6}}, func(b *graph.Builder, in []string) string {
		table := b.Node("Concat", []string{b.Node("Reshape", []string{ints(b, 9, 6, 9, 0), ints(b, 2, 2)}),
			b.Node("Unsqueeze", []string{ints(b, 12, -1), ints(b, 0)})}, graph.Int("axis", 0)) // [[9,6],[9,0],[12,-1]]
		row := b.Node("Gather", []string{b.Node("Transpose", []string{table}), ints(b, 1)}) // [[6,0,-1]]
		first := b.Node("Reshape", []string{b.Node("Slice", []string{row, ints(b, -1), ints(b, -5), ints(b, 1),
			ints(b, -1)}), ints(b, -1)})
		return b.Node("Reshape", []string{in[0], b.Node("Max", []string{first, ints(b, -1)})}) // -1, 0, 6
	}, true},
}

func inferSplit(parts int, sizes []int64, attributes ...*graph.Attribute) func(*graph.Builder, []string) string {
	return func(b *graph.Builder, in []string) string {
		n := &graph.Node{Op: "Split", Inputs: in, Attributes: append(attributes, graph.Int("axis", 1))}
		if sizes != nil {
			n.Inputs = append(n.Inputs, ints(b, sizes...))
		}
		for range parts {
			n.Outputs = append(n.Outputs, b.Fresh("part"))
		}
		b.Add(n)
		return n.Outputs[parts-1]
	}
}

func slices4(lists ...[]int64) func(*graph.Builder, []string) string {
	return func(b *graph.Builder, in []string) string {
		for _, l := range lists {
			in = append(in, ints(b, l...))
		}
		return b.Node("Slice", in)
	}
}

// TestRules runs each case with ONNX Runtime and compares the inferred shape with the real shape.
func TestRules(t *testing.T) {
	for _, c := range ruleCases {
		t.Run(c.name, func(t *testing.T) {
			b := graph.NewBuilder("rule", c.opset)
			var in []string
			var feed []ort.Tensor
			for i, s := range c.shapes {
				shape := graph.ShapeOf(s...)
				shape[0] = graph.Free("N")
				in = append(in, b.Input(fmt.Sprintf("x%d", i), graph.Float32, shape))
				n := int64(1)
				for _, d := range s {
					n *= d
				}
				feed = append(feed, ort.Float32s(numbers(uint64(i), int(n)), s...))
			}
			out := c.build(b, in)
			b.Output(out)
			m := b.Model()
			inferred := graph.Infer(m)[out]
			if out := m.Graph.Outputs[0]; out.Shape == nil || !c.exact { // let the runtime infer the shape
				out.Shape = nil
			}
			real := exec(t, m, feed...)[0]
			compareShape(t, inferred, out, real.Shape, map[string]int64{"N": c.shapes[0][0]}, c.exact)
			if inferred != nil && inferred.Type != 0 && int(inferred.Type) != int(real.Type()) {
				t.Errorf("inferred %v, expected type %v", inferred, real.Type())
			}
		})
	}
}

// TestRankBomb checks that a graph that doubles a tensor's rank at every node is tracked only up to a limit.
func TestRankBomb(t *testing.T) {
	b := graph.NewBuilder("bomb", 13)
	x := b.Input("x", graph.Int64, graph.ShapeOf(1, 1))
	for range 60 {
		x = b.Node("Gather", []string{x, x})
	}
	b.Output(x)
	if v := graph.Infer(b.Model())[x]; v != nil && v.Shape != nil {
		t.Errorf("found %v", v)
	}
}
