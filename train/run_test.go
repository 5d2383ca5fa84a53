package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/features"
	"winnow/filters"
	"winnow/losses"
)

// The trainer gives the same weights and the same bank, bit for bit, as a plain loop that follows METHODS 7.1 with its
// own filter, bank and solver.
func TestStepsFollowTheAlgorithm(t *testing.T) {
	b := newBed(t, "", func(c *Config) {
		c.Terms, c.Groups, c.Validate, c.Clip = c.Terms[:2], c.Groups[:1], nil, 0
		c.Terms[1].Start = 3
	})
	tr := b.trainer(t)
	if _, err := tr.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	other := newBed(t, "", nil)
	e, bank, filter := other.encoder, features.NewBank(60, testDim, 12), other.cfg.Filter
	loss := must(losses.New("contrastive", nil, losses.Env{Dim: testDim, Classes: 12}))
	adam := must(NewSolver(DefaultSolver("adam")))
	step := 0
	for epoch := 0; step < b.cfg.Steps; epoch++ {
		for _, rows := range b.cfg.Sampler.Epoch(epoch) {
			if step++; step > b.cfg.Steps {
				break
			}
			z, _ := e.Forward(rows)
			kept, scores := filter.Keep(z, bank)
			zk := z.Rows(kept)
			g, gb := features.NewMatrix(zk.Len(), testDim), features.NewMatrix(zk.Len(), testDim)
			value := loss.Eval(&g, zk, nil)
			if step >= 3 && bank.Len() > 0 {
				members := bank.Set()
				value += 0.5 * loss.Eval(&gb, zk, &members)
				blas32.Axpy(0.5, blas32.Vector{N: len(gb.Data), Inc: 1, Data: gb.Data},
					blas32.Vector{N: len(g.Data), Inc: 1, Data: g.Data})
			}
			dz := features.NewMatrix(z.Len(), testDim)
			for from, to := range kept {
				copy(features.Row(dz, to), features.Row(g, from))
			}
			if err := e.Backward(dz); err != nil {
				t.Fatal(err)
			}
			adam.Step(e.Params(), b.cfg.Groups[0].Schedule.At(step-1))
			bank.Push(zk)
			f := b.facts[step-1]
			if f.Loss != value || !slices.Equal(f.Kept, kept) || !slices.Equal(f.Scores, scores) || f.Number != step ||
				f.Epoch != epoch+1 || f.Bank != bank.Len() {
				t.Fatalf("step %d: found %+v, expected loss %v, kept %v", step, f, value, kept)
			}
		}
	}
	if !slices.Equal(e.w.Data, b.encoder.w.Data) {
		t.Error("the weights differ from those of the plain loop")
	}
	if !cmp.Equal(bank.State(), b.cfg.Bank.State()) {
		t.Error("the bank differs from that of the plain loop")
	}
}

func TestDroppedRowsGetNoGradient(t *testing.T) {
	b := newBed(t, "", nil)
	tr := b.trainer(t)
	dropped := 0
	for range 10 {
		f, err := tr.trainStep()
		if err != nil {
			t.Fatal(err)
		}
		for i := range f.IDs {
			zero := allZero(features.Row(b.encoder.dz, i))
			if kept := slices.Contains(f.Kept, i); kept == zero {
				t.Fatalf("step %d: row %d: kept %v, gradient zero %v", f.Number, i, kept, zero)
			} else if !kept {
				dropped++
			}
		}
	}
	if dropped == 0 {
		t.Error("no row was dropped, so that the test shows nothing")
	}
}

// fakeLoss is a function that serves as a loss.
type fakeLoss func(grad *blas32.General, z features.Set, ref *features.Set) float64

func (f fakeLoss) Eval(grad *blas32.General, z features.Set, ref *features.Set) float64 {
	return f(grad, z, ref)
}

