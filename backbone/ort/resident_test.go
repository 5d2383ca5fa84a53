package ort_test

import (
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/internal/testing/orttest"
)

// nearest is q [N,4] and g [4,M] → the two largest of each row of q·g, and their places.
func nearest() []byte {
	b := graph.NewBuilder("nearest", 17)
	q := b.Input("q", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(4)})
	g := b.Input("g", graph.Float32, graph.Shape{graph.Fixed(4), graph.Free("M")})
	s := b.Node("MatMul", []string{q, g})
	b.Add(&graph.Node{Op: "TopK", Inputs: []string{s, b.Constant(graph.NewTensor("k", []int64{2}, 1))},
		Outputs: []string{"similarity", "row"}})
	m := b.Model()
	pairs := graph.Shape{graph.Free("N"), graph.Fixed(2)}
	m.Graph.Outputs = []*graph.ValueInfo{{Name: "similarity", Type: graph.Float32, Shape: pairs},
		{Name: "row", Type: graph.Int64, Shape: pairs}}
	return m.Marshal()
}

// Tensors that stay on the device give the same results as tensors copied with every run.
func TestResident(t *testing.T) {
	rt := orttest.Runtime(t)
	d, err := rt.NewResident(nearest(), ort.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	plain, err := rt.NewSession(nearest(), ort.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	g := ort.Float32s(drawnFloats(1, 4*50), 4, 50)
	if err := d.Put("g", g); err != nil {
		t.Fatal(err)
	}
	for i, n := range []int64{3, 7, 7, 1} {
		q := ort.Float32s(drawnFloats(uint64(10+i), int(4*n)), n, 4)
		want := make([]ort.Tensor, 2)
		if err := plain.Run([]ort.Tensor{q, g}, want); err != nil {
			t.Fatal(err)
		}
		for _, err := range []error{d.Put("q", q), d.Take("similarity", ort.Float, n, 2),
			d.Take("row", ort.Int64, n, 2), d.Run(), d.Run()} {
			if err != nil {
				t.Fatal(err)
			}
		}
		similarity, row, back := make([]float32, 2*n), make([]int64, 2*n), make([]float32, 4*n)
		for _, err := range []error{d.Fetch("similarity", ort.Float32s(similarity, n, 2)),
			d.Fetch("row", ort.Int64s(row, n, 2)), d.Fetch("q", ort.Float32s(back, n, 4))} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if !slices.Equal(similarity, want[0].F32) || !slices.Equal(row, want[1].I64) || !slices.Equal(back, q.F32) {
			t.Errorf("%d queries: found %v %v, expected %v %v", n, similarity, row, want[0].F32, want[1].I64)
		}
	}
	for want, err := range map[string]error{
		`found no output "nope"`:           d.Take("nope", ort.Float, 1),
		`found no output "none", expected`: d.Put("none", g),
		"expected float32 with":            d.Take("similarity", ort.Int64, 1, 2),
		"expected int64 with":              d.Take("row", ort.Int64),
		"found int64 [1 2] to fetch into":  d.Fetch("similarity", ort.Int64s(make([]int64, 2), 1, 2)),
		"found float32 [2] to fetch into":  d.Fetch("similarity", ort.Float32s(make([]float32, 2), 2)),
		`"absent" is not bound`:            d.Fetch("absent", g),
		"shape [4 3] has 12 elements":      d.Put("g", ort.Float32s(make([]float32, 2), 4, 3)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	for range 2 {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, err := range []error{d.Run(), d.Put("g", g), d.Take("row", ort.Int64, 1, 2),
		d.Fetch("row", ort.Int64s(make([]int64, 2), 1, 2))} {
		if err == nil {
			t.Error("a closed one still works")
		}
	}
}

// An output without memory gives an error, not a crash.
func TestResidentUnbound(t *testing.T) {
	d, err := orttest.Runtime(t).NewResident(nearest(), ort.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := d.Run(); err == nil || !strings.Contains(err.Error(), `"q" is not bound`) {
		t.Errorf("found %v", err)
	}
}
