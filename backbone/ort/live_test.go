package ort_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
)

// drawnFloats returns n random numbers between -1 and 1.
func drawnFloats(seed uint64, n int) []float32 {
	rng := rand.New(rand.NewPCG(seed, 3))
	x := make([]float32, n)
	for i := range x {
		x[i] = 2*rng.Float32() - 1
	}
	return x
}

// weights returns a function that adds a random weight to a model.
func weights(b *graph.Builder) func(name string, seed uint64, dims ...int64) string {
	return func(name string, seed uint64, dims ...int64) string {
		n := int64(1)
		for _, d := range dims {
			n *= d
		}
		return b.Constant(graph.NewTensor(name, drawnFloats(seed, int(n)), dims...))
	}
}

// smallNet returns x [N,2,6,6] → Conv, Relu, MaxPool, Conv, Add(residual by a 1×1 Conv), GlobalAveragePool → [N,5,1,1].
func smallNet() (*graph.Model, []string) {
	b := graph.NewBuilder("small", 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(2), graph.Fixed(6), graph.Fixed(6)})
	w := weights(b)
	y := b.Node("Conv", []string{x, w("a.weight", 1, 4, 2, 3, 3), w("a.bias", 2, 4)}, graph.Ints("pads", 1, 1, 1, 1))
	y = b.NodeTo("stem", "Relu", []string{y})
	y = b.NodeTo("pooled", "MaxPool", []string{y}, graph.Ints("kernel_shape", 2, 2), graph.Ints("strides", 2, 2))
	z := b.Node("Conv", []string{y, w("b.weight", 3, 5, 4, 3, 3), w("b.bias", 4, 5)}, graph.Ints("pads", 1, 1, 1, 1))
	r := b.Node("Conv", []string{y, w("c.weight", 5, 5, 4, 1, 1)})
	b.Output(b.NodeTo("features", "GlobalAveragePool",
		[]string{b.Node("Relu", []string{b.Node("Add", []string{z, r})})}))
	return b.Model(), []string{"a.weight", "a.bias", "b.weight", "b.bias", "c.weight"}
}

func openLive(t testing.TB, m *graph.Model, weights []string) *ort.Live {
	t.Helper()
	return openWith(t, m, weights, ort.LiveOptions{Model: m})
}

// openPlaced opens a network whose weights are in the runtime's memory, as on a device.
func openPlaced(t testing.TB, m *graph.Model, weights []string) *ort.Live {
	t.Helper()
	return openWith(t, m, weights, ort.LiveOptions{Model: m, Resident: true})
}

