package train

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
)

// deep is a linear encoder after a backbone: z = (xB - mean)W/‖…‖, where mean is a running mean of xB that no
// solver steps.
type deep struct {
	*linear
	b, mean *features.Param
	x       blas32.General // the backbone's input in the last Forward
	raw     features.Set
	frozen  bool // the backbone is not trained
}

func newDeep(set features.Set, mid, dim int, seed uint64) *deep {
	d := &deep{raw: set, b: features.NewParam("backbone.b", set.Dim(), mid),
		mean: features.NewParam("backbone.mean", 1, mid)}
	rng := Rand(seed, "backbone", 0)
	for i := range d.b.Data {
		d.b.Data[i] = float32(rng.NormFloat64() / math.Sqrt(float64(set.Dim())))
	}
	middle := features.Set{X: features.NewMatrix(set.Len(), mid), Labels: set.Labels, IDs: set.IDs}
	d.linear = newLinear(middle, dim, seed)
	return d
}

func (d *deep) Params() []*features.Param { return []*features.Param{d.b, d.w} }
func (d *deep) State() []*features.Param  { return []*features.Param{d.mean} }

// middle fills the rows of the head's features with xB - mean.
func (d *deep) middle(rows []int) {
	d.x = d.raw.Rows(rows).X
	y := features.NewMatrix(d.x.Rows, d.b.Cols)
	blas32.Gemm(blas.NoTrans, blas.NoTrans, 1, d.x, d.b.Matrix(), 0, y)
	for i, row := range rows {
		to := d.set.Row(row)
		for j, v := range features.Row(y, i) {
			to[j] = v - d.mean.Data[j]
		}
	}
	for i := range y.Rows {
		for j, v := range features.Row(y, i) {
			d.mean.Data[j] += 0.01 * (v - d.mean.Data[j])
		}
	}
}

func (d *deep) Forward(rows []int) (features.Set, error) {
	d.middle(rows)
	return d.linear.Forward(rows)
}

func (d *deep) Backward(dz blas32.General) error {
	du := features.NewMatrix(dz.Rows, dz.Cols) // as in linear.Backward
	for i := range dz.Rows {
		g, z := features.Row(dz, i), d.z.Row(i)
		along := blas32.Dot(vec(dz, i), vec(d.z.X, i))
		for j := range g {
			features.Row(du, i)[j] = (g[j] - along*z[j]) / float32(d.norms[i])
		}
	}
	dx := features.NewMatrix(dz.Rows, d.w.Rows)
	blas32.Gemm(blas.NoTrans, blas.Trans, 1, du, d.w.Matrix(), 0, dx)
	blas32.Gemm(blas.Trans, blas.NoTrans, 1, d.x, dx, 0, d.b.GradMatrix())
	if d.frozen {
		clear(d.b.Grad)
	}
	return d.linear.Backward(dz)
}

const restsUntil = 14 // the first step that moves the backbone of newDeepBed; earlier the backbone rests

// newDeepBed returns a bed with a backbone that rests at first. All its solvers have momentum.
func newDeepBed(t testing.TB, dir string, change func(*Config)) (*bed, *deep) {
	t.Helper()
	var d *deep
	b := newBed(t, dir, func(c *Config) {
		set, _ := clusters(5, 12, 15, 16, 0.3)
		d = newDeep(set, 10, testDim, 1)
		start := slices.Clone(d.b.Data)
		momentum := DefaultSolver("sgd")
		momentum.Momentum, momentum.WeightDecay = 0.9, 1e-3
		plan := func(lr float64, steps int) Schedule {
			return must(NewSchedule(ScheduleConfig{Name: "cosine", Warmup: 3}, lr, steps, c.Sampler.Batches()))
		}
		c.Encoder = d
		c.Validate = func(ctx context.Context) (float64, error) {
			var moved float64 // distance by which the backbone has moved; the validation score depends on it
			for i, v := range start {
				moved += math.Abs(float64(d.b.Data[i] - v))
			}
			return -math.Abs(moved - 5), ctx.Err()
		}
		c.Groups = []Group{
			{Name: BackboneGroup, Params: []*features.Param{d.b}, Solver: must(NewSolver(DefaultSolver("adam"))),
				Schedule: plan(1e-2, c.Steps-restsUntil+1), Start: restsUntil},
			{Name: HeadGroup, Params: []*features.Param{d.w}, Solver: must(NewSolver(momentum)),
				Schedule: plan(3e-2, c.Steps)},
			c.Groups[1],
		}
		if change != nil {
			change(c)
		}
	})
	return b, d
}

// deepEnd holds the final weights and files of a run with two groups.
type deepEnd struct {
	Backbone, Head, Mean []float32
	Solvers              []SolverState
	Metrics, Checkpoint  string // the checkpoint contains the best state and the average
}

func deepEndOf(t *testing.T, b *bed, d *deep, dir string) deepEnd {
	e := deepEnd{d.b.Data, d.w.Data, d.mean.Data, nil, string(read(t, dir, MetricsFile)),
		string(read(t, dir, CheckpointFile))}
	for _, g := range b.cfg.Groups {
		e.Solvers = append(e.Solvers, g.Solver.State())
	}
	return e
}

func deepRun(t *testing.T) deepEnd {
	t.Helper()
	dir := t.TempDir()
	b, d := newDeepBed(t, dir, nil)
	tr := b.trainer(t)
	result, err := tr.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if result.BestStep <= restsUntil || result.BestStep == 45 {
		t.Fatalf("best at step %d, expected a step in which the backbone moves", result.BestStep)
	}
	return deepEndOf(t, b, d, dir)
}

