package gradient_test

import (
	"fmt"
	"slices"
	"testing"

	"winnow/backbone/graph"
)

func TestReductions(t *testing.T) {
	a := func() []array { return []array{positive(1, 2, 3, 4)} }
	var cases []ruleCase
	for _, o := range []string{"ReduceSum", "ReduceMean", "ReduceL2", "ReduceSumSquare", "ReduceMax",
		"ReduceL1"} {
		for _, axes := range [][]int64{{1}, {-1}, {1, 2}, {2, 1}, {0}, {0, -1}, nil} {
			for _, keep := range []int64{0, 1} {
				name := fmt.Sprint(o, axes, keep)
				attributes := []*graph.Attribute{graph.Int("keepdims", keep)}
				cases = append(cases, ruleCase{name: name + " input", opset: 18, in: a(),
					build: with(o, [][]int64{axes}, attributes...)})
				if axes != nil {
					attributes = append(attributes, graph.Ints("axes", axes...))
				}
				cases = append(cases, ruleCase{name: name, opset: 12, in: a(), build: op(o, attributes...)})
			}
		}
	}
	for _, o := range []string{"ReduceSum", "ReduceMean"} {
		cases = append(cases, ruleCase{name: o + " none", opset: 18, in: a(),
			build: op(o, graph.Int("noop_with_empty_axes", 1))})
	}
	runCases(t, cases)
}

func TestDistributions(t *testing.T) {
	var cases []ruleCase
	for _, o := range []string{"Softmax", "LogSoftmax"} {
		for _, opset := range []int64{11, 13, 17} {
			cases = append(cases, ruleCase{name: fmt.Sprint(o, opset), opset: opset, in: []array{x(1, 2, 3, 4)},
				build: op(o)})
			for _, axis := range []int64{0, 1, 2, -1, -2} {
				cases = append(cases, ruleCase{name: fmt.Sprint(o, opset, axis), opset: opset,
					in: []array{x(1, 2, 3, 4)}, build: op(o, graph.Int("axis", axis))})
			}
		}
	}
	runCases(t, cases)
}

func TestLayerNorms(t *testing.T) {
	runCases(t, []ruleCase{
		{name: "LayerNormalization", in: []array{x(1, 3, 5), x(2, 5), x(3, 5)}, build: op("LayerNormalization")},
		{name: "LayerNormalization without bias", in: []array{x(1, 2, 3, 5), x(2, 5)},
			build: op("LayerNormalization", graph.Float("epsilon", 1e-2))},
		{name: "LayerNormalization over two", in: []array{x(1, 2, 3, 5), x(2, 3, 5), x(3, 3, 5)},
			build: op("LayerNormalization", graph.Int("axis", 1))},
		{name: "LayerNormalization short scale", in: []array{x(1, 2, 3, 5), x(2, 5), x(3, 3, 1)},
			build: op("LayerNormalization", graph.Int("axis", -2))},
		{name: "LayerNormalization input only", in: []array{x(1, 3, 5), x(2, 5), x(3, 5)}, fixed: []int{1, 2},
			build: op("LayerNormalization")},
		{name: "LayerNormalization float32", typ: graph.Float32, in: []array{x(1, 3, 5), x(2, 5), x(3, 5)},
			build: op("LayerNormalization")},
		{name: "InstanceNormalization", typ: graph.Float32, in: []array{x(1, 2, 3, 4, 2), x(2, 3), x(3, 3)},
			build: op("InstanceNormalization")},
	})
}

// Central differences are meaningless for equal values; this test checks that winnow chooses as torch does.
func TestTies(t *testing.T) {
	for _, c := range []struct {
		name  string
		build func(b *graph.Builder, in []string) string
		want  []float64
	}{
		{"ReduceMax", op("ReduceMax"), []float64{0.5, 0, 0.5, 0}},
		{"Max with 0", func(b *graph.Builder, in []string) string {
			return b.Node("ReduceSum", []string{b.Node("Max", []string{in[0], number(b, 0)})})
		}, []float64{1, 0, 1, 0}},
		{"Relu", func(b *graph.Builder, in []string) string {
			return b.Node("ReduceSum", []string{b.Node("Relu", in)})
		}, []float64{1, 0, 1, 0}},
		{"ReduceL2 of nothing", func(b *graph.Builder, in []string) string {
			return b.Node("ReduceSum",
				[]string{b.Node("ReduceL2", []string{b.Node("Mul", []string{in[0], number(b, 0)})})})
		}, []float64{0, 0, 0, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, values, err := ruleCase{typ: graph.Float64, in: []array{{[]int64{1, 4}, []float64{2, 0, 2, -1}}},
				build: c.build}.derivative()
			if err != nil {
				t.Fatal(err)
			}
			m := newMachine(t, d, graph.Float64)
			first := m.forward(values)
			one := array{arrayOf(first[d.Output]).dims, []float64{1}}
			if got := m.backward(first, one)[0].data; !slices.Equal(got, c.want) {
				t.Errorf("found %v, expected %v", got, c.want)
			}
		})
	}
}
