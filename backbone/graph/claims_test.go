package graph_test

import (
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/internal/testing/memory"
)

// TestClaims checks that tensors larger than any memory, made from a few numbers, are an error before a model runs.
func TestClaims(t *testing.T) {
	for what, c := range map[string]struct {
		build func(b *graph.Builder) string
		want  string
	}{
		"a constant of a shape": {func(b *graph.Builder) string {
			return b.Node("ConstantOfShape", []string{ints(b, 1<<20, 1<<20)})
		}, "makes float32 [1048576,1048576], more than 2 GiB"},
		"many of them": {func(b *graph.Builder) string {
			last := ""
			for range 5 {
				last = b.Node("ConstantOfShape", []string{ints(b, 1<<14, 1<<13)})
			}
			return last
		}, "more than 2 GiB"},
		"an image spread out": {func(b *graph.Builder) string {
			return b.Node("Expand", []string{"x", ints(b, 1, 3, 1<<16, 1<<16)})
		}, "(Expand): makes float32 [N,3,65536,65536]"},
		"a product that overflows": {func(b *graph.Builder) string {
			return b.Node("ConstantOfShape", []string{ints(b, slices.Repeat([]int64{1 << 31}, 8)...)})
		}, "more than 2 GiB"},
		"one that a network may have": {func(b *graph.Builder) string {
			return b.Node("ConstantOfShape", []string{ints(b, 1<<10, 1<<10)})
		}, ""},
	} {
		b := graph.NewBuilder("claims", 17)
		b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(1), graph.Fixed(1)})
		b.Output(c.build(b))
		_, err := graph.ReadNamed("m.onnx", b.Model().Marshal())
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, expected %q in it", what, err, c.want)
		}
	}
}

// TestInferenceMemory checks that tracked values and the names of sizes stay small, whatever the number of nodes.
func TestInferenceMemory(t *testing.T) {
	b := graph.NewBuilder("numbers", 17)
	last := ints(b, slices.Repeat([]int64{1}, 1024)...)
	one := ints(b, 1)
	for range 3000 {
		last = b.Node("Add", []string{last, one})
	}
	b.Output(last)
	m := b.Model()
	t.Run("numbers", func(t *testing.T) { memory.Check(t, 80<<20, func() { graph.Infer(m) }) })

	b = graph.NewBuilder("names", 17)
	b.Input("x", graph.Float32, graph.Shape{graph.Free(strings.Repeat("N", 1<<16))})
	two := ints(b, 2)
	for range 1000 {
		b.Node("Tile", []string{"x", two})
	}
	b.Output(b.Node("Tile", []string{"x", two}))
	m = b.Model()
	t.Run("names", func(t *testing.T) { memory.Check(t, 10<<20, func() { graph.Infer(m) }) })
}
