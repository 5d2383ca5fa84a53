package gradient

import (
	"math"
	"slices"

	"winnow/backbone/graph"
)

// foldNorm merges a BatchNormalization with fixed statistics into the trained convolution before it, as exporters do
// for inference, and reports whether it could. The weights remain the original filters W:
//
//	a = scale/√(var+ε)   y = conv(x, a·W) + (bias - a·mean + a·b)
//
// The derivative with respect to scale is then a sum over the filters, ∂L/∂a[c] = Σ W[c]·∂L/∂(a·W)[c], instead of over
// the images. No tensor between convolution and Relu is stored: the normalization needs no pass over the activations
// in either direction.
func foldNorm(b *graph.Builder, n *graph.Node, o Options, readers map[string]int) bool {
	g := b.Model().Graph
	if b.Opset() < 7 || len(n.Inputs) < 5 || n.Int("spatial", 1) == 0 || n.Inputs[0] == o.Output ||
		readers[n.Inputs[0]] != 1 {
		return false
	}
	at := slices.IndexFunc(g.Nodes, func(c *graph.Node) bool { return slices.Contains(c.Outputs, n.Inputs[0]) })
	if at < 0 || !graph.IsONNX(g.Nodes[at].Domain) || g.Nodes[at].Op != "Conv" ||
		!slices.Contains(o.Weights, g.Nodes[at].Inputs[1]) {
		return false
	}
	conv := g.Nodes[at]
	filters := g.Initializer(conv.Inputs[1])
	if filters == nil {
		return false
	}
	mean, variance := numbersOf(g, o, n.Inputs[3]), numbersOf(g, o, n.Inputs[4])
	if mean == nil || len(mean) != len(variance) || int64(len(mean)) != filters.Dims[0] {
		return false
	}
	inverse := make([]float64, len(mean))
	epsilon := float64(n.Float("epsilon", 1e-5))
	for i, v := range variance {
		inverse[i] = 1 / math.Sqrt(v+epsilon)
	}
	g.Nodes = slices.Delete(g.Nodes, at, at+1)
	size := int64(len(mean))
	vector := func(name string, list []float64) string {
		return b.Constant(newFloatTensor(filters.Type, name, list, size))
	}
	column := append([]int64{size}, slices.Repeat([]int64{1}, len(filters.Dims)-1)...)

	slope := b.Node("Mul", []string{n.Inputs[1], vector("inverse", inverse)})
	tall := b.Node("Reshape", []string{slope, b.Constant(graph.NewTensor("column", column, int64(len(column))))})
	level := b.Node("Sub", []string{n.Inputs[2], b.Node("Mul", []string{slope, vector("mean", mean)})})
	if len(conv.Inputs) > 2 && conv.Inputs[2] != "" {
		level = b.Node("Add", []string{level, b.Node("Mul", []string{slope, conv.Inputs[2]})})
	}
	folded := *conv
	folded.Inputs = []string{conv.Inputs[0], b.Node("Mul", []string{conv.Inputs[1], tall}), level}
	folded.Outputs = n.Outputs[:1]
	b.Add(&folded)
	return true
}

// numbersOf returns the numbers of an initializer that is not trained, or nil for any other tensor.
func numbersOf(g *graph.Graph, o Options, name string) []float64 {
	t := g.Initializer(name)
	if t == nil || len(t.Dims) != 1 || slices.Contains(o.Weights, name) {
		return nil
	}
	list, _ := t.Float64s() // nil for other types
	return list
}
