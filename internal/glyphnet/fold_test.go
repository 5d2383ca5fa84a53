package main

import (
	"math"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/models/architecture"
)

// vectors runs a model on images of 3×7×7.
func vectors(t *testing.T, model []byte, pixels []float32, rows int) []float32 {
	t.Helper()
	network, err := ort.NewNetwork(orttest.Runtime(t), model, outputName,
		ort.NetworkInput{Name: inputName, Channels: 3, Height: 7, Width: 7})
	if err != nil {
		t.Fatal(err)
	}
	defer network.Close()
	x := features.NewMatrix(rows, network.Dim())
	if err := network.Infer(x, pixels, rows); err != nil {
		t.Fatal(err)
	}
	return x.Data
}

// liveVectors runs the trained network as a live one whose normalisations rest.
func liveVectors(t *testing.T, n *network, pixels []float32, rows int) []float32 {
	t.Helper()
	m, err := n.exportTrained()
	if err != nil {
		t.Fatal(err)
	}
	d, err := gradient.Differentiate(m, gradient.Options{Output: architecture.Output,
		Weights: []string{"block1.conv1.weight"}})
	if err != nil {
		t.Fatal(err)
	}
	live, err := ort.NewLive(orttest.Runtime(t), d, ort.LiveOptions{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	x := features.NewMatrix(rows, live.Dim())
	if err := live.Forward(x, [][]float32{pixels}, rows, false); err != nil {
		t.Fatal(err)
	}
	return x.Data
}

// distance returns the largest difference relative to the largest value.
func distance(a, b []float32) float64 {
	var most, largest float64
	for i := range a {
		most = max(most, math.Abs(float64(a[i]-b[i])))
		largest = max(largest, math.Abs(float64(a[i])))
	}
	return most / largest
}

// The file with folded normalisations computes the same as the live network and the unfolded network.
func TestFileIsTheNetwork(t *testing.T) {
	n := open(t, odd, 4, 1)
	shake(n)
	pixels, classes := drawn(1, 6*3*7*7), []int{0, 3, 1, 1, 2, 0}
	for range 5 { // running averages that are not the initial ones
		pass(t, n, pixels, classes)
	}
	folded, err := n.encodeModel()
	if err != nil {
		t.Fatal(err)
	}
	got := vectors(t, folded, pixels, 6)
	want := func() []float32 {
		m, err := n.exportTrained()
		if err != nil {
			t.Fatal(err)
		}
		return vectors(t, m.Marshal(), pixels, 6)
	}
	const tolerance = 1e-5
	if d := distance(want(), got); d > tolerance {
		t.Errorf("folded and unfolded differ by %.2g of the largest value", d)
	}
	if d := distance(liveVectors(t, n, pixels, 6), got); d > tolerance {
		t.Errorf("the file and the live network differ by %.2g of the largest value", d)
	}
	for _, p := range append(n.listParams()[:len(n.listParams())-2], n.live.State()...) { // spoiled twins must be seen
		was := p.Data[0]
		p.Data[0] += 0.05
		if d := distance(want(), got); d <= tolerance {
			t.Errorf("a network with another %s is not seen (%.2g)", p.Name, d)
		}
		p.Data[0] = was
	}
}

func TestFoldRefuses(t *testing.T) {
	build := func(branch bool) *graph.Model {
		b := graph.NewBuilder("m", 13)
		x := b.Input(inputName, graph.Float32,
			graph.Shape{graph.Free("N"), graph.Fixed(1), graph.Fixed(4), graph.Fixed(4)})
		if branch {
			x = b.Node("Conv", []string{x, b.Constant(graph.NewTensor("w", []float32{2}, 1, 1, 1, 1))})
		}
		inputs := []string{x}
		for _, name := range []string{"scale", "shift", "mean", "variance"} {
			inputs = append(inputs, b.Constant(graph.NewTensor(name, []float32{1}, 1)))
		}
		y := b.Node("BatchNormalization", inputs)
		if branch {
			y = b.Node("Add", []string{x, y})
		}
		b.Output(y)
		return b.Model()
	}
	for what, m := range map[string]*graph.Model{"no convolution": build(false), "a second reader": build(true)} {
		if _, err := foldNormalizations(m); err == nil || !strings.Contains(err.Error(), "that it alone reads") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
