package gradient_test

import (
	"math"
	"slices"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
)

// Derivatives written differently for CUDA, in operators that also exist on the CPU, give the same gradients without
// the operators that are slow on CUDA.
func TestRulesForCUDA(t *testing.T) {
	for name, c := range map[string]struct {
		slow  []string
		build func(b *graph.Builder, weight func(name string, dims ...int64) string) string
	}{
		"sums across channels": {[]string{"Pad", "Slice"}, func(b *graph.Builder,
			weight func(name string, dims ...int64) string) string {
			x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(7), graph.Fixed(4),
				graph.Fixed(3)})
			y := b.Node("Mul", []string{x, weight("a", 7, 1, 1)})
			return b.Node("LRN", []string{y}, graph.Int("size", 5), graph.Float("alpha", 0.9), graph.Float("beta", 0.6),
				graph.Float("bias", 0.7))
		}},
		"scaled products": {[]string{"Mul"}, func(b *graph.Builder,
			weight func(name string, dims ...int64) string) string {
			x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(5), graph.Fixed(6)})
			q, k := b.Node("MatMul", []string{x, weight("q", 6, 4)}), b.Node("MatMul", []string{x, weight("k", 6, 4)})
			s := b.Node("MatMul", []string{q, b.Node("Transpose", []string{k}, graph.Ints("perm", 0, 2, 1))})
			s = b.Node("Mul", []string{s, b.Constant(graph.NewTensor("factor", []float32{0.37}))})
			return b.Node("MatMul", []string{s, b.Node("MatMul", []string{x, weight("v", 6, 3)})})
		}},
	} {
		b, weights := graph.NewBuilder("case", gradient.Opset), []string{}
		values := map[string]array{"x": drawn(1, -1, 1, 2, 7, 4, 3)}
		if name == "scaled products" {
			values["x"] = drawn(1, -1, 1, 2, 5, 6)
		}
		y := c.build(b, func(name string, dims ...int64) string {
			values[name] = drawn(uint64(len(weights)+2), -1, 1, dims...)
			weights = append(weights, name)
			return b.Constant(graph.NewTensor(name, values[name].tensor(graph.Float32).F32, dims...))
		})
		b.Output(b.NodeTo("y", "Identity", []string{y}))
		var grads [2][]array
		for i, kernels := range []gradient.Kernels{gradient.NoKernels, gradient.ForCUDA} {
			d, err := gradient.Differentiate(b.Model(), gradient.Options{Weights: weights, Kernels: kernels})
			if err != nil {
				t.Fatal(err)
			}
			uses := slices.ContainsFunc(d.Backward.Graph.Nodes, func(n *graph.Node) bool {
				return slices.Contains(c.slow, n.Op)
			})
			if uses != (kernels == gradient.NoKernels) {
				t.Errorf("%s, kernels %v: uses %v is %v", name, kernels, c.slow, uses)
			}
			m := newMachine(t, d, graph.Float32)
			first := m.forward(values)
			grads[i] = m.backward(first, drawn(99, -1, 1, arrayOf(first[d.Output]).dims...))
		}
		for i, want := range grads[0] {
			for j, v := range want.data {
				if found := grads[1][i].data[j]; !(math.Abs(found-v) <= 1e-5*max(1, math.Abs(v))) {
					t.Fatalf("%s: gradient of %s at %d is %v, expected %v", name, weights[i], j, found, v)
				}
			}
		}
	}
}
