package graph_test

import (
	"fmt"
	"math"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
)

// headOracle computes with plain loops the layers that Join adds.
func headOracle(x []float32, layers []graph.Layer, normalise bool) []float32 {
	for _, l := range layers {
		y := make([]float32, l.Out)
		for o := range y {
			var sum float64
			if l.Bias != nil {
				sum = float64(l.Bias[o])
			}
			for i := range l.In {
				w := l.Weight[o*l.In+i%l.In]
				if l.InByOut {
					w = l.Weight[i*l.Out+o]
				}
				sum += float64(w) * float64(x[i])
			}
			if l.ReLU {
				sum = max(sum, 0)
			}
			y[o] = float32(sum)
		}
		x = y
	}
	if !normalise {
		return x
	}
	var square float64
	for _, v := range x {
		square += float64(v) * float64(v)
	}
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(float64(v) / max(math.Sqrt(square), 1e-12))
	}
	return out
}

// TestJoin appends heads to a small network, for every operator set that both Join and the runtime accept, and
// compares with plain loops.
func TestJoin(t *testing.T) {
	layers := []graph.Layer{
		{In: 4, Out: 6, Weight: numbers(21, 24), Bias: numbers(22, 6), ReLU: true},
		{In: 6, Out: 3, Weight: numbers(23, 18), InByOut: true},
	}
	for opset := int64(7); opset <= 24; opset++ {
		t.Run(fmt.Sprint(opset), func(t *testing.T) {
			backbone, err := graph.Cut(small(opset), "Flatten")
			if err != nil {
				t.Fatal(err)
			}
			joined, err := graph.Join(backbone, layers, true, "embedding")
			if err != nil {
				t.Fatal(err)
			}
			if out := joined.Graph.Outputs; len(out) != 1 || out[0].String() != `"embedding" float32 [N,3]` {
				t.Fatalf("output %v", out)
			}
			images := numbers(5, 3*64)
			clear(images[64:128]) // a black image: its features and its vector are 0
			in := ort.Float32s(images, 3, 1, 8, 8)
			x, got := exec(t, backbone, in)[0], exec(t, joined, in)[0]
			for row := range 3 {
				want := headOracle(x.F32[4*row:4*row+4], layers, true)
				if d := farthest(got.F32[3*row:3*row+3], want); d > 1e-5 {
					t.Errorf("row %d: off by %g", row, d)
				}
				spoiled := headOracle(x.F32[4*row:4*row+4], layers, false)
				if row != 1 && farthest(got.F32[3*row:3*row+3], spoiled) <= 1e-5 {
					t.Errorf("row %d: a missing normalisation was not detected", row)
				}
			}
		})
	}
}

// TestJoinZero checks that without biases a zero feature stays zero, not NaN, and that a tiny feature still becomes a
// unit vector.
func TestJoinZero(t *testing.T) {
	b := graph.NewBuilder("zero", 13)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(2)})
	b.Output(b.Node("Relu", []string{x}))
	m, err := graph.Join(b.Model(), nil, true, "z")
	if err != nil {
		t.Fatal(err)
	}
	got := exec(t, m, ort.Float32s([]float32{0, 0, 3, 4, 3e-9, 4e-9}, 3, 2))[0].F32
	if farthest(got, []float32{0, 0, 0.6, 0.8, 0.6, 0.8}) > 1e-6 {
		t.Errorf("found %v", got)
	}
}

// TestJoinReal appends a head to a real network cut at its features, and compares with plain loops over the features.
func TestJoinReal(t *testing.T) {
	_, m := realModel(t, "mobilenetv2-features")
	layers := []graph.Layer{{In: 1280, Out: 16, Weight: numbers(31, 16*1280), Bias: numbers(32, 16)}}
	joined, err := graph.Join(m, layers, true, "embedding")
	if err != nil {
		t.Fatal(err)
	}
	x, got := exec(t, m, photo(2))[0], exec(t, joined, photo(2))[0]
	for row := range 2 {
		want := headOracle(x.F32[1280*row:1280*(row+1)], layers, true)
		if d := farthest(got.F32[16*row:16*row+16], want); d > 1e-5 {
			t.Errorf("row %d: off by %g", row, d)
		}
	}
}
