package gradient_test

import (
	"math"
	"slices"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/internal/testing/exports"
)

// TestVision: every weight of the vision transformers is trainable, and its gradient is the stored slope of the plain
// evaluation in a drawn direction.
func TestVision(t *testing.T) {
	const images, side = 2, 12
	for _, n := range exports.Transformers(t) {
		t.Run(n.Name, func(t *testing.T) {
			read, err := graph.Read(n.File)
			if err != nil {
				t.Fatal(err)
			}
			cut, output, dim, err := graph.Vector(graph.Sized(read, "pixel_values", 3, side, side), n.Output)
			if err != nil {
				t.Fatal(err)
			}
			m := gradient.Plain(cut)
			weights, err := gradient.Choose(m, output, gradient.AllWeights)
			if err != nil {
				t.Fatal(err)
			}
			for name := range n.Slopes {
				if cut.Graph.Initializer(name) != nil && !slices.Contains(weights, name) {
					t.Errorf("%q is not trainable", name)
				}
			}
			d, err := gradient.Differentiate(m, gradient.Options{Output: output, Weights: weights})
			if err != nil {
				t.Fatal(err)
			}
			values := map[string]array{"pixel_values": drawn(7, -1, 1, images, 3, side, side)}
			for _, name := range weights {
				w, err := m.Graph.Initializer(name).Float32s()
				if err != nil {
					t.Fatal(err)
				}
				values[name] = array{dims: m.Graph.Initializer(name).Dims}
				for _, v := range w {
					values[name] = array{values[name].dims, append(values[name].data, float64(v))}
				}
			}
			run := newMachine(t, d, graph.Float32)
			grads := run.backward(run.forward(values), drawn(99, -1, 1, images, int64(dim)))
			compared := 0
			for w, name := range weights {
				want, has := n.Slopes[name]
				if !has {
					continue
				}
				compared++
				var slope float64
				for j, way := range drawn(uint64(len(name)), -1, 1, int64(len(values[name].data))).data {
					slope += grads[w].data[j] * way
				}
				if !(math.Abs(want[0]-slope) < 1e-3*(math.Sqrt(want[1])+1e-2)) {
					t.Errorf("%s: slope %.6g by the gradient, %.6g by differences", name, slope, want[0])
				}
			}
			if compared < 30 {
				t.Errorf("%d weights were compared, expected 30", compared)
			}
		})
	}
}

// TestPlainSame: a network written out from fused operators computes the same.
func TestPlainSame(t *testing.T) {
	for _, name := range []string{"clip", "siglip2"} {
		m, err := graph.Read(exports.ByName(t, name).File)
		if err != nil {
			t.Fatal(err)
		}
		in := map[string]ort.Tensor{"pixel_values": drawn(3, -1, 1, 2, 3, 12, 12).tensor(graph.Float32)}
		plain := gradient.Plain(m)
		if slices.ContainsFunc(plain.Graph.Nodes, func(n *graph.Node) bool {
			return n.Domain != "" && n.Op != "Gelu"
		}) {
			t.Errorf("%s: fused operators are left", name)
		}
		want, got := runModel(t, m, in), runModel(t, plain, in)
		for output, v := range want {
			if off := farthest(arrayOf(got[output]), arrayOf(v), 1e-3); off > 1e-5 {
				t.Errorf("%s: %s: off by %g", name, output, off)
			}
		}
	}
}

