package live_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/live"
	"winnow/features"
	"winnow/losses"
)

// matrix returns an n×d matrix over data, or of zeros if data is nil.
func matrix(data []float32, n, d int) blas32.General {
	m := features.NewMatrix(n, d)
	copy(m.Data, data)
	return m
}

func drawn(seed uint64, n, d int) blas32.General {
	rng := rand.New(rand.NewPCG(seed, 4))
	m := features.NewMatrix(n, d)
	for i := range m.Data {
		m.Data[i] = float32(rng.NormFloat64())
	}
	return m
}

func upTo(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// value returns ⟨z, G⟩ for rows with the encoder's current weights.
func value(t testing.TB, e *live.Encoder, rows []int, g blas32.General) float64 {
	t.Helper()
	z, err := e.Forward(rows)
	if err != nil {
		t.Fatal(err)
	}
	var sum float64
	for i := range z.Len() {
		for j, v := range z.Row(i) {
			sum += float64(v) * float64(features.Row(g, i)[j])
		}
	}
	return sum
}

// off returns ‖Grad - slopes‖/‖slopes‖; the slopes are central differences through head and network together.
func off(t testing.TB, e *live.Encoder, rows []int, g blas32.General) float64 {
	var diff, size float64
	for _, p := range e.Params() {
		grad := slices.Clone(p.Grad)
		for i := 0; i < len(p.Data); i += 1 + len(p.Data)/40 {
			const h = 2e-3
			at := p.Data[i]
			p.Data[i] = at + h
			up := value(t, e, rows, g)
			p.Data[i] = at - h
			down := value(t, e, rows, g)
			p.Data[i] = at
			slope := (up - down) / (2 * h)
			diff, size = diff+(slope-float64(grad[i]))*(slope-float64(grad[i])), size+slope*slope
		}
	}
	return math.Sqrt(diff / size)
}

func TestGradient(t *testing.T) {
	g := newGratings(1, 24)
	m, weights := network(2)
	for _, bn := range []gradient.BatchNorm{{}, {Train: true}} {
		e := encode(t, g, open(t, m, weights, bn), pixels(t, g, backbone.Augmentation{}, nil), 8, 0)
		if got, want := len(e.Params()), len(weights)+2; got != want {
			t.Fatalf("%d parameters, expected %d: the network's, then the head's", got, want)
		}
		if (len(e.State()) > 0) != bn.Train {
			t.Errorf("training %v, and %d statistics", bn.Train, len(e.State()))
		}
		for _, rows := range [][]int{{3, 9, 4, 20, 11, 0, 17, 5}, {7, 2, 13}} {
			G := drawn(uint64(len(rows)), len(rows), 8)
			value(t, e, rows, G)
			if err := e.Backward(G); err != nil {
				t.Fatal(err)
			}
			if d := off(t, e, rows, G); !(d < 2e-2) {
				t.Errorf("training %v, %d rows: gradients are off by %.3g of their size", bn.Train, len(rows), d)
			}
			for _, v := range []int{0, len(e.Params()) - 2} { // control: one gradient is missing
				p := e.Params()[v]
				keep := slices.Clone(p.Grad)
				clear(p.Grad)
				if d := off(t, e, rows, G); d < 5e-2 {
					t.Errorf("without the gradient of %s: off by %.3g only", p.Name, d)
				}
				copy(p.Grad, keep)
			}
		}
	}
}

// forgetful is a network that never adds to gradients.
type forgetful struct{ backbone.LiveNetwork }

func (f forgetful) Backward(d blas32.General, add bool) error {
	return f.LiveNetwork.Backward(d, false)
}

// apart returns the largest difference between the gradients of two encoders, relative to the largest gradient of each
// parameter.
func apart(a, b *live.Encoder) float64 {
	var worst float64
	for i, p := range a.Params() {
		var most, size float64
		for j, v := range p.Grad {
			most = max(most, math.Abs(float64(v-b.Params()[i].Grad[j])))
			size = max(size, math.Abs(float64(v)))
		}
		worst = max(worst, most/size)
	}
	return worst
}

// The gradient of a batch in chunks equals that of the batch in one pass, even if the chunks differ in size.
func TestChunks(t *testing.T) {
	g := newGratings(1, 24)
	m, weights := network(2)
	rows := upTo(22)
	loss, err := losses.New("contrastive", nil, losses.Env{Dim: 8, Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	step := func(net backbone.LiveNetwork, chunk int) *live.Encoder {
		e := encode(t, g, net, pixels(t, g, backbone.Augmentation{}, nil), 22, chunk)
		z, err := e.Forward(rows)
		if err != nil {
			t.Fatal(err)
		}
		dz := features.NewMatrix(22, 8)
		loss.Eval(&dz, z, nil) // includes pairs across chunks
		if err := e.Backward(dz); err != nil {
			t.Fatal(err)
		}
		return e
	}
	whole := step(open(t, m, weights, gradient.BatchNorm{}), 0)
	for _, chunk := range []int{1, 4, 5, 11, 21, 40} {
		if d := apart(whole, step(open(t, m, weights, gradient.BatchNorm{}), chunk)); !(d < 1e-5) {
			t.Errorf("chunks of %d: gradients are off by %.3g", chunk, d)
		}
	}
	if d := apart(whole, step(forgetful{open(t, m, weights, gradient.BatchNorm{})}, 5)); d < 1e-2 {
		t.Errorf("a network that forgets the first chunks passed: %.3g", d)
	}
}

// With BatchNorm in training mode the running statistics change once per step. They become the mean over the chunks,
// weighted by rows, of the statistics that each chunk would give.
func TestChunksMoveStatisticsOnce(t *testing.T) {
	g := newGratings(1, 24)
	m, weights := network(2)
	bn := gradient.BatchNorm{Train: true}
	rows := upTo(10)
	G := drawn(1, 10, 8)
	e := encode(t, g, open(t, m, weights, bn), pixels(t, g, backbone.Augmentation{}, nil), 10, 4)
	want := make([][]float64, len(e.State()))
	for _, part := range [][]int{rows[:3], rows[3:6], rows[6:]} {
		one := encode(t, g, open(t, m, weights, bn), pixels(t, g, backbone.Augmentation{}, nil), 4, 0)
		if _, err := one.Forward(part); err != nil {
			t.Fatal(err)
		}
		for i, p := range one.State() {
			if want[i] == nil {
				want[i] = make([]float64, len(p.Data))
			}
			for j, v := range p.Data {
				want[i][j] += float64(v) * float64(len(part)) / 10
			}
		}
	}
	before := e.State()[0].Data[0]
	value(t, e, rows, G)
	if e.State()[0].Data[0] != before {
		t.Error("the first pass changed the statistics")
	}
	if err := e.Backward(G); err != nil {
		t.Fatal(err)
	}
	for i, p := range e.State() {
		for j, v := range p.Data {
			if math.Abs(float64(v)-want[i][j]) > 1e-6 {
				t.Fatalf("%s[%d] is %v, expected %v", p.Name, j, v, want[i][j])
			}
		}
	}
	if e.State()[0].Data[0] == before {
		t.Error("the step did not change the statistics")
	}
}

// A resting network computes vectors but is not trained; the head is.
func TestResting(t *testing.T) {
	g := newGratings(1, 24)
	m, weights := network(2)
	net := open(t, m, weights, gradient.BatchNorm{Train: true})
	resting := true
	e, err := live.New(live.Config{Network: net, Inputs: pixels(t, g, backbone.Augmentation{}, nil),
		Head:   newHead(t, 5),
		Labels: g.labels, IDs: g.ids, Batch: 6, Resting: func() bool { return resting }})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	G, rows := drawn(1, 6, 8), upTo(6)
	before := slices.Clone(net.State()[0].Data)
	step := func() (network, head float64) {
		value(t, e, rows, G)
		if err := e.Backward(G); err != nil {
			t.Fatal(err)
		}
		for i, p := range e.Params() {
			for _, v := range p.Grad {
				if i < len(weights) {
					network += math.Abs(float64(v))
				} else {
					head += math.Abs(float64(v))
				}
			}
		}
		return network, head
	}
	if n, h := step(); n != 0 || h == 0 || !slices.Equal(before, net.State()[0].Data) {
		t.Errorf("resting: gradients %v of the network, %v of the head, statistics changed: %v", n, h,
			!slices.Equal(before, net.State()[0].Data))
	}
	resting = false
	if n, h := step(); n == 0 || h == 0 || slices.Equal(before, net.State()[0].Data) {
		t.Errorf("not resting: gradients %v of the network, %v of the head", n, h)
	}
	resting = true
	if n, _ := step(); n != 0 {
		t.Errorf("resting again: the network still has its previous gradient: %v", n)
	}
}
