package train

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters"
	"winnow/losses"
)

// clusters draws a set whose classes are directions in dim dimensions, hidden under noise that is strongest in a few
// directions. It corrupts a fraction of the labels. The true labels are returned for the test only.
func clusters(seed uint64, classes, each, dim int, corrupt float64) (set features.Set, truth []int) {
	rng := Rand(seed, "clusters", 0)
	centres := features.NewMatrix(classes, dim)
	for i := range centres.Data {
		centres.Data[i] = float32(rng.NormFloat64())
	}
	set = features.NewSet(classes*each, dim)
	truth = make([]int, set.Len())
	for i := range set.Len() {
		c := i % classes
		truth[i], set.Labels[i], set.IDs[i] = c, c, 1000+i
		if rng.Float64() < corrupt {
			set.Labels[i] = (c + 1 + rng.IntN(classes-1)) % classes
		}
		row := set.Row(i)
		for j := range row {
			spread := 0.9
			if j < dim/3 {
				spread = 3 // a third of the features have strong noise and do not depend on the class
			}
			row[j] = centres.Data[c*dim+j] + float32(spread*rng.NormFloat64())
		}
	}
	return set, truth
}

// linear is an encoder in plain loops: z = xW/‖xW‖. It also records its inputs.
type linear struct {
	set   features.Set
	w     *features.Param
	x, z  features.Set
	norms []float64
	dz    blas32.General // gradient received by the last Backward
	backs int

	spoil func(step int, z features.Set) // changes z in tests of non-finite numbers
	steps int
}

func newLinear(set features.Set, dim int, seed uint64) *linear {
	e := &linear{set: set, w: features.NewParam("head.0.weight", set.Dim(), dim)}
	rng := Rand(seed, "head", 0)
	for i := range e.w.Data {
		e.w.Data[i] = float32(rng.NormFloat64() / math.Sqrt(float64(set.Dim())))
	}
	return e
}

func (e *linear) Params() []*features.Param { return []*features.Param{e.w} }

func (e *linear) embed(x blas32.General) (blas32.General, []float64) {
	z := features.NewMatrix(x.Rows, e.w.Cols)
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, x, e.w.Matrix(), 0, z)
	norms := make([]float64, x.Rows)
	for i := range norms {
		var sum float64
		for _, v := range features.Row(z, i) {
			sum += float64(v) * float64(v)
		}
		norms[i] = math.Sqrt(sum)
		for j := range features.Row(z, i) {
			features.Row(z, i)[j] /= float32(norms[i])
		}
	}
	return z, norms
}

func (e *linear) Forward(rows []int) (features.Set, error) {
	e.steps++
	e.x = e.set.Rows(rows)
	e.z = features.Set{Labels: e.x.Labels, IDs: e.x.IDs}
	e.z.X, e.norms = e.embed(e.x.X)
	if e.spoil != nil {
		e.spoil(e.steps, e.z)
	}
	return e.z, nil
}

func (e *linear) Backward(dz blas32.General) error {
	e.backs++
	e.dz = features.NewMatrix(dz.Rows, dz.Cols)
	copy(e.dz.Data, dz.Data)
	du := features.NewMatrix(dz.Rows, dz.Cols)
	for i := range dz.Rows {
		g, z := features.Row(dz, i), e.z.Row(i)
		var along float64
		for j := range g {
			along += float64(g[j]) * float64(z[j])
		}
		for j := range g {
			features.Row(du, i)[j] = float32((float64(g[j]) - along*float64(z[j])) / e.norms[i])
		}
	}
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, e.x.X, du, 0, e.w.GradMatrix())
	return nil
}

// precision1 embeds the set and returns its P@1 with respect to labels, computed in plain loops.
func (e *linear) precision1(set features.Set, labels []int) float64 {
	z, _ := e.embed(set.X)
	hits := 0
	for i := range z.Rows {
		best, at := math.Inf(-1), -1
		for j := range z.Rows {
			if s := float64(blas32.Dot(vec(z, i), vec(z, j))); j != i && s > best {
				best, at = s, j
			}
		}
		if labels[at] == labels[i] {
			hits++
		}
	}
	return float64(hits) / float64(z.Rows)
}

