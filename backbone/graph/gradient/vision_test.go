package gradient_test

import (
	"math"
	"slices"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/internal/testing/vits"
)

// TestVision: for every form of the vision transformers, every weight is trainable, and its gradient is the slope of
// the plain evaluation in a drawn direction, by central differences.
func TestVision(t *testing.T) {
	const images, h = 2, 1e-5
	for _, kind := range vits.Kinds() {
		for i, form := range vits.Forms(kind) {
			t.Run(form.String(), func(t *testing.T) {
				n := vits.New(form, uint64(i+1))
				sized := graph.Sized(n.Model, "pixel_values", 3, vits.Side, vits.Side)
				cut, output, dim, err := graph.Vector(sized, form.Output())
				if err != nil {
					t.Fatal(err)
				}
				m := gradient.Plain(cut)
				weights, err := gradient.Choose(m, output, gradient.AllWeights)
				if err != nil {
					t.Fatal(err)
				}
				for name := range n.Weights {
					if cut.Graph.Initializer(name) != nil && !slices.Contains(weights, name) {
						t.Errorf("%q is not trainable", name)
					}
				}
				d, err := gradient.Differentiate(m, gradient.Options{Output: output, Weights: weights})
				if err != nil {
					t.Fatal(err)
				}
				pixels := drawn(uint64(i+7), -1, 1, images, 3, vits.Side, vits.Side)
				values := map[string]array{"pixel_values": pixels}
				for _, name := range weights {
					values[name] = array{m.Graph.Initializer(name).Dims, n.Weights[name]}
				}
				run := newMachine(t, d, graph.Float32)
				tensors := run.forward(values)
				by := drawn(99, -1, 1, images, int64(dim))
				grads := run.backward(tensors, by)
				loss := func() (sum float64) {
					for im := range images {
						_, vector := n.Eval(pixels.data[im*3*vits.Side*vits.Side : (im+1)*3*vits.Side*vits.Side])
						for k, v := range vector {
							sum += v * by.data[im*dim+k]
						}
					}
					return sum
				}
				for w, name := range weights {
					x, way := n.Weights[name], drawn(uint64(w+1), -1, 1, int64(len(n.Weights[name]))).data
					at := slices.Clone(x)
					var slope, size float64
					for j, g := range grads[w].data {
						slope += g * way[j]
						size += g * g
					}
					var sides [2]float64
					for s, sign := range []float64{1, -1} {
						for j := range x {
							x[j] = at[j] + sign*h*way[j]
						}
						sides[s] = loss()
					}
					copy(x, at)
					if got := (sides[0] - sides[1]) / (2 * h); !(math.Abs(got-slope) < 1e-3*(math.Sqrt(size)+1e-2)) {
						t.Errorf("%s: slope %.6g by the gradient, %.6g by differences", name, slope, got)
					}
				}
			})
		}
	}
}

// TestPlainSame: a network written out from fused operators computes the same.
func TestPlainSame(t *testing.T) {
	for _, kind := range vits.Kinds() {
		n := vits.New(vits.Form{Kind: kind, Fused: true}, 5)
		x := drawn(3, -1, 1, 2, 3, vits.Side, vits.Side).tensor(graph.Float32)
		in := map[string]ort.Tensor{"pixel_values": x}
		plain := gradient.Plain(n.Model)
		if slices.ContainsFunc(plain.Graph.Nodes, func(n *graph.Node) bool {
			return n.Domain != "" && n.Op != "Gelu"
		}) {
			t.Errorf("%s: fused operators are left", kind)
		}
		want, got := runModel(t, n.Model, in), runModel(t, plain, in)
		for name, v := range want {
			if off := farthest(arrayOf(got[name]), arrayOf(v), 1e-3); off > 1e-5 {
				t.Errorf("%s: %s: off by %g", kind, name, off)
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
