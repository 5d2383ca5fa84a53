package gradient_test

import (
	"math"
	"testing"

	"winnow/backbone/graph"
)

// with returns a builder of one node over the case's inputs and constant lists of integers.
func with(name string, lists [][]int64, attributes ...*graph.Attribute) func(*graph.Builder, []string) string {
	return func(b *graph.Builder, in []string) string {
		for _, l := range lists {
			if l == nil {
				in = append(in, "")
				continue
			}
			in = append(in, ints(b, l...))
		}
		return b.Node(name, in, attributes...)
	}
}

func TestArrangements(t *testing.T) {
	a := func() []array { return []array{x(1, 2, 3, 4)} }
	list := func(v ...int64) [][]int64 { return [][]int64{v} }
	runCases(t, []ruleCase{
		{name: "Reshape", in: a(), build: with("Reshape", list(0, -1))},
		{name: "Reshape all", in: a(), build: with("Reshape", list(-1))},
		{name: "Reshape batch away", in: a(), build: with("Reshape", list(-1, 2))},
		{name: "Reshape opset 5", opset: 7, in: a(), build: with("Reshape", list(0, 2, 6))},
		{name: "Flatten", in: a(), build: op("Flatten")},
		{name: "Flatten 0", in: a(), build: op("Flatten", graph.Int("axis", 0))},
		{name: "Flatten 2", in: a(), build: op("Flatten", graph.Int("axis", 2))},
		{name: "Flatten -1", in: a(), build: op("Flatten", graph.Int("axis", -1))},
		{name: "Transpose", in: a(), build: op("Transpose")},
		{name: "Transpose perm", in: a(), build: op("Transpose", graph.Ints("perm", 1, 2, 0))},
		{name: "Squeeze", in: []array{x(1, 2, 1, 4, 1)}, build: with("Squeeze", list(1, -1))},
		{name: "Squeeze all", in: []array{x(1, 2, 1, 4, 1)}, build: op("Squeeze")},
		{name: "Squeeze opset 11", opset: 11, in: []array{x(1, 2, 1, 4, 1)},
			build: op("Squeeze", graph.Ints("axes", 1))},
		{name: "Unsqueeze", in: a(), build: with("Unsqueeze", list(0, -1))},
		{name: "Unsqueeze opset 11", opset: 11, in: a(), build: op("Unsqueeze", graph.Ints("axes", 2))},
		{name: "Expand", in: []array{x(1, 2, 1, 3)}, build: with("Expand", list(1, 4, 1))},
		{name: "Expand in front", in: []array{x(1, 3, 1)}, build: with("Expand", list(2, 1, 4))},
		{name: "Expand free to fixed", in: []array{x(1, 1, 3)}, build: with("Expand", list(4, 3))},
		{name: "Tile", in: a(), build: with("Tile", list(2, 1, 3))},
		{name: "Identity", in: a(), build: op("Identity")},
		{name: "Dropout", in: a(), build: op("Dropout")},
		{name: "Dropout opset 7", opset: 7, in: a(), build: op("Dropout", graph.Float("ratio", 0.4))},
		{name: "Concat", in: []array{x(1, 2, 3), x(2, 2, 1), x(3, 2, 2)}, fixed: nil,
			build: op("Concat", graph.Int("axis", 1))},
		{name: "Concat -1", in: []array{x(1, 2, 3), x(2, 2, 1)}, build: op("Concat", graph.Int("axis", -1))},
		{name: "Concat batch", in: []array{x(1, 2, 3), x(2, 1, 3)}, build: op("Concat", graph.Int("axis", 0))},
		{name: "Concat one wanted", in: []array{x(1, 2, 3), x(2, 2, 1), x(3, 2, 2)}, fixed: []int{0, 2},
			build: op("Concat", graph.Int("axis", 1))},
		{name: "Concat one of a free batch", in: []array{x(1, 2, 3), x(2, 1, 3)}, fixed: []int{0},
			build: op("Concat", graph.Int("axis", 0))},
		{name: "Concat twice", in: a(), build: func(b *graph.Builder, in []string) string {
			return b.Node("Concat", []string{in[0], in[0]}, graph.Int("axis", 2))
		}},
		{name: "Pad", in: a(), build: with("Pad", list(0, 1, 0, 0, 2, 3))},
		{name: "Pad batch", in: a(), build: with("Pad", list(1, 0, 0, 2, 0, 0))},
		{name: "Pad cuts", in: a(), build: with("Pad", list(0, -1, 2, 0, 0, -1))},
		{name: "Pad nothing", in: a(), build: with("Pad", list(0, 0, 0, 0, 0, 0))},
		{name: "Pad opset 7", opset: 7, typ: graph.Float32, in: a(),
			build: op("Pad", graph.Ints("pads", 0, 1, 0, 0, 2, 3))},
		{name: "Pad axes", opset: 18, in: a(), build: with("Pad", [][]int64{{1, 2}, nil, {-1}})},
	})
	const far = math.MaxInt64
	var cases []ruleCase
	for _, s := range [][4][]int64{
		{{1}, {3}, {1}, nil}, {{0}, {far}, {1}, nil}, {{-2}, {far}, {2}, nil}, {{0, 1}, {2, -1}, {1, 2}, nil},
		{{0}, {far}, {0}, nil},
		{{0}, {far}, {2}, {2}}, {{1}, {far}, {2}, {3}}, {{-1}, {-far}, {2}, {-1}}, {{3}, {0}, {-1}, {-2}},
		{{0, 0}, {far, far}, {1, 2}, {2, 3}},
		{{1}, {2}, {2}, {100}}, {{1, 0}, {math.MaxInt32, 4}, {1, 2}, {1, 2}},
	} {
		cases = append(cases, ruleCase{name: "Slice", in: a(), build: with("Slice", s[:])})
	}
	cases = append(cases,
		ruleCase{name: "Slice opset 9", opset: 9, in: a(), build: op("Slice", graph.Ints("starts", 1, 0),
			graph.Ints("ends", 3, math.MaxInt32), graph.Ints("axes", 1, 2))},
		ruleCase{name: "Slice opset 9 all axes", opset: 9, in: a(),
			build: op("Slice", graph.Ints("starts", 0, 1), graph.Ints("ends", math.MaxInt32, 2))},
	)
	runCases(t, cases)
}

