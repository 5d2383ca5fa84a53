package peers

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/head"
	"winnow/train"
)

func TestForgetPlanAtItsEdges(t *testing.T) {
	for _, c := range []struct {
		gradual int
		want    []float64
	}{{0, []float64{0.5, 0.5}}, {1, []float64{0, 0.5}}, {2, []float64{0, 0.25, 0.5}}} {
		p := forgetPlan{Rate: 0.5, Exponent: 2, Gradual: c.gradual}
		for e, w := range c.want {
			if got := p.forgetRate(e); got != w {
				t.Errorf("T_k %d: R(%d) is %v, expected %v", c.gradual, e, got, w)
			}
		}
	}
}

// Rows with equal losses keep their order, and the number of rows is rounded down.
func TestSmallLossAtItsEdges(t *testing.T) {
	losses := []float64{2, 1, 1, 2, 1}
	for _, c := range []struct {
		among []int
		rate  float64
		want  []int
	}{
		{nil, 0, []int{0, 1, 2, 3, 4}}, {nil, 0.41, []int{1, 2}}, {nil, 0.2, []int{0, 1, 2, 4}},
		{nil, 0.9, []int{0, 1, 2, 3, 4}},
		{[]int{0, 3, 4}, 0.5, []int{4}}, {[]int{0, 3}, 0.5, []int{0}}, {[]int{}, 0.5, nil},
	} {
		if got := smallLoss(nil, losses, c.among, c.rate); !slices.Equal(got, c.want) {
			t.Errorf("%v of %v: %v, expected %v", c.rate, c.among, got, c.want)
		}
	}
}

// The parameters of the two networks differ in names and initial values. Only whitened heads start with equal values.
func TestNetworksStartApart(t *testing.T) {
	set, _ := clusters(1, 4, 20, nextOne(4, 0))
	for _, start := range []string{head.Random, head.Whiten} {
		h, err := head.New(t.Context(), head.Config{In: set.Dim(), Out: 5, Bias: true, Init: start}, set.X,
			train.Rand(1, "head", 0))
		if err != nil {
			t.Fatal(err)
		}
		n, err := New(t.Context(), Default(CoTeaching),
			Input{Head: h, Train: set, Classes: 4, Batch: 8, Clock: new(train.Clock), Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer n.Close()
		names := map[string]bool{}
		for _, p := range n.Params() {
			names[p.Name] = true
		}
		if len(names) != 8 || !names["head.0.weight"] || !names["peer.head.0.weight"] ||
			!names["peer.classifier.bias"] {
			t.Errorf("names %v", names)
		}
		a, b := n.paramsOf(0), n.paramsOf(1)
		if slices.Equal(a[0].Data, b[0].Data) != (start == head.Whiten) || slices.Equal(a[2].Data, b[2].Data) {
			t.Errorf("%s: heads equal: %v, classifiers equal: %v", start, slices.Equal(a[0].Data, b[0].Data),
				slices.Equal(a[2].Data, b[2].Data))
		}
	}
	if _, err := New(t.Context(), Default(CoTeaching), Input{Classes: 1}); err == nil ||
		!strings.Contains(err.Error(), "1 classes, expected at least 2") {
		t.Error(err)
	}
}

// In each stage of an estimate the resting network does not move and has logits 0.
func TestStagesOfTheEstimate(t *testing.T) {
	set, _ := clusters(1, 4, 20, nextOne(4, 0.3))
	cfg := Default(FCorrection)
	cfg.Transition, cfg.FirstStage = Estimated, 3
	b := newBed(t, cfg, set, set.Labels, 4, 8, 1)
	start := map[int][]float32{}
	copyOf := func(i int) []float32 { return slices.Clone(b.networks.paramsOf(i)[0].Data) }
	start[0], start[1] = copyOf(0), copyOf(1)
	var ended []float32
	b.cfg.Observe = train.Together(b.cfg.Observe, train.On(func(s train.Step) {
		z := b.networks.z
		resting := 0
		if s.Number > 3 {
			resting = 1
		}
		if any := slices.ContainsFunc(rowsOf(b.networks.logitsOf(z, resting)),
			func(v float32) bool { return v != 0 }); any {
			t.Errorf("step %d: the resting network has non-zero logits", s.Number)
		}
		if (s.LR == 0) != (s.Number <= 3) || (s.PeerLR == 0) != (s.Number > 3) {
			t.Errorf("step %d: rates %v, %v", s.Number, s.LR, s.PeerLR)
		}
		if s.Number == 3 {
			if ended = copyOf(1); !slices.Equal(copyOf(0), start[0]) || slices.Equal(ended, start[1]) {
				t.Error("the first stage moved the wrong network")
			}
		}
	}))
	b.run(t)
	if slices.Equal(copyOf(0), start[0]) || !slices.Equal(copyOf(1), ended) {
		t.Error("the second stage moved the wrong network")
	}
	if _, err := b.networks.Groups(3, 0, nil); err == nil ||
		!strings.Contains(err.Error(), "first_stage: 3 steps, expected fewer than the 3 of the run") {
		t.Error(err)
	}
}

// rowsOf returns the numbers of a view.
func rowsOf(m blas32.General) (list []float32) {
	for i := range m.Rows {
		list = append(list, features.Row(m, i)...)
	}
	return list
}
