package tuning

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/features"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/internal/testing/orttest"
)

// behind puts nodes between a network's last tensor and its output.
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

// A network that takes one image at a time learns as the same network that takes any number: the vectors of a batch and
// its gradients are the same.
func TestOneImageAtATime(t *testing.T) {
	rt := orttest.Runtime(t)
	var zs []features.Set
	var grads [][][]float32
	for _, single := range []bool{false, true} {
		cfg, paths := drawnAs(t, "lenet5", func(m *graph.Model) {
			if !single {
				return
			}
			in := *m.Graph.Inputs[0]
			in.Shape = slices.Clone(in.Shape)
			in.Shape[0] = graph.Fixed(1)
			m.Graph.Inputs[0] = &in
			behind(m, func(b *graph.Builder, last string) string {
				first := b.Node("Gather", []string{last, b.Constant(graph.NewTensor("zero", []int64{0}))})
				return b.Node("Unsqueeze", []string{first, b.Constant(graph.NewTensor("axis", []int64{0}, 1))})
			})
		})
		live, notes, err := open(t, cfg, paths)
		if err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(strings.Join(notes, "\n"), "one image at a time"); told != single {
			t.Errorf("single %v: notes %q", single, notes)
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
		encoder, err := live.Encoder(t.Context(), h, Input{Train: set, Stored: set, Batch: 4})
		if err != nil {
			t.Fatal(err, notes)
		}
		defer live.Close()
		z, err := encoder.Forward([]int{5, 0, 3})
		if err != nil {
			t.Fatal(err)
		}
		dz := features.NewMatrix(3, 4)
		for i := range dz.Data {
			dz.Data[i] = float32(i) - 4
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
			t.Errorf("%s: differs by %v of %v", what, apart, most)
		}
	}
	same("vectors", zs[0].X.Data, zs[1].X.Data)
	if len(grads[0]) != len(grads[1]) || len(grads[0]) < 3 {
		t.Fatalf("%d and %d gradients", len(grads[0]), len(grads[1]))
	}
	for i := range grads[0] {
		same("gradient", grads[0][i], grads[1][i])
	}
}

// A quantised network is refused with the reason, and with what can be done.
func TestQuantisedIsRefused(t *testing.T) {
	cfg, paths := drawnAs(t, "lenet5", func(m *graph.Model) {
		behind(m, func(b *graph.Builder, last string) string {
			scale := b.Constant(graph.NewTensor("scale", []float32{0.1}))
			zero := b.Constant(graph.NewTensor("zero", []uint8{128}))
			whole := b.Node("QuantizeLinear", []string{last, scale, zero})
			return b.Node("DequantizeLinear", []string{whole, scale, zero})
		})
	})
	_, _, err := open(t, cfg, paths)
	if err == nil || !strings.Contains(err.Error(), "is quantised (QuantizeLinear): its weights are integers") ||
		!strings.Contains(hint.Of(err), "train a head alone") {
		t.Errorf("found %v (%s)", err, hint.Of(err))
	}
}
