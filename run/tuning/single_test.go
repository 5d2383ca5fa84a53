package tuning

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/features"
	"winnow/head"
	"winnow/internal/testing/orttest"
)

// behind inserts nodes between a network's last tensor and its output.
func behind(m *graph.Model, nodes func(b *graph.Builder, last string) string) {
	out := m.Graph.Outputs[0].Name
	for _, n := range m.Graph.Nodes {
		if at := slices.Index(n.Outputs, out); at >= 0 {
			n.Outputs[at] = "last"
		}
	}
	m.Graph.Outputs = nil
	b := graph.Extend(m)
	b.NodeTo(out, "Identity", []string{nodes(b, "last")})
	b.Output(out)
	*m = *b.Model()
}

// batchOf makes a network take batches of exactly n images, such that its batch cannot be freed.
func batchOf(m *graph.Model, n int64) {
	in := *m.Graph.Inputs[0]
	in.Shape = slices.Clone(in.Shape)
	in.Shape[0] = graph.Fixed(n)
	m.Graph.Inputs[0] = &in
	behind(m, func(b *graph.Builder, last string) string {
		var rows []string
		for i := range n {
			row := b.Node("Gather", []string{last, b.Constant(graph.NewTensor("at", []int64{i}))})
			rows = append(rows, b.Node("Unsqueeze", []string{row, b.Constant(graph.NewTensor("axis", []int64{0}, 1))}))
		}
		return b.Node("Concat", rows, graph.Int("axis", 0))
	})
}

// A network that takes one image at a time trains like the same network with a free batch: the vectors and the
// gradients of a batch are equal. The same is true if only a part of the network is trained.
func TestFixedBatches(t *testing.T) {
	rt := orttest.Runtime(t)
	for _, weights := range []string{"all", "stage2"} {
		var zs []features.Set
		var grads [][][]float32
		for _, batch := range []int64{0, 1} {
			cfg, paths := drawnAs(t, "lenet5", func(m *graph.Model) {
				if batch > 0 {
					batchOf(m, batch)
				}
			})
			cfg.Finetune.Weights = weights
			live, notes, err := open(t, cfg, paths)
			if err != nil {
				t.Fatal(err)
			}
			const want = "takes one image at a time: the gradients of a batch are added"
			if said := strings.Join(notes, "\n"); batch > 0 && !strings.Contains(said, want) {
				t.Errorf("batch %d: notes %q", batch, notes)
			}
			live.Use(rt)
			dim := live.Cut.Dim
			set := features.Set{X: features.NewMatrix(len(paths), dim), Labels: []int{0, 1, 0, 1, 0, 1},
				IDs: features.AllRows(len(paths))}
			for i := range set.X.Data {
				set.X.Data[i] = float32(i%5) + 1
			}
			h, err := head.New(t.Context(), head.Config{In: dim, Out: 4, Init: "random"}, set.X,
				rand.New(rand.NewPCG(1, 2)))
			if err != nil {
				t.Fatal(err)
			}
			encoder, err := live.Encoder(t.Context(), h, Input{Train: set, Stored: set, Batch: 6})
			if err != nil {
				t.Fatal(err, notes)
			}
			defer live.Close()
			z, err := encoder.Forward([]int{5, 0, 3, 1, 2, 4})
			if err != nil {
				t.Fatal(err)
			}
			dz := features.NewMatrix(6, 4)
			for i := range dz.Data {
				dz.Data[i] = float32(i%7) - 3
			}
			z.X.Data = slices.Clone(z.X.Data)
			zs = append(zs, z)
			if err := encoder.Backward(dz); err != nil {
				t.Fatal(err)
			}
			var list [][]float32
			for _, p := range encoder.Params() {
				list = append(list, slices.Clone(p.Grad))
			}
			grads = append(grads, list)
		}
		same := func(what string, a, b []float32) {
			t.Helper()
			most, apart := float32(0), float32(0)
			for i, v := range a {
				most, apart = max(most, v, -v), max(apart, v-b[i], b[i]-v)
			}
			if len(a) != len(b) || !(apart <= 1e-4*most) {
				t.Errorf("weights %s: %s: differs by %v of %v", weights, what, apart, most)
			}
		}
		for other := 1; other < len(zs); other++ {
			same("vectors", zs[0].X.Data, zs[other].X.Data)
			if len(grads[0]) != len(grads[other]) || len(grads[0]) < 3 {
				t.Fatalf("%d and %d gradients", len(grads[0]), len(grads[other]))
			}
			for i := range grads[0] {
				same("gradient", grads[0][i], grads[other][i])
			}
		}
	}
}
