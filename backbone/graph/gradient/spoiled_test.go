package gradient_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// replace replaces the first node that fits by a node with the same outputs.
func replace(m *graph.Model, fits func(n *graph.Node) bool, by func(n *graph.Node) *graph.Node) bool {
	i := slices.IndexFunc(m.Graph.Nodes, fits)
	if i < 0 {
		return false
	}
	m.Graph.Nodes[i] = by(m.Graph.Nodes[i])
	return true
}

func isOp(op string) func(n *graph.Node) bool {
	return func(n *graph.Node) bool { return n.Op == op }
}

// scaledGradient multiplies the last gradient.
func scaledGradient(factor float64) func(m *graph.Model) bool {
	return func(m *graph.Model) bool {
		last := m.Graph.Outputs[len(m.Graph.Outputs)-1].Name
		m.Graph.Initializers = append(m.Graph.Initializers, graph.NewTensor("spoil", []float64{factor}))
		return replace(m, func(n *graph.Node) bool { return n.Outputs[0] == last }, func(n *graph.Node) *graph.Node {
			return &graph.Node{Op: "Mul", Inputs: []string{n.Inputs[0], "spoil"}, Outputs: n.Outputs}
		})
	}
}

// dropped keeps only one of the operands of a sum or product.
func dropped(op string, keep int) func(m *graph.Model) bool {
	return func(m *graph.Model) bool {
		return replace(m, isOp(op), func(n *graph.Node) *graph.Node {
			return &graph.Node{Op: "Identity", Inputs: n.Inputs[keep : keep+1], Outputs: n.Outputs}
		})
	}
}

// list changes the list of integers that the first node of an operator reads as its i-th input.
func list(op string, i int, v ...int64) func(m *graph.Model) bool {
	return func(m *graph.Model) bool {
		name := fmt.Sprint("spoil", i)
		m.Graph.Initializers = append(m.Graph.Initializers, graph.NewTensor(name, v, int64(len(v))))
		return replace(m, isOp(op), func(n *graph.Node) *graph.Node {
			twin := *n
			twin.Inputs = slices.Clone(n.Inputs)
			twin.Inputs[i] = name
			return &twin
		})
	}
}

// attribute changes an attribute of the first node of an operator.
func attribute(op string, a *graph.Attribute) func(m *graph.Model) bool {
	return func(m *graph.Model) bool {
		return replace(m, isOp(op), func(n *graph.Node) *graph.Node {
			twin := *n
			twin.Attributes = append(slices.DeleteFunc(slices.Clone(n.Attributes),
				func(b *graph.Attribute) bool { return b.Name == a.Name }), a)
			return &twin
		})
	}
}

// shifted changes every scalar of the backward model by a relative thousandth.
func shifted(m *graph.Model) (found bool) {
	for i, t := range m.Graph.Initializers {
		if v, err := t.Float64s(); err == nil && t.Type == graph.Float64 && len(v) == 1 {
			m.Graph.Initializers[i] = graph.NewTensor(t.Name, []float64{v[0] * 1.001}, t.Dims...)
			found = true
		}
	}
	return found
}

