package graph_test

import (
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
)

// vision is the skeleton of a vision transformer over pictures of side×side (0: free): patches of 4×4, extra
// tokens before them, a normalisation, and a classifier on the class token or, as in exports of DINOv2, tokens
// and a pooled vector.
func vision(opset, side, extra int64, classifier bool) *graph.Model {
	b := graph.NewBuilder("vision", opset)
	size := graph.Fixed(side)
	if side == 0 {
		size = graph.Free("side")
	}
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), size, size})
	maps := b.NodeTo("patches", "Conv", []string{x, weight(b, 6, 3, 4, 4)}, graph.Ints("strides", 4, 4))
	n := b.Node("Gather", []string{b.Node("Shape", []string{maps}), b.Constant(graph.NewTensor("zero", []int64{0}, 1))},
		graph.Int("axis", 0))
	shape := b.Node("Concat", []string{n, b.Constant(graph.NewTensor("tail", []int64{6, -1}, 2))}, graph.Int("axis", 0))
	all := b.Node("Transpose", []string{b.Node("Reshape", []string{maps, shape})}, graph.Ints("perm", 0, 2, 1))
	if extra > 0 {
		target := b.Node("Concat", []string{n, b.Constant(graph.NewTensor("rest", []int64{extra, 6}, 2))},
			graph.Int("axis", 0))
		all = b.Node("Concat", []string{b.Node("Expand", []string{weight(b, 1, extra, 6), target}), all},
			graph.Int("axis", 1))
	}
	tokens := b.NodeTo("tokens", "Mul", []string{all, weight(b, 6)})
	picked := b.NodeTo("pooler_output", "Gather", []string{tokens, b.Constant(graph.NewTensor("first", []int64{0}))},
		graph.Int("axis", 1))
	if classifier {
		scaled := b.NodeTo("scaled", "Mul", []string{picked, weight(b, 6)})
		b.Output(b.NodeTo("logits", "Gemm", []string{scaled, weight(b, 10, 6)}, graph.Int("transB", 1)))
		return b.Model()
	}
	b.Output(tokens, picked)
	return b.Model()
}

// TestTokens: the named features equal loops over the tokens, for every way to write them.
func TestTokens(t *testing.T) {
	const patches = 4 // of 8×8
	for _, c := range []struct {
		opset, extra int64
		classifier   bool
	}{{11, 1, true}, {13, 1, false}, {17, 5, false}, {18, 5, true}} {
		m := vision(c.opset, 8, c.extra, c.classifier)
		in := ort.Float32s(numbers(5, 2*3*8*8), 2, 3, 8, 8)
		whole := exec(t, beside(m, "tokens", "pooler_output"), in)
		tokens, count := whole[0].F32, int(c.extra)+patches
		want := map[string][]float32{"cls": make([]float32, 12), "mean": make([]float32, 12), "pooled": whole[1].F32}
		for i := range 2 {
			for d := range 6 {
				want["cls"][6*i+d] = tokens[i*count*6+d]
				for p := range patches {
					want["mean"][6*i+d] += tokens[(i*count+int(c.extra)+p)*6+d] / patches
				}
			}
		}
		if c.classifier {
			want["pooled"] = exec(t, beside(m, "scaled"), in)[0].F32
		}
		for name, values := range want {
			cut, output, dim, err := graph.Vector(m, name)
			if err != nil || dim != 6 {
				t.Fatalf("%+v, %s: %q of %d, %v", c, name, output, dim, err)
			}
			if got := exec(t, cut, in)[0]; farthest(got.F32, values) > 1e-5 {
				t.Errorf("%+v, %s: off by %g", c, name, farthest(got.F32, values))
			}
		}
		if off := farthest(want["mean"], want["cls"]); off < 1e-3 {
			t.Errorf("%+v: the class token is the mean: the comparison sees nothing", c)
		}
		var listed []string
		for _, f := range graph.Choices(m) {
			listed = append(listed, f.Name)
		}
		if !slices.Equal(listed, []string{"cls", "mean", "pooled"}) {
			t.Errorf("%+v: found the choices %v", c, listed)
		}
	}
}

func TestTokensRefused(t *testing.T) {
	plain := net(13, func(b *graph.Builder, maps string) string {
		return b.Node("Flatten", []string{b.Node("GlobalAveragePool", []string{maps})})
	})
	for name, c := range map[string]struct {
		m            *graph.Model
		choice, want string
	}{
		"no tokens": {plain, "mean", "expected a vision transformer"},
		"no class token": {vision(13, 8, 0, false), "cls",
			"found 4 tokens in \"tokens\" for 4 patches, expected a class token"},
		"free size":        {vision(13, 0, 1, false), "mean", "known number of patches"},
		"overlapping":      {transformer(17), "mean", "known number of patches"},
		"no such tensor":   {plain, "average", "no node makes it"},
		"nothing pooled":   {beside(vision(13, 8, 1, false), "tokens"), "pooled", `begins with "pool"`},
		"not even a graph": {beside(vision(13, 8, 1, false), "patches"), "cls", "found no tokens"},
	} {
		if _, _, _, err := graph.Vector(c.m, c.choice); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found %v, expected %q", name, err, c.want)
		}
	}
	if list := graph.Choices(plain); list != nil {
		t.Errorf("found %v", list)
	}
	// A tensor with the name of a choice takes precedence.
	b := graph.Extend(plain)
	b.SetOutputs(b.NodeTo("mean", "Identity", []string{plain.Graph.Outputs[0].Name}))
	if _, output, _, err := graph.Vector(b.Model(), "mean"); err != nil || output != "mean" {
		t.Errorf("found %q, %v", output, err)
	}
}

// TestTokensByDefault: exports without a classifier.
func TestTokensByDefault(t *testing.T) {
	found, err := graph.FeatureTensor(vision(13, 8, 1, false))
	if err != nil || found.Tensor != "pooler_output" {
		t.Errorf("found %+v, %v", found, err)
	}
	if _, err = graph.FeatureTensor(beside(vision(13, 8, 1, false), "tokens")); err == nil ||
		!strings.Contains(err.Error(), "--output: cls, mean or a tensor") {
		t.Errorf("found %v", err)
	}
}