func openWith(t testing.TB, m *graph.Model, weights []string, o ort.LiveOptions) *ort.Live {
	t.Helper()
	rt := orttest.Runtime(t)
	d, err := gradient.Differentiate(m, gradient.Options{Output: "features", Weights: weights})
	if err != nil {
		t.Fatal(err)
	}
	l, err := ort.NewLive(rt, d, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// whole computes a model's features by ordinary inference.
func whole(t testing.TB, m *graph.Model, x []float32, n, dim int) blas32.General {
	t.Helper()
	net, err := ort.NewNetwork(orttest.Runtime(t), m.Marshal(), "features",
		ort.NetworkInput{Channels: 2, Height: 6, Width: 6})
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	out := features.NewMatrix(n, dim)
	if err := net.Infer(out, x, n); err != nil {
		t.Fatal(err)
	}
	return out
}

func furthest(a, b []float32) float64 {
	var worst float64
	for i, v := range a {
		worst = max(worst, math.Abs(float64(v-b[i])))
	}
	return worst
}

// loss returns Σ d·y with the network's current weights, with or without keep.
func loss(t testing.TB, l *ort.Live, x []float32, d blas32.General, keep bool) float64 {
	t.Helper()
	y := features.NewMatrix(d.Rows, d.Cols)
	if err := l.Forward(y, [][]float32{x}, d.Rows, keep); err != nil {
		t.Fatal(err)
	}
	var sum float64
	for i, v := range y.Data {
		sum += float64(v) * float64(d.Data[i])
	}
	return sum
}

// weightsOff returns ‖Grad - slopes‖ / ‖slopes‖ over all weights; the slopes are central differences.
func weightsOff(t testing.TB, l *ort.Live, x []float32, d blas32.General) float64 {
	var off, size float64
	for _, p := range l.Params() {
		for i := range p.Data {
			const h = 1e-3
			at := p.Data[i]
			p.Data[i] = at + h
			up := loss(t, l, x, d, false)
			p.Data[i] = at - h
			down := loss(t, l, x, d, false)
			p.Data[i] = at
			slope := (up - down) / (2 * h)
			off, size = off+(slope-float64(p.Grad[i]))*(slope-float64(p.Grad[i])), size+slope*slope
		}
	}
	return math.Sqrt(off / size)
}

func TestLive(t *testing.T) {
	m, weights := smallNet()
	l := openLive(t, m, weights)
	if l.Dim() != 5 || len(l.Inputs()) != 1 || l.Inputs()[0] != 72 {
		t.Fatalf("dimension %d, inputs %v", l.Dim(), l.Inputs())
	}
	for i, want := range []string{"a.weight 4×18 false", "a.bias 1×4 true", "b.weight 5×36 false",
		"b.bias 1×5 true", "c.weight 5×4 false"} {
		p := l.Params()[i]
		if got := fmt.Sprintf("%s %d×%d %v", p.Name, p.Rows, p.Cols, p.NoDecay); got != want {
			t.Errorf("parameter %d: %s, expected %s", i, got, want)
		}
	}
	for _, n := range []int{3, 5, 1, 5, 2} { // other numbers of images change the shapes of the kept tensors
		x := drawnFloats(uint64(n), n*72)
		want := whole(t, m, x, n, 5)
		for _, keep := range []bool{true, false} {
			y := features.NewMatrix(n, 5)
			if err := l.Forward(y, [][]float32{x}, n, keep); err != nil {
				t.Fatal(err)
			}
			if off := furthest(want.Data, y.Data); off > 1e-5 {
				t.Errorf("n=%d keep=%v: the vectors are off by %.3g", n, keep, off)
			}
		}
		d := blas32.General{Rows: n, Cols: 5, Stride: 5, Data: drawnFloats(uint64(n)+50, n*5)}
		if err := l.Backward(d, false); err != nil {
			t.Fatal(err)
		}
		if off := weightsOff(t, l, x, d); !(off < 1e-2) {
			t.Errorf("n=%d: the gradients are off by %.3g of their size", n, off)
		}
		l.Params()[2].Grad[7] *= 2 // control: one gradient is wrong
		l.Params()[2].Grad[7]++
		if off := weightsOff(t, l, x, d); off < 2e-2 {
			t.Errorf("n=%d: a spoiled gradient passed: %.3g", n, off)
		}
	}
}

// Tests a row stride, adding gradients, and the order of forward passes.
func TestLiveAdds(t *testing.T) {
	m, weights := smallNet()
	l := openLive(t, m, weights)
	wide := blas32.General{Rows: 2, Cols: 5, Stride: 8, Data: drawnFloats(9, 16)}
	tight := features.NewMatrix(2, 5)
	for i := range 2 {
		copy(features.Row(tight, i), features.Row(wide, i))
	}
	x := drawnFloats(1, 144)
	grads := func(d blas32.General, add bool) [][]float32 {
		if err := l.Forward(features.NewMatrix(2, 5), [][]float32{x}, 2, true); err != nil {
			t.Fatal(err)
		}
		// A pass in between must not change the kept tensors.
		if err := l.Forward(features.NewMatrix(1, 5), [][]float32{drawnFloats(77, 72)}, 1, false); err != nil {
			t.Fatal(err)
		}
		if err := l.Backward(d, add); err != nil {
			t.Fatal(err)
		}
		var list [][]float32
		for _, p := range l.Params() {
			list = append(list, append([]float32(nil), p.Grad...))
		}
		return list
	}
	once := grads(wide, false)
	same := grads(tight, false)
	twice := grads(tight, true)
	for i := range once {
		for j, v := range once[i] {
			if same[i][j] != v {
				t.Fatalf("with another stride gradient %d of %s is %v, before %v", j, l.Params()[i].Name, same[i][j], v)
			}
			if twice[i][j] != 2*v {
				t.Fatalf("added gradient %d of %s is %v, expected %v", j, l.Params()[i].Name, twice[i][j], 2*v)
			}
		}
	}
}

// After some steps, the model with the trained values written back computes the same as the live network.
func TestLiveWrittenBack(t *testing.T) {
	m, _ := smallNet()
	l := openLive(t, m, []string{"b.weight", "a.bias"})
	x := drawnFloats(4, 3*72)
	before := whole(t, m, x, 3, 5)
	for range 5 {
		d := blas32.General{Rows: 3, Cols: 5, Stride: 5, Data: drawnFloats(8, 15)}
		loss(t, l, x, d, true)
		if err := l.Backward(d, false); err != nil {
			t.Fatal(err)
		}
		for _, p := range l.Params() {
			for i, g := range p.Grad {
				p.Data[i] -= 0.05 * g
			}
		}
	}
	written, err := graph.WithValues(m, l.Values())
	if err != nil {
		t.Fatal(err)
	}
	read, err := graph.Read(written.Marshal())
	if err != nil {
		t.Fatal(err)
	}
	got := features.NewMatrix(3, 5)
	if err := l.Forward(got, [][]float32{x}, 3, false); err != nil {
		t.Fatal(err)
	}
	if off := furthest(whole(t, read, x, 3, 5).Data, got.Data); off > 1e-5 {
		t.Errorf("the written model is off by %.3g", off)
	}
	if off := furthest(before.Data, got.Data); off < 1e-2 {
		t.Errorf("training moved the vectors by %.3g only: the check above shows nothing", off)
	}
}

// The frozen prefix and the live part together equal the network.
func TestPrefix(t *testing.T) {
	m, _ := smallNet()
	frozen, live, boundary, err := gradient.Split(m, "features", []string{"b.weight"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := gradient.Differentiate(live, gradient.Options{Output: "features", Weights: []string{"b.weight"}})
	if err != nil {
		t.Fatal(err)
	}
	rt := orttest.Runtime(t)
	l, err := ort.NewLive(rt, d, ort.LiveOptions{Model: m})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := ort.NewPrefix(rt, frozen, append(l.InputNames(), "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if len(p.Outputs()) != len(boundary)+1 || p.Inputs()[0] != 72 || p.Outputs()[len(boundary)] != 72 {
		t.Fatalf("inputs %v, outputs %v for the boundary %q", p.Inputs(), p.Outputs(), boundary)
	}
	for _, n := range []int{3, 1, 4} {
		x := drawnFloats(uint64(n), n*72)
		var mid [][]float32
		for _, size := range p.Outputs() {
			mid = append(mid, make([]float32, n*size))
		}
		if err := p.Infer(mid, [][]float32{x}, n); err != nil {
			t.Fatal(err)
		}
		if off := furthest(x, mid[len(boundary)]); off != 0 {
			t.Error("the image was not passed through")
		}
		y := features.NewMatrix(n, 5)
		if err := l.Forward(y, mid[:len(boundary)], n, true); err != nil {
			t.Fatal(err)
		}
		if off := furthest(whole(t, m, x, n, 5).Data, y.Data); off > 1e-5 {
			t.Errorf("n=%d: off by %.3g", n, off)
		}
	}
	if err := p.Infer([][]float32{nil, nil}, [][]float32{drawnFloats(1, 72)}, 1); err == nil {
		t.Error("empty outputs were accepted")
	}
	if err := p.Infer(nil, nil, 1); err == nil {
		t.Error("missing inputs were accepted")
	}
}

// step runs one forward and backward pass and returns vectors and gradients.
func step(t testing.TB, l *ort.Live, n int) (vectors []float32, grads [][]float32) {
	t.Helper()
	y := features.NewMatrix(n, l.Dim())
	if err := l.Forward(y, [][]float32{drawnFloats(uint64(n), n*l.Inputs()[0])}, n, true); err != nil {
		t.Fatal(err)
	}
	if err := l.Backward(blas32.General{Rows: n, Cols: l.Dim(), Stride: l.Dim(), Data: drawnFloats(7, n*l.Dim())},
		false); err != nil {
		t.Fatal(err)
	}
	for _, p := range l.Params() {
		grads = append(grads, append([]float32(nil), p.Grad...))
	}
	return y.Data, grads
}

// Weights in the runtime's memory, as on a device, and shapes that only the runtime knows do not change any bit.
func TestLiveOtherWays(t *testing.T) {
	m, weights := smallNet()
	plain, uploaded := openLive(t, m, weights), openPlaced(t, m, weights)
	for _, n := range []int{4, 2, 4} {
		wantY, want := step(t, plain, n)
		for name, l := range map[string]*ort.Live{"uploaded": uploaded} {
			y, grads := step(t, l, n)
			if furthest(wantY, y) != 0 {
				t.Errorf("%s, n=%d: the vectors differ", name, n)
			}
			for i := range want {
				if furthest(want[i], grads[i]) != 0 {
					t.Errorf("%s, n=%d: the gradient of %s differs", name, n, l.Params()[i].Name)
				}
			}
		}
		for _, l := range []*ort.Live{plain, uploaded} { // the network must use the solver's new weights
			l.Params()[2].Data[3] += 0.5
		}
	}
}

// The last layer's gradient is at the end, only the order changes, and every node still follows the nodes that it
// reads.
func TestInMemoryOrder(t *testing.T) {
	m, weights := smallNet()
	d, err := gradient.Differentiate(m, gradient.Options{Output: "features", Weights: weights})
	if err != nil {
		t.Fatal(err)
	}
	before := string(d.Backward.Marshal())
	ordered := ort.InMemoryOrder(d.Backward)
	if string(d.Backward.Marshal()) != before {
		t.Error("inMemoryOrder changed its argument")
	}
	if err := ordered.Check(); err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, n := range ordered.Graph.Nodes {
		for _, out := range n.Outputs {
			at[out] = i
		}
	}
	first, last := at[d.Grads[0]], at[d.Grads[2]]
	if !(first < last) || len(ordered.Graph.Nodes) >= len(d.Backward.Graph.Nodes) {
		t.Errorf("the first layer's gradient is node %d, the second's %d, of %d nodes that were %d",
			first, last, len(ordered.Graph.Nodes), len(d.Backward.Graph.Nodes))
	}
}
