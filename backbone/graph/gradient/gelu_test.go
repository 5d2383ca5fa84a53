package gradient_test

import (
	"slices"
	"testing"

	"winnow/backbone/graph"
)

// geluParts builds x·½·(1+erf(x/√2)) as torch exports Gelu before operator set 20.
func geluParts(b *graph.Builder, x string) string {
	scalar := func(v float32) string { return b.Constant(graph.NewTensor("number", []float32{v})) }
	e := b.Node("Erf", []string{b.Node("Div", []string{x, scalar(1.4142135)})})
	return b.Node("Mul", []string{b.Node("Mul", []string{x, b.Node("Add", []string{e, scalar(1)})}), scalar(0.5)})
}

// TestWholeGelu checks that x·½·(1+erf(x/√2)) becomes one operator whatever the order of its factors, and that other
// expressions do not.
func TestWholeGelu(t *testing.T) {
	scalar := func(b *graph.Builder, v float32) string { return b.Constant(graph.NewTensor("number", []float32{v})) }
	rise := func(b *graph.Builder, x string) string { // 1 + erf(x/√2)
		return b.Node("Add", []string{scalar(b, 1),
			b.Node("Erf", []string{b.Node("Mul", []string{scalar(b, 0.70710677), x})})})
	}
	before := func(build func(b *graph.Builder, x string) string) func(b *graph.Builder, in []string) string {
		return func(b *graph.Builder, in []string) string {
			return b.Node("Tanh", []string{build(b, b.Node("Add", []string{in[0], in[0]}))})
		}
	}
	mul := func(b *graph.Builder, x, y string) string { return b.Node("Mul", []string{x, y}) }
	for _, c := range []struct {
		name  string
		build func(b *graph.Builder, x string) string
		whole bool
	}{
		{"torch", geluParts, true},
		{"half first", func(b *graph.Builder, x string) string { return mul(b, mul(b, x, scalar(b, 0.5)), rise(b, x)) },
			true},
		{"half of the rest", func(b *graph.Builder,
			x string) string {
			return mul(b, x, mul(b, scalar(b, 0.5), rise(b, x)))
		}, true},
		{"half last", func(b *graph.Builder, x string) string { return mul(b, mul(b, rise(b, x), x), scalar(b, 0.5)) },
			true},
		{"two of them", func(b *graph.Builder, x string) string {
			return geluParts(b, geluParts(b, x))
		}, true},
		{"a third", func(b *graph.Builder, x string) string { return mul(b, mul(b, rise(b, x), x), scalar(b, 0.3)) },
			false},
		{"without half", func(b *graph.Builder, x string) string { return mul(b, rise(b, x), x) }, false},
		{"half twice", func(b *graph.Builder, x string) string {
			return mul(b, mul(b, rise(b, x), scalar(b, 0.5)), scalar(b, 0.5))
		}, false},
		{"of something else", func(b *graph.Builder, x string) string {
			return mul(b, mul(b, rise(b, x), b.Node("Neg", []string{x})), scalar(b, 0.5))
		}, false},
		{"half of something else", func(b *graph.Builder, x string) string {
			return mul(b, mul(b, b.Node("Neg", []string{x}), scalar(b, 0.5)), rise(b, x))
		}, false},
		{"read in between", func(b *graph.Builder, x string) string {
			r := rise(b, x)
			return b.Node("Add", []string{r, mul(b, mul(b, r, x), scalar(b, 0.5))})
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			rc := ruleCase{typ: graph.Float32, in: []array{drawn(1, -1.5, 1.5, 3, 8)}, build: before(c.build)}
			d, values, err := rc.derivative()
			if err != nil {
				t.Fatal(err)
			}
			parts := slices.ContainsFunc(d.Forward.Graph.Nodes, func(n *graph.Node) bool { return n.Op == "Erf" })
			if parts == c.whole {
				t.Errorf("became one operator: %v, expected %v", !parts, c.whole)
			}
			if got := difference(t, d, values, graph.Float32); !(got < 1e-2) {
				t.Errorf("the gradient is off by %.3g of its size", got)
			}
			// The output equals that of the separate nodes.
			b := graph.NewBuilder("parts", 17)
			b.Output(before(c.build)(b, []string{b.Input("x0", graph.Float32, graph.ShapeOf(3, 8))}))
			run := newMachine(t, d, graph.Float32).forward(values)
			plain := runModel(t, b.Model(), run)[b.Model().Graph.Outputs[0].Name]
			if off := far(arrayOf(run[d.Output]), arrayOf(plain)); !(off < 1e-5) {
				t.Errorf("the value is off by %.3g", off)
			}
		})
	}
}
