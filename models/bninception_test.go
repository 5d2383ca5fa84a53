package models

import (
	"path/filepath"
	"testing"

	"winnow/backbone/graph"
)

// bnInception is Ioffe and Szegedy's network (Batch normalization, ICML 2015, figure 5) with random weights, laid
// out as in pretrainedmodels' export: each convolution has a bias and a normalisation, pooling windows reach over
// the edge.
func bnInception() *graph.Model {
	b := graph.NewBuilder("bn-inception", 17)
	x := b.Input("input", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(224),
		graph.Fixed(224)})
	ones := func(n int64, v float32) string {
		values := make([]float32, n)
		for i := range values {
			values[i] = v
		}
		return b.Constant(graph.NewTensor("n", values, n))
	}
	type layer struct{ out, kernel, stride int64 }
	conv := func(x string, in int64, list ...layer) string {
		for _, l := range list {
			pad := l.kernel / 2
			x = b.Node("Conv", []string{x, tensor(b, l.out, in, l.kernel, l.kernel), tensor(b, l.out)},
				graph.Ints("strides", l.stride, l.stride), graph.Ints("pads", pad, pad, pad, pad))
			x = b.Node("Relu", []string{b.Node("BatchNormalization",
				[]string{x, ones(l.out, 1), ones(l.out, 0.1), ones(l.out, 0), ones(l.out, 1)})})
			in = l.out
		}
		return x
	}
	pool := func(op, x string, stride, pad int64) string {
		return b.Node(op, []string{x}, graph.Ints("kernel_shape", 3, 3), graph.Ints("strides", stride, stride),
			graph.Ints("pads", pad, pad, pad, pad), graph.Int("ceil_mode", 1))
	}
	x = pool("MaxPool", conv(x, 3, layer{64, 7, 2}), 2, 0)
	x = pool("MaxPool", conv(x, 64, layer{64, 1, 1}, layer{192, 3, 1}), 2, 0)
	in := int64(192)
	for _, m := range []struct {
		one, three1, three, double1, double, pooled int64
		pool                                        string
	}{
		{64, 64, 64, 64, 96, 32, "AveragePool"}, {64, 64, 96, 64, 96, 64, "AveragePool"},
		{0, 128, 160, 64, 96, 0, "MaxPool"},
		{224, 64, 96, 96, 128, 128, "AveragePool"}, {192, 96, 128, 96, 128, 128, "AveragePool"},
		{160, 128, 160, 128, 160, 128, "AveragePool"},
		{96, 128, 192, 160, 192, 128, "AveragePool"}, {0, 128, 192, 192, 256, 0, "MaxPool"},
		{352, 192, 320, 160, 224, 128, "AveragePool"}, {352, 192, 320, 192, 224, 128, "MaxPool"},
	} {
		stride := int64(1)
		var ways []string
		if m.one == 0 {
			stride = 2
		} else {
			ways = append(ways, conv(x, in, layer{m.one, 1, 1}))
		}
		ways = append(ways, conv(x, in, layer{m.three1, 1, 1}, layer{m.three, 3, stride}),
			conv(x, in, layer{m.double1, 1, 1}, layer{m.double, 3, 1}, layer{m.double, 3, stride}))
		out := m.one + m.three + m.double
		if m.one == 0 {
			ways, out = append(ways, pool(m.pool, x, 2, 0)), out+in
		} else {
			ways, out = append(ways, conv(pool(m.pool, x, 1, 1), in, layer{m.pooled, 1, 1})), out+m.pooled
		}
		x, in = b.Node("Concat", ways, graph.Int("axis", 1)), out
	}
	x = b.Node("AveragePool", []string{x}, graph.Ints("kernel_shape", 7, 7))
	x = b.NodeTo("pooled", "Flatten", []string{x}, graph.Int("axis", 1))
	b.Output(b.NodeTo("logits", "Gemm", []string{x, tensor(b, 1000, in), tensor(b, 1000)}, graph.Int("transB", 1)))
	return b.Model()
}

// TestBNInception adds a BN-Inception as a user would, by name alone. It gets its own means and channel order and
// is cut before its classifier.
func TestBNInception(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "models.json"))
	b, p, err := r.AddFile(save(t, "mine.onnx", bnInception()), "bn-inception", Settings{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b.Preprocessing != presets["bn-inception"] || b.Preprocessing.Channels != "BGR" ||
		b.Preprocessing.Mean != [3]float32{104, 117, 128} {
		t.Errorf("found %+v", b.Preprocessing)
	}
	if p.Dim != 1024 || p.Cut != "pooled" || len(b.Warnings)+len(p.Warnings) > 0 {
		t.Errorf("found %d numbers at %q (%s), %q, %q", p.Dim, p.Cut, p.Why, b.Warnings, p.Warnings)
	}
	runs(t, b, p)
	report, err := r.Inspect("bn-inception", Settings{})
	if err != nil {
		t.Fatal(err)
	}
	const statistics = 2 * 10016 // running means and variances of the normalised maps
	if n := report.Structure.Parameters - statistics; n != 11295240 {
		t.Errorf("found %d parameters, expected 11,295,240", n)
	}
	if report.Feature == nil || report.Feature.Dim != 1024 {
		t.Errorf("found %+v", report.Feature)
	}
}
