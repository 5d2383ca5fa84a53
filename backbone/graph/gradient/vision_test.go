package gradient_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/internal/testing/exports"
)

// TestVision checks that every weight of the vision transformers is trainable. Each gradient must match the stored
// slope of the network's output in a random direction.
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
				resized := strings.Contains(name, "position_embeddings") // resized position embeddings are not trained
				if cut.Graph.Initializer(name) != nil && !resized && !slices.Contains(weights, name) {
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
