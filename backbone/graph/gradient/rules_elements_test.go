package gradient_test

import (
	"fmt"
	"testing"

	"winnow/backbone/graph"
)

// kinked returns numbers at least 0.05 away from every kink of the piecewise rules in these tests.
func kinked(dims ...int64) array {
	a := drawn(5, -4, 4, dims...)
	for i, v := range a.data {
		for _, at := range []float64{-3, -2.5, -1, 0, 1, 2.5, 3} {
			if v > at-0.05 && v < at+0.05 {
				a.data[i] = at + 0.1
			}
		}
	}
	return a
}

func TestElements(t *testing.T) {
	var cases []ruleCase
	for _, o := range []string{"Neg", "Abs", "Sqrt", "Exp", "Log", "Reciprocal", "Tanh", "Sigmoid", "Softplus", "Erf"} {
		for _, dims := range [][]int64{{3, 4}, {2, 3, 2, 2}, {5}} {
			in := positive(1, dims...)
			if o != "Sqrt" && o != "Log" {
				for i := range in.data {
					in.data[i] *= float64(1 - 2*(i%2))
				}
			}
			c := ruleCase{name: o, in: []array{in}, build: op(o)}
			if o == "Erf" || o == "Softplus" {
				c.typ = graph.Float32 // the CPU has no float64 kernel
			}
			cases = append(cases, c)
		}
	}
	for o, from := range map[string][2]float64{"Sin": {-3, 3}, "Cos": {-3, 3}, "Softsign": {.2, 3}, "Mish": {-3, 3}} {
		c := ruleCase{name: o, typ: graph.Float32, in: []array{drawn(1, from[0], from[1], 3, 8)}, build: op(o)}
		if o == "Mish" {
			c.opset = 18
		}
		cases = append(cases, c)
	}
	piecewise := []struct {
		op         string
		attributes []*graph.Attribute
	}{
		{"Relu", nil}, {"LeakyRelu", nil}, {"LeakyRelu", []*graph.Attribute{graph.Float("alpha", 0.3)}},
		{"LeakyRelu", []*graph.Attribute{graph.Float("alpha", -0.3)}},
		{"LeakyRelu", []*graph.Attribute{graph.Float("alpha", 0)}},
		{"Elu", nil}, {"Elu", []*graph.Attribute{graph.Float("alpha", 0.5)}},
		{"Elu", []*graph.Attribute{graph.Float("alpha", -0.5)}},
		{"HardSigmoid", nil}, {"HardSigmoid", []*graph.Attribute{graph.Float("alpha", 0.5), graph.Float("beta", 0.5)}},
		{"HardSwish", nil}, {"Selu", nil},
		{"Selu", []*graph.Attribute{graph.Float("alpha", 2), graph.Float("gamma", 0.5)}},
		{"Selu", []*graph.Attribute{graph.Float("alpha", -2), graph.Float("gamma", 0.5)}},
		{"Softsign", nil},
	}
	for _, p := range piecewise {
		cases = append(cases, ruleCase{name: p.op, typ: graph.Float32, in: []array{kinked(3, 8)},
			build: op(p.op, p.attributes...)})
	}
	for _, kind := range []string{"none", "tanh"} {
		cases = append(cases, ruleCase{name: "Gelu " + kind, opset: 20, typ: graph.Float32,
			in:    []array{drawn(1, -3, 3, 3, 8)},
			build: op("Gelu", graph.String("approximate", kind))})
	}
	cases = append(cases, ruleCase{name: "com.microsoft.Gelu", typ: graph.Float32, in: []array{drawn(1, -3, 3, 3, 8)},
		build: func(b *graph.Builder, in []string) string {
			b.Import("com.microsoft", 1)
			b.Add(&graph.Node{Op: "Gelu", Domain: "com.microsoft", Inputs: in, Outputs: []string{"y"}})
			return "y"
		}})
	for _, slope := range [][]int64{{4}, {1}, {3, 1, 1}, {2, 3, 2, 4}} {
		cases = append(cases, ruleCase{name: "PRelu", in: []array{kinked(2, 3, 2, 4), positive(2, slope...)},
			build: op("PRelu")})
	}
	for name, c := range piecewise64 {
		cases = append(cases, ruleCase{name: name, in: []array{kinked(3, 8)}, build: op(c)})
	}
	runCases(t, cases)
}

// piecewise64 lists operators that also have kernels for float64.
var piecewise64 = map[string]string{"Relu float64": "Relu"}

func TestClip(t *testing.T) {
	limits := func(low, high string) func(b *graph.Builder, in []string) string {
		return func(b *graph.Builder, in []string) string {
			list := []string{in[0]}
			for _, v := range []string{low, high} {
				name := ""
				if v != "" {
					var f float64
					fmt.Sscan(v, &f)
					name = number(b, f)
				}
				list = append(list, name)
			}
			return b.Node("Clip", list)
		}
	}
	runCases(t, []ruleCase{
		{name: "both", opset: 13, in: []array{kinked(3, 8)}, build: limits("-1", "2.5")},
		{name: "low", opset: 12, in: []array{kinked(3, 8)}, build: limits("-1", "")},
		{name: "high", opset: 12, in: []array{kinked(3, 8)}, build: limits("", "2.5")},
		{name: "neither", opset: 12, in: []array{kinked(3, 8)}, build: limits("", "")},
		{name: "opset 7", opset: 7, typ: graph.Float32, in: []array{kinked(3, 8)},
			build: op("Clip", graph.Float("min", 0), graph.Float("max", 2.5))},
		{name: "opset 7 low", opset: 7, typ: graph.Float32, in: []array{kinked(3, 8)},
			build: op("Clip", graph.Float("min", 0))},
	})
}

func TestChoices(t *testing.T) {
	choose := func(dims ...int64) func(b *graph.Builder, in []string) string {
		return func(b *graph.Builder, in []string) string {
			choice := graph.NewTensor("choice", []int64{1, 0, 1, 1, 0, 0}[:dims[0]], dims...)
			return b.Node("Where", []string{b.Node("Cast", []string{b.Constant(choice)},
				graph.Int("to", int64(graph.Bool))), in[0], in[1]})
		}
	}
	there := func(to graph.DataType) func(b *graph.Builder, in []string) string {
		return func(b *graph.Builder, in []string) string {
			half := b.Node("Cast", in, graph.Int("to", int64(to)))
			return b.Node("Cast", []string{b.Node("Mul", []string{half, half})}, graph.Int("to", int64(graph.Float32)))
		}
	}
	runCases(t, []ruleCase{
		{name: "Where", in: []array{x(1, 2, 4), x(2, 2, 4)}, build: choose(4)},
		{name: "Where short", in: []array{x(1, 2, 4), x(2, 1)}, build: choose(4)},
		{name: "Where grows", in: []array{x(1, 1, 4), x(2, 1)}, build: choose(3, 1)},
		{name: "Cast", typ: graph.Float32, in: []array{x(1, 3, 4)}, build: there(graph.Float64)},
	})
}
