package gradient_test

import (
	"slices"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// foldCase is a convolution with 4 maps and its normalization.
type foldCase struct {
	folded  bool
	groups  int64
	bias    bool // whether the convolution has a bias
	opset   int64
	weights []string
	between bool // whether the value in between is also part of the output
}

// run differentiates the case and returns output and gradients, and whether a normalization is left. With apart,
// another node reads the value in between and multiplies it by 0, so that folding is impossible.
func (c foldCase) run(t *testing.T, apart bool) (results []array, left bool) {
	b := graph.NewBuilder("net", c.opset)
	values := map[string]array{"x": x(1, 2, 4, 5, 5)}
	weight := func(name string, a array) string {
		values[name] = a
		short := make([]float32, len(a.data))
		for i, v := range a.data {
			short[i] = float32(v)
		}
		return b.Constant(graph.NewTensor(name, short, a.dims...))
	}
	in := []string{b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(4), graph.Fixed(5),
		graph.Fixed(5)}), weight("filters", x(2, 4, 4/c.groups, 3, 3))}
	if c.bias {
		in = append(in, weight("bias", x(3, 4)))
	}
	conv := b.Node("Conv", in, graph.Int("group", c.groups), graph.Ints("pads", 1, 1, 1, 1),
		graph.Ints("strides", 2, 2))
	norm := []string{conv, weight("scale", x(4, 4)), weight("level", x(5, 4)), weight("mean", x(6, 4)),
		weight("variance", positive(7, 4))}
	y := b.Node("BatchNormalization", norm, graph.Float("epsilon", 0.01))
	if c.between || apart {
		share := float32(0)
		if c.between {
			share = 0.5
		}
		y = b.Node("Add", []string{y,
			b.Node("Mul", []string{conv, b.Constant(graph.NewTensor("share", []float32{share}))})})
	}
	b.Output(b.Node("Relu", []string{y}))
	d, err := gradient.Differentiate(b.Model(), gradient.Options{Weights: c.weights, Inputs: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	m := newMachine(t, d, graph.Float32)
	tensors := m.forward(values)
	out := arrayOf(tensors[d.Output])
	left = slices.ContainsFunc(d.Forward.Graph.Nodes, func(n *graph.Node) bool { return n.Op == "BatchNormalization" })
	return append([]array{out}, m.backward(tensors, drawn(7, -1, 1, out.dims...))...), left
}

// TestFoldedNorm checks that a normalization with fixed statistics after a trained convolution is folded into the
// filters if no other node reads the value in between. Output and gradients must equal those of separate nodes.
func TestFoldedNorm(t *testing.T) {
	all := []string{"filters", "scale", "level"}
	for name, c := range map[string]foldCase{
		"plain":                    {folded: true, groups: 1, weights: all},
		"bias":                     {folded: true, groups: 1, weights: append(all, "bias"), bias: true},
		"a filter for each map":    {folded: true, groups: 4, weights: all, bias: true},
		"older operators":          {folded: true, groups: 1, weights: all, opset: 9},
		"scale stays":              {folded: true, groups: 1, weights: all[:1]},
		"filters stay":             {groups: 1, weights: all[1:]},
		"value in between is read": {groups: 1, weights: all, between: true},
		"the mean is a weight":     {groups: 1, weights: []string{"filters", "mean"}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.opset == 0 {
				c.opset = gradient.Opset
			}
			got, left := c.run(t, false)
			if left == c.folded {
				t.Errorf("found a normalization in the forward model: %v, expected %v", left, !c.folded)
			}
			want, left := c.run(t, true)
			if !left {
				t.Fatal("expected a separate normalization because another node reads its input")
			}
			for i := range want {
				if off := farthest(want[i], got[i], 1); !(off < 1e-6) {
					t.Errorf("result %d is off by %.3g of its size", i, off)
				}
			}
		})
	}
}
