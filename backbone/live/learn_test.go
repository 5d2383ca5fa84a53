package live_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"winnow/backbone"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/live"
	"winnow/features"
	"winnow/losses"
)

// train takes steps of plain gradient descent and returns the losses.
func train(t testing.TB, e *live.Encoder, seed uint64, from, steps, batch int, step *int) []float64 {
	t.Helper()
	loss, err := losses.New("contrastive", nil, losses.Env{Dim: 8, Classes: classes})
	if err != nil {
		t.Fatal(err)
	}
	var list []float64
	dz := features.NewMatrix(batch, 8)
	for s := from; s < from+steps; s++ {
		*step = s
		rows := rand.New(rand.NewPCG(seed, uint64(1000+s))).Perm(96)[:batch]
		z, err := e.Forward(rows)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, loss.Eval(&dz, z, nil))
		if err := e.Backward(dz); err != nil {
			t.Fatal(err)
		}
		for _, p := range e.Params() {
			for i, g := range p.Grad {
				p.Data[i] -= 0.02 * g
			}
		}
	}
	return list
}

// precision returns P@1 over all rows.
func precision(t testing.TB, e *live.Encoder, g *gratings, batch int) float64 {
	t.Helper()
	all := features.NewSet(len(g.labels), 8)
	for at := 0; at < len(g.labels); at += batch {
		rows := upTo(len(g.labels))[at:min(at+batch, len(g.labels))]
		z, err := e.Forward(rows)
		if err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			copy(all.Row(r), z.Row(i))
		}
	}
	right := 0
	for i := range all.Len() {
		best, at := math.Inf(-1), 0
		for j := range all.Len() {
			var s float64
			for k, v := range all.Row(i) {
				s += float64(v) * float64(all.Row(j)[k])
			}
			if j != i && s > best {
				best, at = s, j
			}
		}
		if g.labels[at] == g.labels[i] {
			right++
		}
	}
	return float64(right) / float64(all.Len())
}

// augmentation returns an augmentation and its random source, which depends only on (seed, step).
func augmentation(step *int) (backbone.Augmentation, func(ahead int) *rand.Rand) {
	return backbone.Augmentation{Crop: "random",
		Pad: 1}, func(ahead int) *rand.Rand { return rand.New(rand.NewPCG(11, uint64(*step+ahead))) }
}

// The network learns the directions of stripes for each of several seeds; training only the head learns them less well.
func TestLearns(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		g := newGratings(seed, 96)
		m, weights := network(seed)
		run := func(resting bool) (first, last, before, after float64) {
			step := 0
			a, source := augmentation(&step)
			e, err := live.New(live.Config{Network: open(t, m, weights, gradient.BatchNorm{Train: true}),
				Inputs: pixels(t, g, a, source),
				Head:   newHead(t, 5), Labels: g.labels, IDs: g.ids, Batch: 32,
				Resting: func() bool { return resting }})
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			before = precision(t, e, g, 32)
			list := train(t, e, seed, 0, 150, 32, &step)
			for i := range 10 {
				first, last = first+list[i]/10, last+list[len(list)-1-i]/10
			}
			return first, last, before, precision(t, e, g, 32)
		}
		first, last, before, after := run(false)
		_, lastHead, _, afterHead := run(true)
		t.Logf("seed %d: loss %.2f → %.2f (head alone %.2f), P@1 %.2f → %.2f (head alone %.2f)", seed, first, last,
			lastHead, before, after, afterHead)
		if !(last < 0.5*first) || !(last < 0.8*lastHead) {
			t.Errorf("seed %d: loss %v → %v, head alone %v", seed, first, last, lastHead)
		}
		if !(after > before+0.1) {
			t.Errorf("seed %d: P@1 %v → %v", seed, before, after)
		}
	}
}

// The same seed gives the same bits, in one run and in an interrupted run, in chunks and without.
func TestSameBits(t *testing.T) {
	g := newGratings(1, 96)
	m, weights := network(2)
	for _, chunk := range []int{0, 5} {
		step := 0
		a, source := augmentation(&step)
		fresh := func() *live.Encoder {
			return encode(t, g, open(t, m, weights, gradient.BatchNorm{Train: true}), pixels(t, g, a, source), 12,
				chunk)
		}
		one, two := fresh(), fresh()
		train(t, one, 1, 0, 12, 12, &step)
		train(t, two, 1, 0, 5, 12, &step)
		rest := fresh()
		for i, p := range rest.Params() {
			copy(p.Data, two.Params()[i].Data)
		}
		for i, p := range rest.State() {
			copy(p.Data, two.State()[i].Data)
		}
		train(t, rest, 1, 5, 7, 12, &step)
		other := fresh()
		train(t, other, 2, 0, 12, 12, &step)
		differ := func(e *live.Encoder) (n int) {
			for i, p := range append(e.Params(), e.State()...) {
				for j, v := range p.Data {
					if math.Float32bits(v) != math.Float32bits(append(one.Params(), one.State()...)[i].Data[j]) {
						n++
					}
				}
			}
			return n
		}
		if n := differ(rest); n != 0 {
			t.Errorf("chunk %d: %d values differ after an interruption", chunk, n)
		}
		if differ(other) == 0 {
			t.Errorf("chunk %d: another seed gives the same values: the check above shows nothing", chunk)
		}
	}
}