func vec(m blas32.General, i int) blas32.Vector {
	return blas32.Vector{N: m.Cols, Inc: 1, Data: features.Row(m, i)}
}

const testDim = 8

// bed is a run in which every component has a state: a filter with a window, a bank, proxies with their own solver,
// a loss that draws random numbers, validation with a best state, and momentum.
type bed struct {
	cfg     Config
	encoder *linear
	facts   []Step
	scores  []Validation
}

func newBed(t testing.TB, dir string, change func(*Config)) *bed {
	t.Helper()
	set, truth := clusters(5, 12, 15, 16, 0.3)
	validation, validTruth := clusters(11, 8, 8, 16, 0)
	_ = truth
	b := &bed{encoder: newLinear(set, testDim, 1)}
	clock := new(Clock)
	env := losses.Env{Dim: testDim, Classes: 12, Init: Rand(1, "proxies", 0), Step: clock.Source(1, "loss")}
	term := func(name string, settings map[string]any, weight float64, bank bool, start int) Term {
		loss, err := losses.New(name, settings, env)
		if err != nil {
			t.Fatal(err)
		}
		label := name
		if bank {
			label += ":bank"
		}
		term := Term{Name: label, Loss: loss, Weight: weight, Bank: bank, Start: start}
		if owner, ok := loss.(losses.Trainable); ok {
			term.Params = owner.Params()
		}
		return term
	}
	sampler, err := NewSampler(Groups{Classes: 6, Images: 4}, set.Labels, 1)
	if err != nil {
		t.Fatal(err)
	}
	fc := filters.Default()
	fc.Rate, fc.Window, fc.AvgSimSteps = 0.3, 5, 7
	filter, err := filters.New(fc, filters.Env{Dim: testDim, Classes: 12})
	if err != nil {
		t.Fatal(err)
	}
	const steps = 45
	b.cfg = Config{
		Encoder: b.encoder, Sampler: sampler, Filter: filter, Steps: steps, Clock: clock,
		Bank: features.NewBank(60, testDim, 12), // so small that it wraps around
		Terms: []Term{
			term("contrastive", nil, 1, false, 0), term("contrastive", nil, 0.5, true, 3),
			term("soft_triple", nil, 0.3, false, 0), term("triplet", nil, 0.7, false, 0),
		},
		Clip: 5, ValidateEvery: 6, CheckpointEvery: 9, DiagnoseEvery: 10, Dir: dir,
		Identity: map[string]string{"seed": "1", "solver.lr": "0.003"},
		Now:      func() time.Time { return time.Unix(1700000000, 0) },
	}
	b.cfg.Groups = []Group{
		{Name: HeadGroup, Params: b.encoder.Params(), Solver: must(NewSolver(DefaultSolver("adam"))),
			Schedule: must(NewSchedule(ScheduleConfig{Name: "cosine", Warmup: 4}, 3e-2, steps, sampler.Batches()))},
		{Name: LossGroup, Params: b.cfg.Terms[2].Params, Solver: must(NewSolver(DefaultSolver("rmsprop"))),
			Schedule: must(NewSchedule(ScheduleConfig{}, 1e-2, steps, sampler.Batches()))},
	}
	b.cfg.Validate = func(ctx context.Context) (float64, error) {
		return b.encoder.precision1(validation, validTruth), ctx.Err()
	}
	b.cfg.Observe = Together(b.cfg.Observe, On(func(s Step) { b.facts = append(b.facts, clone(s)) }))
	b.cfg.Observe = Together(b.cfg.Observe, On(func(v Validation) { b.scores = append(b.scores, v) }))
	if change != nil {
		change(&b.cfg)
	}
	return b
}

func (b *bed) trainer(t testing.TB) *Trainer {
	t.Helper()
	tr, err := New(b.cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func clone(s Step) Step {
	s.Terms = append([]float64(nil), s.Terms...)
	s.IDs = append([]int(nil), s.IDs...)
	s.Kept = append([]int(nil), s.Kept...)
	s.Scores = append([]float64(nil), s.Scores...)
	s.Unjudged = append([]bool(nil), s.Unjudged...)
	return s
}

func read(t testing.TB, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return data
}