func TestIdleStepsAreSkipped(t *testing.T) {
	idle := fakeLoss(func(grad *blas32.General, z features.Set, _ *features.Set) float64 {
		clear(grad.Data[:grad.Rows*grad.Cols])
		return 0
	})
	b := newBed(t, "", func(c *Config) {
		decay := DefaultSolver("adamw") // its weight decay would move the weights even without gradients
		c.Terms, c.Steps = []Term{{Name: "idle", Loss: idle, Weight: 1}}, 3
		c.Groups, c.Filter = oneGroup(c.Encoder, decay, c.Groups[0].Schedule), nil
	})
	before := slices.Clone(b.encoder.w.Data)
	result, err := b.trainer(t).Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(before, b.encoder.w.Data) || result.Idle != 3 || !b.facts[0].Skipped || b.encoder.backs != 0 {
		t.Errorf("%d idle steps, expected 3; %d backward passes", result.Idle, b.encoder.backs)
	}
	if b.cfg.Bank.Len() == 0 {
		t.Error("the batch of an idle step did not enter the bank")
	}
}

// Parameters without a gradient stay, although momentum and weight decay would move them. This holds for the encoder
// while only the losses' own parameters have gradients, and for a loss's parameter while only another loss has one.
func TestWhatNoGradientMovesRests(t *testing.T) {
	a, c := features.NewParam("a", 1, 20), features.NewParam("c", 1, 20)
	for i := range a.Data {
		a.Data[i], c.Data[i] = 1, 2
	}
	step := 0
	pulls := map[string][]int{"z": {1, 2, 3, 5}, "a": {1, 2, 4}, "c": {1, 3, 4}} // in the steps 1 … 6
	loss := func(grad *blas32.General, _ features.Set, _ *features.Set) float64 {
		step++
		clear(grad.Data[:grad.Rows*grad.Cols])
		if slices.Contains(pulls["z"], step) {
			grad.Data[0], grad.Data[1] = 1, -1
		}
		for name, p := range map[string]*features.Param{"a": a, "c": c} {
			clear(p.Grad)
			if slices.Contains(pulls[name], step) {
				p.Grad[7] = 1
			}
		}
		return 1
	}
	b := newBed(t, "", func(cfg *Config) {
		heavy := SolverConfig{Name: "sgd", Momentum: 0.9, WeightDecay: 0.1}
		group := func(name string, params []*features.Param) Group {
			return Group{Name: name, Params: params, Solver: must(NewSolver(heavy)),
				Schedule: must(NewSchedule(ScheduleConfig{}, 0.1, 6, 3))}
		}
		cfg.Terms = []Term{{Name: "fake", Loss: fakeLoss(loss), Weight: 1, Params: []*features.Param{a, c}}}
		cfg.Groups = []Group{group(HeadGroup, cfg.Encoder.Params()), group(LossGroup, cfg.Terms[0].Params)}
		cfg.Filter, cfg.Validate, cfg.Steps = nil, nil, 6
	})
	tr := b.trainer(t)
	for n := 1; n <= 6; n++ {
		before := map[string][]float32{"z": slices.Clone(b.encoder.w.Data), "a": slices.Clone(a.Data),
			"c": slices.Clone(c.Data)}
		f := must(tr.trainStep())
		for name, now := range map[string][]float32{"z": b.encoder.w.Data, "a": a.Data, "c": c.Data} {
			moved, want := !slices.Equal(before[name], now), slices.Contains(pulls[name], n)
			if moved != want {
				t.Errorf("step %d: %s moved: %v, expected %v", n, name, moved, want)
			}
		}
		if lr, want := f.LossLR > 0, n < 5; lr != want {
			t.Errorf("step %d: rate of the losses %v", n, f.LossLR)
		}
	}
	if tr.progress.Idle != 1 {
		t.Errorf("%d idle steps, expected 1, the last step", tr.progress.Idle)
	}
}

func TestClipBoundsTheGradient(t *testing.T) {
	b := newBed(t, "", func(c *Config) { c.Clip = 1e-3 })
	tr := b.trainer(t)
	f, err := tr.trainStep()
	if err != nil {
		t.Fatal(err)
	}
	if norm := gradientNorm(b.encoder.Params()); f.GradientNorm <= 1e-3 || math.Abs(norm-1e-3) > 1e-8 {
		t.Errorf("gradient of norm %v was clipped to %v, expected 0.001", f.GradientNorm, norm)
	}
}

