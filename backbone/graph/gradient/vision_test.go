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
