package graph_test

import (
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
)

// net builds a network over [N,3,8,8] with a convolution to 16 maps of 8×8. rest gets the name of the maps.
func net(opset int64, rest func(b *graph.Builder, maps string) string) *graph.Model {
	b := graph.NewBuilder("net", opset)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(8), graph.Fixed(8)})
	maps := b.NodeTo("maps", "Conv", []string{x, weight(b, 16, 3, 3, 3)}, graph.Ints("pads", 1, 1, 1, 1))
	b.Output(rest(b, maps))
	return b.Model()
}

func weight(b *graph.Builder, dims ...int64) string {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	return b.Constant(graph.NewTensor("weight", numbers(uint64(n), int(n)), dims...))
}

// transformer builds the skeleton of a vision transformer: patches, tokens, selection of a class token, a classifier.
// Batch size and token count are computed by Shape, Concat and Reshape, as exporters write them.
func transformer(opset int64) *graph.Model {
	return net(opset, func(b *graph.Builder, maps string) string {
		n := b.Node("Gather", []string{b.Node("Shape", []string{maps}),
			b.Constant(graph.NewTensor("zero", []int64{0}, 1))}, graph.Int("axis", 0))
		shape := b.Node("Concat", []string{n, b.Constant(graph.NewTensor("tail", []int64{16, -1}, 2))},
			graph.Int("axis", 0))
		tokens := b.Node("Transpose", []string{b.Node("Reshape", []string{maps, shape})}, graph.Ints("perm", 0, 2, 1))
		target := b.Node("Concat", []string{n, b.Constant(graph.NewTensor("one", []int64{1, 16}, 2))},
			graph.Int("axis", 0))
		class := b.Node("Expand", []string{weight(b, 1, 1, 16), target})
		all := b.NodeTo("tokens", "Concat", []string{class, tokens}, graph.Int("axis", 1))
		normed := b.NodeTo("normed", "LayerNormalization", []string{all, weight(b, 16), weight(b, 16)},
			graph.Int("axis", -1))
		picked := b.NodeTo("class_token", "Gather", []string{normed, b.Constant(graph.NewTensor("first", []int64{0}))},
			graph.Int("axis", 1))
		return b.NodeTo("logits", "Gemm", []string{picked, weight(b, 10, 16)}, graph.Int("transB", 1))
	})
}

// TestFeatureTensor checks that the classifier is found in every form that exporters use.
func TestFeatureTensor(t *testing.T) {
	pooled := func(b *graph.Builder, maps string) string {
		return b.NodeTo("pooled", "Flatten", []string{b.NodeTo("gap", "GlobalAveragePool", []string{maps})})
	}
	for name, c := range map[string]struct {
		m    *graph.Model
		want string
		dim  int
	}{
		"Gemm": {net(13, func(b *graph.Builder, maps string) string {
			return b.Node("Gemm", []string{pooled(b, maps), weight(b, 10, 16)}, graph.Int("transB", 1))
		}), "pooled", 16},
		"Gemm, Softmax, Reshape": {net(13, func(b *graph.Builder, maps string) string {
			g := b.Node("Gemm", []string{pooled(b, maps), weight(b, 16, 10)})
			return b.Node("Reshape", []string{b.Node("Softmax", []string{g}),
				b.Constant(graph.NewTensor("shape", []int64{-1, 10}, 2))})
		}), "pooled", 16},
		"Dropout before": {net(13, func(b *graph.Builder, maps string) string {
			return b.Node("Gemm", []string{b.Node("Dropout", []string{pooled(b, maps)}), weight(b, 16, 10)})
		}), "pooled", 16},
		"MatMul and Add": {net(13, func(b *graph.Builder, maps string) string {
			m := b.Node("MatMul", []string{pooled(b, maps), weight(b, 16, 10)})
			return b.Node("Add", []string{weight(b, 10), m})
		}), "pooled", 16},
		"MatMul by a Constant": {net(13, func(b *graph.Builder, maps string) string {
			w := b.Node("Constant", nil, graph.TensorValue("value", graph.NewTensor("", numbers(1, 160), 16, 10)))
			return b.Node("MatMul", []string{pooled(b, maps), b.Node("Identity", []string{w})})
		}), "pooled", 16},
		"two Gemms": {net(13, func(b *graph.Builder, maps string) string {
			f := b.Node("Flatten", []string{maps}, graph.Int("axis", 1))
			h := b.NodeTo("fc7", "Relu", []string{b.Node("Gemm", []string{f, weight(b, 1024, 24)})})
			return b.Node("Gemm", []string{h, weight(b, 24, 10)})
		}), "fc7", 24},
		"flattened without pooling": {net(13, func(b *graph.Builder, maps string) string {
			return b.Node("Gemm", []string{b.NodeTo("flat", "Flatten", []string{maps}), weight(b, 1024, 10)})
		}), "flat", 1024},
		"1×1 Conv, then average": {net(13, func(b *graph.Builder, maps string) string {
			c := b.Node("Relu", []string{b.Node("Conv",
				[]string{b.Node("Dropout", []string{maps}), weight(b, 10, 16, 1, 1)})})
			return pooled(b, c)
		}), "maps", 16},
		"average, then 1×1 Conv": {net(13, func(b *graph.Builder, maps string) string {
			g := b.NodeTo("gap", "GlobalAveragePool", []string{maps})
			return b.Node("Flatten", []string{b.Node("Conv", []string{g, weight(b, 10, 16, 1, 1)})})
		}), "gap", 16},
		"1×1 Conv that is a layer": {net(13, func(b *graph.Builder, maps string) string {
			return pooled(b, b.Node("Relu", []string{b.Node("Conv", []string{maps, weight(b, 32, 16, 1, 1)})}))
		}), "pooled", 32},
		"no classifier": {net(13, pooled), "pooled", 16},
		"output called features": {beside(net(13, func(b *graph.Builder, maps string) string {
			b.NodeTo("features", "Flatten", []string{b.NodeTo("inner", "GlobalMaxPool", []string{maps})})
			return b.NodeTo("logits", "Gemm", []string{pooled(b, maps), weight(b, 16, 10)})
		}), "logits", "features"), "features", 16},
		"transformer": {transformer(17), "class_token", 16},
		"classifier over all tokens": {beside(net(17, func(b *graph.Builder, maps string) string {
			tokens := b.NodeTo("tokens", "Transpose",
				[]string{b.Node("Reshape", []string{maps, b.Constant(graph.NewTensor("s", []int64{0, 16, 64}, 3))})},
				graph.Ints("perm", 0, 2, 1))
			return b.NodeTo("logits", "MatMul", []string{tokens, weight(b, 16, 10)})
		}), "logits"), "tokens", 16},
	} {
		t.Run(name, func(t *testing.T) {
			if err := c.m.Check(); err != nil {
				t.Fatal(err)
			}
			found, err := graph.FeatureTensor(c.m)
			if err != nil || found.Tensor != c.want {
				t.Fatalf("found %+v, %v, expected %q", found, err, c.want)
			}
			cut, output, dim, err := graph.Vector(c.m, found.Tensor)
			if err != nil || dim != c.dim || output != cut.Graph.Outputs[0].Name {
				t.Fatalf("output %q, dim %d, %v, expected %d", output, dim, err, c.dim)
			}
			got := exec(t, cut, ort.Float32s(numbers(1, 2*3*64), 2, 3, 8, 8))
			if len(got) != 1 || len(got[0].Shape) != 2 || got[0].Shape[0] != 2 || got[0].Shape[1] != int64(dim) {
				t.Fatalf("shape %v, expected [2 %d]", got[0].Shape, dim)
			}
		})
	}
}

