package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
)

// placedNet returns a network that computes x·W + b, with its weights in ONNX Runtime's memory.
func placedNet(t testing.TB, w *features.Param) *ort.Live {
	t.Helper()
	b := graph.NewBuilder("product", 17)
	x := b.Input("x", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(int64(w.Rows))})
	weight := b.Constant(graph.NewTensor(w.Name, w.Data, int64(w.Rows), int64(w.Cols)))
	bias := b.Constant(graph.NewTensor("bias", make([]float32, w.Cols), int64(w.Cols)))
	b.Output(b.NodeTo("features", "Add", []string{b.Node("MatMul", []string{x, weight}), bias}))
	d, err := gradient.Differentiate(b.Model(), gradient.Options{Output: "features", Weights: []string{weight, bias}})
	if err != nil {
		t.Fatal(err)
	}
	l, err := ort.NewLive(orttest.Runtime(t), d, ort.LiveOptions{Model: b.Model(), Resident: true})
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

// For every solver, 200 steps on weights in ONNX Runtime's memory give the same weights as 200 steps in Go's memory.
// The same holds if a new solver continues from the state after half of the steps.
func TestPlacedSolver(t *testing.T) {
	for name, cfg := range solverCases() {
		rng := rand.New(rand.NewPCG(3, 7))
		start := features.NewParam("w", 40, 30)
		for i := range start.Data {
			start.Data[i] = float32(rng.NormFloat64())
		}
		place := placedNet(t, start).Place()
		params := place.Params()
		var other []*features.Param // the same parameters in Go's memory
		for _, p := range params {
			c := *p
			c.Data, c.Grad = slices.Clone(p.Data), slices.Clone(p.Grad)
			other = append(other, &c)
		}
		here, there := must(NewSolver(cfg)), must(NewPlacedSolver(cfg, place))
		if err := place.Hold(true); err != nil {
			t.Fatal(err)
		}
		var data [][]float32
		for _, p := range params {
			data = append(data, p.Data)
		}
		for step := range 200 {
			grads := slicesLike(params)
			for i, p := range other {
				for j := range p.Grad {
					p.Grad[j] = float32(rng.NormFloat64() * (0.3 + float64(p.Data[j]*p.Data[j])))
				}
				copy(grads[i], p.Grad)
			}
			if err := place.Store("gradients", grads); err != nil {
				t.Fatal(err)
			}
			here.Step(other, 1e-3)
			there.Step(params, 1e-3)
			if step == 100 { // as in a resumed run, new solvers continue from the state of the other solver
				state := there.State()
				next := must(NewPlacedSolver(cfg, place))
				if err := next.SetState(state, params); err != nil {
					t.Fatal(name, err)
				}
				there = next
			}
		}
		if err := place.Fetch("weights", data); err != nil {
			t.Fatal(err)
		}
		for i, p := range params {
			for j, v := range p.Data {
				if want := other[i].Data[j]; !(math.Abs(float64(v-want)) <= 1e-6*max(1, math.Abs(float64(want)))) {
					t.Fatalf("%s: %s[%d] is %v, expected %v", name, p.Name, j, v, want)
				}
			}
		}
		want, found := here.State(), there.State()
		for i, p := range want.Params {
			if found.Params[i].Name != p.Name || found.Params[i].Steps != p.Steps ||
				len(found.Params[i].Buffers) != len(p.Buffers) {
				t.Fatalf("%s: found the memory of %s after %d steps, expected %s after %d", name, found.Params[i].Name,
					found.Params[i].Steps, p.Name, p.Steps)
			}
			for j, b := range p.Buffers {
				for k, v := range b {
					if !(math.Abs(float64(v-found.Params[i].Buffers[j][k])) <= 1e-5*max(1e-2, math.Abs(float64(v)))) {
						t.Fatalf("%s: %s of %s: found %v, expected %v", name, cfg.bufferNames()[j], p.Name,
							found.Params[i].Buffers[j][k], v)
					}
				}
			}
		}
		sum, err := place.Run(squaresProgram, features.AllWeights, nil)
		if err != nil {
			t.Fatal(err)
		}
		var squared float64
		for _, p := range other {
			squared += sumSquares(p.Grad)
		}
		if !(math.Abs(sum-squared) <= 1e-6*squared) {
			t.Errorf("%s: the squares of the gradients sum to %v, expected %v", name, sum, squared)
		}
	}
}

// placedLinear is the encoder [linear], computed by a network in ONNX Runtime.
type placedLinear struct {
	*linear
	net *ort.Live
}

func (e *placedLinear) Params() []*features.Param { return e.net.Params() }
func (e *placedLinear) Place() features.Place     { return e.net.Place() }

// embed returns x·W + b with rows scaled to length 1, and the rows' lengths before.
func (e *placedLinear) embed(x blas32.General, keep bool) (blas32.General, []float64) {
	y := features.NewMatrix(x.Rows, e.net.Dim())
	if err := e.net.Forward(y, [][]float32{x.Data[:x.Rows*x.Cols]}, x.Rows, keep); err != nil {
		panic(err)
	}
	norms := make([]float64, y.Rows)
	for i := range norms {
		norms[i] = math.Sqrt(sumSquares(features.Row(y, i)))
		for j, v := range features.Row(y, i) {
			features.Row(y, i)[j] = float32(float64(v) / norms[i])
		}
	}
	return y, norms
}

func (e *placedLinear) Forward(rows []int) (features.Set, error) {
	e.x = e.set.Rows(rows)
	e.z = features.Set{Labels: e.x.Labels, IDs: e.x.IDs}
	e.z.X, e.norms = e.embed(e.x.X, true)
	return e.z, nil
}

