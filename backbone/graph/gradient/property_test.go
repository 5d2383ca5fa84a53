package gradient_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// grown is a random network of smooth operators. Every new node reads earlier tensors, so that some are read
// often, some once and some never.
type grown struct {
	*network
	rt   *rapid.T
	rows []string // [N, 4] or what broadcasts to it
	full []string // certainly [N, 4]
}

// grow adds one node.
func (g *grown) grow() {
	any := func(label string) string { return rapid.SampledFrom(g.rows).Draw(g.rt, label) }
	full := rapid.SampledFrom(g.full).Draw(g.rt, "full")
	add := func(name string) { g.rows, g.full = append(g.rows, name), append(g.full, name) }
	square := func(x string) string { return g.node("Add", number(g.b, 1), g.node("Mul", x, x)) }
	list := func(v ...int64) string { return ints(g.b, v...) }
	switch rapid.SampledFrom([]string{"unary", "binary", "binary", "weight", "normal", "parts", "turn", "gather",
		"reduce", "tokens"}).Draw(g.rt, "kind") {
	case "unary":
		op := rapid.SampledFrom([]string{"Tanh", "Sigmoid", "Neg", "Exp", "Sqrt", "Log", "Reciprocal",
			"Pow"}).Draw(g.rt, "op")
		switch in := any("in"); op {
		case "Exp":
			g.rows = append(g.rows, g.node(op, g.node("Tanh", in)))
		case "Sqrt", "Log", "Reciprocal":
			g.rows = append(g.rows, g.node(op, square(in)))
		case "Pow":
			g.rows = append(g.rows, g.node(op, square(in), any("exponent")))
		default:
			g.rows = append(g.rows, g.node(op, in))
		}
	case "binary":
		op, b := rapid.SampledFrom([]string{"Add", "Sub", "Mul", "Div", "Sum"}).Draw(g.rt, "op"), any("b")
		if op == "Div" {
			b = square(b)
		}
		g.rows = append(g.rows, g.node(op, any("a"), b))
		add(g.node("Add", full, b))
	case "weight":
		add(g.node("MatMul", full, rapid.SampledFrom([]string{"w", "v"}).Draw(g.rt, "weight")))
	case "normal":
		op := rapid.SampledFrom([]string{"Softmax", "LogSoftmax", "LpNormalization"}).Draw(g.rt, "op")
		axis := rapid.SampledFrom([]int64{0, 1, -1}).Draw(g.rt, "axis")
		if op == "LpNormalization" {
			full, axis = square(full), -1
		}
		add(g.b.Node(op, []string{full}, graph.Int("axis", axis)))
	case "parts":
		at := rapid.Int64Range(1, 3).Draw(g.rt, "at")
		left := g.node("Slice", full, list(0), list(at), list(1))
		right := g.node("Slice", full, list(3), list(at-5), list(1), list(-1)) // from the end back to at
		add(g.b.Node("Concat", []string{right, left}, graph.Int("axis", 1)))
	case "turn":
		turned := g.b.Node("Transpose", []string{full}, graph.Ints("perm", 1, 0))
		g.rows = append(g.rows, g.node("Gemm", full, g.node("MatMul", turned, full))) // X·(XᵀX), by Gemm without C
		g.full = append(g.full, g.rows[len(g.rows)-1])
	case "gather":
		places := rapid.SliceOfN(rapid.Int64Range(-4, 3), 4, 4).Draw(g.rt, "places")
		add(g.b.Node("Gather", []string{full, list(places...)}, graph.Int("axis", 1)))
	case "reduce":
		op := rapid.SampledFrom([]string{"ReduceMean", "ReduceSumSquare", "ReduceL2"}).Draw(g.rt, "op")
		axes := rapid.SampledFrom([][]int64{{0}, {1}, {-1}, {0, 1}}).Draw(g.rt, "axes")
		g.rows = append(g.rows, g.b.Node(op, []string{square(full)}, graph.Ints("axes", axes...)))
	case "tokens": // [N, 4] → [N, 2, 2], a product of matrices for each row, and back
		t := g.node("Reshape", full, list(0, 2, 2))
		t = g.node("MatMul", t, g.b.Node("Transpose", []string{t}, graph.Ints("perm", 0, 2, 1)))
		add(g.node("Tanh", g.b.Node("Flatten", []string{t})))
	}
}

// TestRandomNetworks compares the gradients of random networks with central differences, for weights and
// inputs, with a free batch.
func TestRandomNetworks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		batch := rapid.Int64Range(1, 3).Draw(rt, "batch")
		n := newNetwork(17, rapid.Bool().Draw(rt, "fixed"), batch, 4)
		g := &grown{network: n, rt: rt, rows: []string{n.x}, full: []string{n.x}}
		weights := []string{n.weight("w", 2, 4, 4), n.weight("v", 3, 4, 4), n.weight("row", 4, 4),
			n.weight("column", 5, 1, 1), n.weight("one", 6)}
		g.rows = append(g.rows, weights[2:]...)
		for range rapid.IntRange(2, 8).Draw(rt, "nodes") {
			g.grow()
		}
		out := n.x
		for _, last := range []string{g.full[len(g.full)-1], g.rows[len(g.rows)-1],
			rapid.SampledFrom(weights[2:]).Draw(rt, "once")} {
			out = n.node("Add", n.node("Tanh", last), n.node("Mul", out, last))
		}
		n.b.Output(out)
		d, err := gradient.Differentiate(n.b.Model(), gradient.Options{Weights: reached(n.b.Model(), weights),
			Inputs: []string{n.x}})
		if err != nil {
			rt.Fatal(err)
		}
		if got := difference(t, d, n.values, graph.Float64); !(got < 1e-4) {
			rt.Errorf("the gradient is off by %.3g of its size, expected less than 1e-4:\n%s", got,
				listing(n.b.Model()))
		}
	})
}

// reached are the weights that the output depends on.
func reached(m *graph.Model, weights []string) []string {
	needed := []string{m.Graph.Outputs[0].Name}
	for _, n := range slices.Backward(m.Graph.Nodes) {
		if slices.Contains(needed, n.Outputs[0]) {
			needed = append(needed, n.Inputs...)
		}
	}
	return slices.DeleteFunc(slices.Clone(weights), func(w string) bool { return !slices.Contains(needed, w) })
}

// listing writes out a model, one node per line.
func listing(m *graph.Model) (text string) {
	for _, n := range m.Graph.Nodes {
		text += fmt.Sprintf("%q = %s%q\n", n.Outputs, n.Op, n.Inputs)
	}
	return text
}