// TestVector checks that maps become their mean and tokens become the first token. It compares with plain loops over
// the values of the uncut tensor.
func TestVector(t *testing.T) {
	in := ort.Float32s(numbers(4, 2*3*64), 2, 3, 8, 8)
	m := transformer(17)
	mean := func(x []float32) []float32 { // [2,16,8,8] → [2,16]
		out := make([]float32, 32)
		for i, v := range x {
			out[i/64] += v / 64
		}
		return out
	}
	first := func(x []float32) []float32 { // [2,65,16] → [2,16]
		return append(append([]float32{}, x[:16]...), x[65*16:65*16+16]...)
	}
	for tensor, pick := range map[string]func([]float32) []float32{"maps": mean, "normed": first, "tokens": first} {
		cut, _, _, err := graph.Vector(m, tensor)
		if err != nil {
			t.Fatal(err)
		}
		want := pick(exec(t, beside(m, tensor), in)[0].F32)
		if d := farthest(exec(t, cut, in)[0].F32, want); d > 1e-5 {
			t.Errorf("%s: off by %g", tensor, d)
		}
	}
}

func TestFeatureRefuses(t *testing.T) {
	maps := net(13, func(b *graph.Builder, maps string) string { return b.NodeTo("segments", "Relu", []string{maps}) })
	if _, err := graph.FeatureTensor(maps); err == nil || !strings.Contains(err.Error(), "--output") ||
		!strings.Contains(err.Error(), `"segments"`) {
		t.Errorf("found %v, expected an error that names --output and a tensor", err)
	}
	product := net(13, func(b *graph.Builder, maps string) string { return b.Node("MatMul", []string{maps, maps}) })
	if _, err := graph.FeatureTensor(product); err == nil {
		t.Error("a product of two computed tensors was accepted as a classifier")
	}
	if _, err := graph.Cut(maps, "seg"); err == nil ||
		!strings.Contains(err.Error(), `expected one like ["segments"]`) {
		t.Errorf("found %v", err)
	}
	if _, err := graph.Cut(maps, "x"); err == nil {
		t.Error("a cut at an input was accepted")
	}
	flat := net(13, func(b *graph.Builder, maps string) string {
		return b.NodeTo("line", "Reshape", []string{maps, b.Constant(graph.NewTensor("s", []int64{-1}, 1))})
	})
	if _, _, _, err := graph.Vector(flat, "line"); err == nil ||
		!strings.Contains(err.Error(), "expected one vector per image") {
		t.Errorf("found %v", err)
	}
}