func TestSplit(t *testing.T) {
	// parts concatenates the parts of a split in another order, with the first part squared.
	parts := func(n int, use []int, lists [][]int64, attributes ...*graph.Attribute) func(b *graph.Builder,
		in []string) string {
		return func(b *graph.Builder, in []string) string {
			node := &graph.Node{Op: "Split", Inputs: in, Attributes: attributes}
			for _, l := range lists {
				node.Inputs = append(node.Inputs, ints(b, l...))
			}
			for range n {
				node.Outputs = append(node.Outputs, b.Fresh("part"))
			}
			b.Add(node)
			joined := []string{b.Node("Mul", []string{node.Outputs[use[0]], node.Outputs[use[0]]})}
			for _, u := range use[1:] {
				joined = append(joined, node.Outputs[u])
			}
			return b.Node("Concat", joined, graph.Int("axis", attributes[0].Int))
		}
	}
	a := func() []array { return []array{x(1, 2, 6, 4)} }
	runCases(t, []ruleCase{
		{name: "equal", in: a(), build: parts(3, []int{2, 0, 1}, nil, graph.Int("axis", 1))},
		{name: "sizes", in: a(), build: parts(3, []int{2, 0, 1}, [][]int64{{1, 3, 2}}, graph.Int("axis", 1))},
		{name: "one unused", in: a(), build: parts(3, []int{2, 0}, [][]int64{{1, 3, 2}}, graph.Int("axis", 1))},
		{name: "opset 11", opset: 11, in: a(), build: parts(2, []int{1, 0}, nil, graph.Int("axis", -1),
			graph.Ints("split", 3, 1))},
		{name: "uneven", opset: 18, in: []array{x(1, 2, 7, 4)},
			build: parts(4, []int{3, 0, 1, 2}, nil, graph.Int("axis", 1), graph.Int("num_outputs", 4))},
		{name: "batch", in: a(), build: parts(2, []int{1, 0}, nil, graph.Int("axis", 0))},
	})
}

func TestGather(t *testing.T) {
	at := func(dims []int64, axis int64, places ...int64) func(b *graph.Builder, in []string) string {
		return func(b *graph.Builder, in []string) string {
			list := b.Constant(graph.NewTensor("places", places, dims...))
			return b.Node("Gather", []string{in[0], list}, graph.Int("axis", axis))
		}
	}
	a := func() []array { return []array{x(1, 2, 5, 3)} }
	runCases(t, []ruleCase{
		{name: "one", in: a(), build: at(nil, 1, 2)},
		{name: "one from the end", in: a(), build: at(nil, 1, -1)},
		{name: "list of one", in: a(), build: at([]int64{1}, 1, 3)},
		{name: "table of one", in: a(), build: at([]int64{1, 1}, 1, 3)},
		{name: "distinct", in: a(), build: at([]int64{3}, 1, 4, 0, -2)},
		{name: "repeated", in: a(), build: at([]int64{4}, 1, 4, 0, -1, 0)},
		{name: "table", in: a(), build: at([]int64{2, 3}, 1, 4, 0, -1, 0, 2, 0)},
		{name: "table on the last", in: a(), build: at([]int64{2, 2}, -1, 0, 1, -1, 0)},
		{name: "table distinct", in: a(), build: at([]int64{2, 2}, 1, 0, 1, 4, 3)},
		{name: "of the batch", in: a(), build: at([]int64{3}, 0, 1, 0, 1)},
		{name: "one of the batch", in: a(), build: at(nil, 0, 1)},
		{name: "vector", in: []array{x(1, 6)}, build: at([]int64{2, 2}, 0, 5, 0, 0, 2)},
	})
}