// A convolution or product that is fused with an activation, or with a sum and an activation, is written out as both.
func TestPlainActivations(t *testing.T) {
	for activation, params := range map[string][]float32{"": nil, "Relu": nil, "Tanh": nil, "Sigmoid": nil,
		"LeakyRelu": {.3}, "HardSigmoid": {.3, .4}, "Clip": {-.5, .75}} {
		b := graph.NewBuilder("fused", 17)
		b.Import("com.microsoft", 1)
		x := b.Input("x", graph.Float32, graph.ShapeOf(2, 3, 4, 4))
		fuse := func(out, op string, inputs []string, list ...*graph.Attribute) {
			list = append(list, graph.String("activation", activation))
			if op == "FusedGemm" {
				for i, v := range params {
					list = append(list, graph.Float([]string{"activation_alpha", "activation_beta"}[i], v))
				}
			} else if params != nil {
				list = append(list, &graph.Attribute{Name: "activation_params", Kind: graph.KindFloats, Floats: params})
			}
			if activation == "" {
				list = list[:len(list)-1]
			}
			b.Add(&graph.Node{Name: out, Domain: "com.microsoft", Op: op, Inputs: inputs, Outputs: []string{out},
				Attributes: list})
		}
		weight := func(seed uint64, dims ...int64) string {
			var values []float32
			for _, v := range drawn(seed, -1, 1, dims...).data {
				values = append(values, float32(v))
			}
			return b.Constant(graph.NewTensor(b.Fresh("w"), values, dims...))
		}
		pads := graph.Ints("pads", 1, 1, 1, 1)
		fuse("first", "FusedConv", []string{x, weight(1, 3, 3, 3, 3), weight(2, 3)}, pads)
		fuse("second", "FusedConv", []string{"first", weight(3, 3, 3, 3, 3), weight(4, 3), x}, pads)
		b.Output(b.NodeTo("rows", "Flatten", []string{"second"}))
		if activation != "Clip" && activation != "" { // FusedGemm has others
			fuse("last", "FusedGemm", []string{"rows", weight(5, 48, 5), weight(6, 5)})
			b.Output("last")
		}
		m := b.Model()
		in := map[string]ort.Tensor{"x": drawn(7, -1, 1, 2, 3, 4, 4).tensor(graph.Float32)}
		plain := gradient.Plain(m)
		for _, n := range plain.Graph.Nodes {
			if n.Domain != "" {
				t.Errorf("%q: %s is left", activation, n.Op)
			}
		}
		want, got := runModel(t, m, in), runModel(t, plain, in)
		for name, v := range want {
			if off := farthest(arrayOf(got[name]), arrayOf(v), 1e-3); off > 1e-5 {
				t.Errorf("%q: %s: off by %g", activation, name, off)
			}
		}
	}
}

// TestOldResize: Upsample, and Resize before set 11, are computed by products as the runtime computes them.
func TestOldResize(t *testing.T) {
	for _, c := range []struct {
		op, mode string
		opset    int64
		scale    float32
	}{{"Upsample", "nearest", 7, 2}, {"Upsample", "nearest", 9, 2}, {"Upsample", "linear", 9, 2}, {"Resize",
		"nearest", 10, 2},
		{"Resize", "nearest", 10, 0.5}, {"Resize", "linear", 10, 1.5}, {"Resize", "nearest", 13, 2}} {
		b := graph.NewBuilder("resize", c.opset)
		in := []string{b.Input("x", graph.Float32, graph.ShapeOf(2, 3, 4, 6))}
		attributes := []*graph.Attribute{graph.String("mode", c.mode)}
		scales := []float32{1, 1, c.scale, c.scale}
		switch {
		case c.opset < 9:
			attributes = append(attributes, &graph.Attribute{Name: "scales", Kind: graph.KindFloats, Floats: scales})
		case c.opset > 10:
			in = append(in, "", b.Constant(graph.NewTensor("scales", scales, 4)))
		default:
			in = append(in, b.Constant(graph.NewTensor("scales", scales, 4)))
		}
		b.Output(b.Node(c.op, in, attributes...))
		m := b.Model()
		d, err := gradient.Differentiate(m, gradient.Options{Inputs: []string{"x"}})
		if err != nil {
			t.Fatalf("%v: %v", c, err)
		}
		x := map[string]ort.Tensor{"x": drawn(7, -1, 1, 2, 3, 4, 6).tensor(graph.Float32)}
		want, got := runModel(t, m, x), runModel(t, d.Forward, x)
		if off := farthest(arrayOf(got[d.Output]), arrayOf(want[m.Graph.Outputs[0].Name]), 1e-3); off > 1e-5 {
			t.Errorf("%v: off by %g", c, off)
		}
	}
}