func (e *placedLinear) Backward(dz blas32.General) error {
	du := features.NewMatrix(dz.Rows, dz.Cols)
	for i := range dz.Rows {
		g, z := features.Row(dz, i), e.z.Row(i)
		along := features.Dot(g, z)
		for j := range g {
			features.Row(du, i)[j] = float32((float64(g[j]) - along*float64(z[j])) / e.norms[i])
		}
	}
	return e.net.Backward(du, false)
}

// unplaced hides the place of a placedLinear, so that its weights are copied to ONNX Runtime and back at every step.
type unplaced struct{ *placedLinear }

func (unplaced) Place() features.Place { return nil }

// placedBed returns a bed whose encoder is a placedLinear. Without placed, unplaced hides its place.
func placedBed(t testing.TB, dir string, placed bool, change func(*Config)) (*bed, *placedLinear) {
	t.Helper()
	var e *placedLinear
	b := newBed(t, dir, func(c *Config) {
		l := c.Encoder.(*linear)
		e = &placedLinear{linear: l, net: placedNet(t, l.w)}
		c.Encoder = e
		if !placed {
			c.Encoder = unplaced{e}
		}
		c.Groups[0].Params = e.Params()
		validation, truth := clusters(11, 8, 8, 16, 0)
		c.Validate = func(ctx context.Context) (float64, error) {
			z, _ := e.embed(validation.X, false)
			hits := 0
			for i := range z.Rows {
				best, at := math.Inf(-1), -1
				for j := range z.Rows {
					if s := features.Dot(features.Row(z, i), features.Row(z, j)); j != i && s > best {
						best, at = s, j
					}
				}
				if truth[at] == truth[i] {
					hits++
				}
			}
			return float64(hits) / float64(z.Rows), ctx.Err()
		}
		if change != nil {
			change(c)
		}
	})
	return b, e
}

// A run whose weights stay in ONNX Runtime's memory gives the same results as a run that copies them at every step:
// losses, gradient norms, validations and the best state. If it is stopped and resumed, it ends with the same bits.
func TestPlacedRun(t *testing.T) {
	here, e := placedBed(t, t.TempDir(), false, nil)
	if _, err := here.trainer(t).Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	there, f := placedBed(t, dir, true, nil)
	tr := there.trainer(t)
	if tr.place == nil {
		t.Fatal("the run has no place")
	}
	if _, err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	clipped := false
	for i, s := range here.facts {
		o := there.facts[i]
		clipped = clipped || s.GradientNorm > here.cfg.Clip
		if !(math.Abs(s.Loss-o.Loss) <= 1e-3*math.Abs(s.Loss)) ||
			!(math.Abs(s.GradientNorm-o.GradientNorm) <= 1e-3*s.GradientNorm) {
			t.Fatalf("step %d: loss %v and norm %v, expected %v and %v", s.Number, o.Loss, o.GradientNorm, s.Loss,
				s.GradientNorm)
		}
	}
	if !clipped || len(here.scores) != len(there.scores) {
		t.Fatalf("clipped %v, %d validations, expected %d", clipped, len(there.scores), len(here.scores))
	}
	for i, v := range here.scores {
		o := there.scores[i]
		if v.Best != o.Best || math.Abs(v.Score-o.Score) > 0.02 {
			t.Errorf("validation %d: found %+v, expected %+v", i, o, v)
		}
	}
	last := slices.Clone(f.Params()[0].Data)
	if off := furthest(last, e.Params()[0].Data); !(off <= 1e-3) || off == 0 && last[0] == 0 {
		t.Errorf("the last weights differ by %v", off)
	}
	tr.UseBest()
	if furthest(last, f.Params()[0].Data) == 0 {
		t.Error("the best state is the last state, so that the test shows nothing")
	}

	stopped, _ := placedBed(t, t.TempDir(), true, nil)
	ctx, cancel := context.WithCancel(context.Background())
	stopped.cfg.Observe = Together(stopped.cfg.Observe, On(func(s Step) {
		if s.Number == 20 {
			cancel()
		}
	}))
	if _, err := stopped.trainer(t).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	again, g := placedBed(t, stopped.cfg.Dir, true, nil)
	second := again.trainer(t)
	if found, err := second.Resume(); !found || err != nil {
		t.Fatal(found, err)
	}
	if _, err := second.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	second.UseBest()
	if string(read(t, dir, CheckpointFile)) != string(read(t, stopped.cfg.Dir, CheckpointFile)) {
		t.Error("the checkpoint of the resumed run differs")
	}
	if !slices.Equal(f.Params()[0].Data, g.Params()[0].Data) {
		t.Error("the best weights of the resumed run differ")
	}
}

func furthest(a, b []float32) (most float64) {
	for i, v := range a {
		most = max(most, math.Abs(float64(v-b[i])))
	}
	return most
}

// A range test does not change the weights, and a run after the test starts with an empty solver memory.
func TestPlacedProbe(t *testing.T) {
	b, e := placedBed(t, "", true, nil)
	before := slices.Clone(e.Params()[0].Data)
	losses, err := Probe(context.Background(), b.cfg)
	if err != nil || len(losses) < 5 {
		t.Fatal(losses, err)
	}
	if !slices.Equal(before, e.Params()[0].Data) {
		t.Error("the range test changed the weights")
	}
	run := func(b *bed) float64 {
		if _, err := b.trainer(t).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return b.facts[len(b.facts)-1].Loss
	}
	fresh, f := placedBed(t, "", true, nil)
	after, _ := placedBed(t, "", true, func(c *Config) { c.Encoder = e; c.Groups[0].Params = e.Params() })
	if want, found := run(fresh), run(after); want != found || !slices.Equal(f.Params()[0].Data, e.Params()[0].Data) {
		t.Errorf("a run after a range test ends with loss %v, expected %v", found, want)
	}
}