// Before its Start step a group keeps its weights and its solver's state. Its schedule begins at the Start step.
func TestGroupsStart(t *testing.T) {
	dir := t.TempDir()
	b, d := newDeepBed(t, dir, nil)
	tr := b.trainer(t)
	before := slices.Clone(d.b.Data)
	for n := 1; n <= 20; n++ {
		f, err := tr.trainStep()
		if err != nil {
			t.Fatal(err)
		}
		rests := n < restsUntil
		if same := slices.Equal(before, d.b.Data); same != rests {
			t.Errorf("step %d: backbone unchanged: %v, expected %v", n, same, rests)
		}
		memory := b.cfg.Groups[0].Solver.State().Params
		if rests && len(memory) > 0 || !rests && memory[0].Steps != n-restsUntil+1 {
			t.Errorf("step %d: the backbone's solver has the state %v", n, memory)
		}
		want := 0.0
		if !rests {
			want = b.cfg.Groups[0].Schedule.At(n - restsUntil)
		}
		if f.BackboneLR != want || f.LR != b.cfg.Groups[1].Schedule.At(n-1) || f.LossLR != 1e-2 {
			t.Errorf("step %d: rates %v, %v, %v, expected the first to be %v", n, f.BackboneLR, f.LR, f.LossLR, want)
		}
		if steps := b.cfg.Groups[1].Solver.State().Params[0].Steps; steps != n {
			t.Errorf("step %d: the head has taken %d steps", n, steps)
		}
	}
}

// The gradients of a resting backbone have no effect, not even on clipping.
func TestRestingGradientsAreIgnored(t *testing.T) {
	run := func(frozen bool, steps int) []float32 {
		b, d := newDeepBed(t, "", func(c *Config) { c.Clip, c.Validate = 0.05, nil })
		d.frozen = frozen
		tr := b.trainer(t)
		for range steps {
			must(tr.trainStep())
		}
		return d.w.Data
	}
	if !slices.Equal(run(false, restsUntil-1), run(true, restsUntil-1)) {
		t.Error("the gradients of a resting group change another group")
	}
	if slices.Equal(run(false, restsUntil), run(true, restsUntil)) {
		t.Error("the gradients of a running group have no effect on the test's result, expected one")
	}
}

// All running groups of the encoder are clipped by one factor; the losses' own gradients are not clipped.
func TestClipIsCommon(t *testing.T) {
	norms := func(limit float64) (all, backbone, loss, told float64) {
		b, d := newDeepBed(t, "", func(c *Config) { c.Clip, c.Groups[0].Start = limit, 0 })
		f := must(b.trainer(t).trainStep())
		return gradientNorm(d.Params()), gradientNorm([]*features.Param{d.b}), gradientNorm(b.cfg.Terms[2].Params),
			f.GradientNorm
	}
	all, backbone, loss, told := norms(0)
	clipped, ofBackbone, sameLoss, sameTold := norms(all / 4)
	if told != all || sameTold != all {
		t.Errorf("reported norms %v and %v, expected %v", told, sameTold, all)
	}
	if math.Abs(clipped-all/4) > 1e-6*all || math.Abs(ofBackbone-backbone/4) > 1e-6*all {
		t.Errorf("clipped to %v and %v, expected a quarter of %v and %v", clipped, ofBackbone, all, backbone)
	}
	if loss == 0 || sameLoss != loss {
		t.Errorf("gradient norm of the loss's own parameters: %v, expected %v as without clipping", sameLoss, loss)
	}
}

// A run whose backbone starts in the middle ends with the same bits if it is interrupted and resumed every few steps.
func TestGroupsResume(t *testing.T) {
	want := deepRun(t)
	dir := t.TempDir()
	for cuts := 0; ; cuts++ {
		ctx, cancel := context.WithCancel(context.Background())
		b, d := newDeepBed(t, dir, nil)
		left := 5 + cuts%3
		b.cfg.Observe = Together(b.cfg.Observe, On(func(Step) {
			if left--; left == 0 {
				cancel()
			}
		}))
		tr := b.trainer(t)
		must(tr.Resume())
		_, err := tr.Run(ctx)
		cancel()
		if err == nil {
			if diff := cmp.Diff(want, deepEndOf(t, b, d, dir)); diff != "" || cuts < 5 {
				t.Errorf("after %d interruptions the resumed run differs (-whole +resumed):\n%s", cuts, diff)
			}
			return
		}
		if !errors.Is(err, context.Canceled) || cuts > 40 {
			t.Fatal(err)
		}
	}
}

func TestUseBestBringsTheState(t *testing.T) {
	b, d := newDeepBed(t, "", nil)
	var atBest []float32
	b.cfg.Observe = Together(b.cfg.Observe, On(func(v Validation) {
		if v.Best {
			atBest = slices.Clone(d.mean.Data)
		}
	}))
	tr := b.trainer(t)
	must(tr.Run(context.Background()))
	if slices.Equal(atBest, d.mean.Data) {
		t.Fatal("the running mean has not changed since the best state, so that the test shows nothing")
	}
	if tr.UseBest(); !slices.Equal(atBest, d.mean.Data) {
		t.Error("the best state lacks its running mean")
	}
}

func TestBackboneRateIsInTheMetrics(t *testing.T) {
	dir := t.TempDir()
	b, _ := newDeepBed(t, dir, nil)
	must(b.trainer(t).Run(context.Background()))
	for _, text := range strings.Split(strings.TrimSpace(string(read(t, dir, MetricsFile))), "\n") {
		var l Metric
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		if l.Validation == nil && (l.BackboneLR != nil) != (l.Step >= restsUntil) {
			t.Errorf("step %d: %s", l.Step, text)
		}
	}
}