func TestNonFiniteStops(t *testing.T) {
	nan := float32(math.NaN())
	good := must(losses.New("contrastive", nil, losses.Env{Dim: testDim, Classes: 12}))
	spoiled := func(at int, spoil func(grad *blas32.General, value float64) float64) func(*bed) {
		return func(b *bed) {
			calls := 0
			b.cfg.Groups = b.cfg.Groups[:1]
			b.cfg.Terms = []Term{{Name: "spoiled", Weight: 1,
				Loss: fakeLoss(func(g *blas32.General, z features.Set, ref *features.Set) float64 {
					value := good.Eval(g, z, ref)
					if calls++; calls == at {
						return spoil(g, value)
					}
					return value
				})}}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*bed)
		want   string
		count  int
	}{
		{"loss", spoiled(12, func(*blas32.General, float64) float64 { return math.NaN() }),
			"train: step 12 (epoch 2): loss is NaN; samples ", 0},
		{"infinite loss", spoiled(12, func(*blas32.General, float64) float64 { return math.Inf(1) }),
			"train: step 12 (epoch 2): loss is +Inf; samples ", 0},
		{"gradient", spoiled(12, func(g *blas32.General, v float64) float64 { g.Data[2*testDim+1] = nan; return v }),
			"train: step 12 (epoch 2): the loss's gradient is NaN; samples ", 1},
		{"embedding", func(b *bed) {
			b.encoder.spoil = func(step int, z features.Set) {
				if step == 12 {
					z.Row(3)[0] = float32(math.Inf(1))
				}
			}
		}, "train: step 12 (epoch 2): the embedding is NaN; samples ", 1},
	} {
		dir := t.TempDir()
		b := newBed(t, dir, nil)
		c.change(b)
		_, err := b.trainer(t).Run(context.Background())
		var bad *NonFinite
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), c.want) || bad.Step != 12 {
			t.Errorf("%s: %v, expected %s…", c.name, err, c.want)
			continue
		}
		if len(bad.IDs) == 0 || c.count > 0 && len(bad.IDs) != c.count || bad.IDs[0] < 1000 {
			t.Errorf("%s: samples %v", c.name, bad.IDs)
		}
		s, err := readCheckpoint(filepath.Join(dir, CheckpointFile))
		if err != nil || s.Progress.Step != 9 {
			t.Errorf("%s: checkpoint of step %d, %v; expected the last good checkpoint, of step 9", c.name,
				s.Progress.Step, err)
		}
	}
}

// end holds the final weights and files of a run.
type end struct {
	Weights, Proxies []float32
	Bank             features.BankState
	Filter           filters.State
	Solver           SolverState
	Metrics          string
	Diagnostics      string
	Checkpoint       string // contains the best state
}

func endOf(t *testing.T, b *bed, dir string) end {
	e := end{b.encoder.w.Data, b.cfg.Terms[2].Params[0].Data, b.cfg.Bank.State(),
		b.cfg.Filter.State(), b.cfg.Groups[0].Solver.State(), string(read(t, dir, MetricsFile)),
		string(read(t, dir, DiagnosticsFile)), string(read(t, dir, CheckpointFile))}
	return e
}

func uninterrupted(t *testing.T, change func(*Config)) end {
	t.Helper()
	dir := t.TempDir()
	b := newBed(t, dir, change)
	tr := b.trainer(t)
	result, err := tr.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if result.BestStep <= 0 || result.BestStep == 45 {
		t.Fatalf("best at step %d, expected a step in the middle of the run", result.BestStep)
	}
	return endOf(t, b, dir)
}

// A run is interrupted at random steps and resumed each time: by Ctrl-C, which saves a checkpoint, or by a kill, which
// saves none and may leave an incomplete line. It ends with the same bits as an uninterrupted run.
func TestResumedRunIsTheSame(t *testing.T) { resumedIsTheSame(t, nil, 6) }