// TestSpoiled: the check against central differences detects backward models that were broken on purpose.
func TestSpoiled(t *testing.T) {
	square := func(seed uint64) array { return x(seed, 4, 4) }
	twice := func(b *graph.Builder, in []string) string {
		y := b.Node("Tanh", in[:1])
		return b.Node("Mul", []string{b.Node("Sigmoid", []string{y}), y})
	}
	train := gradient.BatchNorm{Train: true}
	normed := []array{drawn(1, -1, 3, 4, 3, 2), x(2, 3), x(3, 3)}
	for _, c := range []struct {
		ruleCase
		spoil func(m *graph.Model) bool
	}{
		{ruleCase{name: "scale", in: []array{x(1, 3, 4)}, build: op("Tanh")}, scaledGradient(1.00001)},
		{ruleCase{name: "sign", in: []array{x(1, 3, 4)}, build: op("Exp")}, scaledGradient(-1)},
		{ruleCase{name: "nothing", in: []array{x(1, 3, 4)}, build: op("Exp")}, scaledGradient(0)},
		{ruleCase{name: "not a number", in: []array{x(1, 3, 4)}, build: op("Exp")}, scaledGradient(math.NaN())},
		{ruleCase{name: "a use forgotten", in: []array{x(1, 3, 4)}, build: twice}, dropped("Add", 0)},
		{ruleCase{name: "the other use forgotten", in: []array{x(1, 3, 4)}, build: twice}, dropped("Add", 1)},
		{ruleCase{name: "Softmax without its sum", in: []array{x(1, 3, 4)}, build: op("Softmax")}, dropped("Sub", 0)},
		{ruleCase{name: "Softmax over the other axis", in: []array{square(1)}, build: op("Softmax")},
			list("ReduceSum", 1, 0)},
		{ruleCase{name: "Add over the other axis", in: []array{square(1), x(2, 4)}, build: op("Add")},
			list("ReduceSum", 1, 1)},
		{ruleCase{name: "Gemm not transposed", in: []array{square(1), square(2)}, build: op("Gemm")},
			attribute("Gemm", graph.Int("transB", 0))},
		{ruleCase{name: "MatMul not transposed", in: []array{x(1, 2, 4, 4), x(2, 2, 4, 4)}, build: op("MatMul")},
			dropped("Transpose", 0)},
		{ruleCase{name: "Transpose forwards", in: []array{x(1, 3, 3, 3)},
			build: op("Transpose", graph.Ints("perm", 1, 2, 0))}, attribute("Transpose", graph.Ints("perm", 1, 2, 0))},
		{ruleCase{name: "Concat cut elsewhere", in: []array{x(1, 2, 3), x(2, 2, 3)}, fixed: []int{1},
			build: op("Concat", graph.Int("axis", 1))}, func(m *graph.Model) bool {
			return list("Slice", 1, 1)(m) && list("Slice", 2, 4)(m)
		}},
		{ruleCase{name: "Slice put elsewhere", in: []array{x(1, 2, 6)},
			build: with("Slice", [][]int64{{1}, {4}, {1}, nil})}, list("Pad", 1, 0, 2, 0, 1)},
		{ruleCase{name: "Gather swapped", in: []array{x(1, 2, 3)}, build: func(b *graph.Builder, in []string) string {
			return b.Node("Gather", []string{in[0], ints(b, 2, 0)}, graph.Int("axis", 1))
		}}, list("Gather", 1, 0, 2, 1)},
		{ruleCase{name: "ReduceMean as a sum", in: []array{x(1, 2, 3)}, build: op("ReduceMean", graph.Ints("axes", 1))},
			dropped("Div", 0)},
		{ruleCase{name: "Pow with another exponent", in: []array{positive(1, 2, 3)},
			build: func(b *graph.Builder, in []string) string {
				return b.Node("Pow", []string{in[0], number(b, 3)})
			}}, shifted},
		{ruleCase{name: "Sigmoid without y²", in: []array{x(1, 2, 3)}, build: op("Sigmoid")}, dropped("Sub", 0)},
		{ruleCase{name: "LayerNormalization without its means", in: []array{x(1, 3, 5), x(2, 5)},
			build: op("LayerNormalization")}, dropped("Add", 0)},
		{ruleCase{name: "batch norm without its tilt", in: normed, build: norm(3), norms: train}, dropped("Add", 0)},
		{ruleCase{name: "batch norm's ε", in: normed, build: norm(3), norms: train},
			attribute("BatchNormalization", graph.Float("epsilon", 1e-3))},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.typ = graph.Float64
			d, values, err := c.derivative()
			if err != nil {
				t.Fatal(err)
			}
			if got := difference(t, d, values, c.typ); !(got < 1e-6) {
				t.Fatalf("off by %.3g before it was spoiled", got)
			}
			d, values, _ = c.derivative()
			if !c.spoil(d.Backward) {
				t.Fatalf("found nothing to spoil in\n%s", listing(d.Backward))
			}
			if got := difference(t, d, values, c.typ); got < 1e-6 {
				t.Errorf("the spoiled gradient passed: %.3g", got)
			}
		})
	}
}