func resumedIsTheSame(t *testing.T, change func(*Config), seeds uint64) {
	want := uninterrupted(t, change)
	for seed := range seeds {
		rng := rand.New(rand.NewPCG(seed, 1))
		dir := t.TempDir()
		cuts := 0
		for {
			ctx, cancel := context.WithCancel(context.Background())
			b := newBed(t, dir, change)
			left, kill := 1+rng.IntN(14), rng.IntN(2) == 0
			var killed error
			count := func(Step) {
				if left--; left == 0 {
					cancel()
				}
			}
			b.cfg.Observe = Together(b.cfg.Observe, On(count))
			if kill {
				b.cfg.SaveHead = func(best bool) error { // an error here prevents the checkpoint
					if !best && left <= 0 {
						killed = errors.New("killed")
						return killed
					}
					return nil
				}
			}
			tr := b.trainer(t)
			if _, err := tr.Resume(); err != nil {
				t.Fatal(err)
			}
			_, err := tr.Run(ctx)
			cancel()
			if err == nil {
				if diff := cmp.Diff(want, endOf(t, b, dir)); diff != "" {
					t.Errorf("seed %d, %d interruptions: resumed run differs (-whole +resumed):\n%s", seed, cuts, diff)
				}
				break
			}
			if !errors.Is(err, context.Canceled) && killed == nil {
				t.Fatal(err)
			}
			cuts++
			if kill {
				for _, name := range []string{MetricsFile, DiagnosticsFile} {
					f := must(os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_WRONLY, 0))
					fmt.Fprint(f, `{"step":99,"lo`)
					f.Close()
				}
			}
			if cuts > 400 {
				t.Fatal("the run makes no progress")
			}
		}
		if cuts == 0 {
			t.Errorf("seed %d: the run was never interrupted", seed)
		}
	}
}

func TestFinishedRunDoesNothingMore(t *testing.T) {
	dir := t.TempDir()
	b := newBed(t, dir, nil)
	first := b.trainer(t)
	result, err := first.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	metrics := read(t, dir, MetricsFile)
	again := newBed(t, dir, nil)
	tr := again.trainer(t)
	if found, err := tr.Resume(); !found || err != nil {
		t.Fatal(found, err)
	}
	second, err := tr.Run(context.Background())
	if err != nil || second != result || len(again.facts) > 0 {
		t.Errorf("%+v, %v after %d steps, expected %+v", second, err, len(again.facts), result)
	}
	if !bytes.Equal(metrics, read(t, dir, MetricsFile)) {
		t.Error("the metrics of the finished run changed")
	}
}

// TestBestIsKept trains with validation scores that the test makes up.
func TestBestIsKept(t *testing.T) {
	scores := []float64{0.1, 0.5, 0.4, 0.5, 0.3, 0.9}
	b := newBed(t, "", nil)
	var weights [][]float32
	var saved []bool
	calls := 0
	b.cfg.Validate = func(context.Context) (float64, error) {
		weights = append(weights, slices.Clone(b.encoder.w.Data))
		calls++
		return scores[calls-1], nil
	}
	b.cfg.SaveHead = func(best bool) error { saved = append(saved, best); return nil }
	b.cfg.Patience, b.cfg.CheckpointEvery = 3, 0
	tr := b.trainer(t)
	result, err := tr.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !result.Stopped || result.Step != 24 || result.BestStep != 6 || result.BestScore != 0.5 || calls != 5 {
		t.Errorf("%+v after %d validations, expected the best at step 6 and the end at step 24", result, calls)
	}
	if want := []bool{true, true, false}; !slices.Equal(saved, want) {
		t.Errorf("heads saved %v, expected %v", saved, want)
	}
	tr.UseBest()
	if !slices.Equal(b.encoder.w.Data, weights[1]) {
		t.Error("UseBest did not restore the state of step 6")
	}
	if got := b.scores[1]; got != (Validation{Epoch: 1, Step: 6, Score: 0.5, Best: true}) {
		t.Errorf("observed validations %+v", got)
	}
}

func TestValidationFails(t *testing.T) {
	for name, c := range map[string]struct {
		score float64
		err   error
		want  string
	}{
		"error": {0, errors.New("no gallery"), "train: validation after step 0: no gallery"},
		"NaN":   {math.NaN(), nil, "train: validation after step 0: score is NaN, expected a finite number"},
	} {
		b := newBed(t, "", func(cfg *Config) {
			cfg.Validate = func(context.Context) (float64, error) { return c.score, c.err }
		})
		if _, err := b.trainer(t).Run(context.Background()); err == nil || err.Error() != c.want {
			t.Errorf("%s: %v, expected %s", name, err, c.want)
		}
	}
}
