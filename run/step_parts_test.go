package run

import (
	"math/rand/v2"
	"testing"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/graph/gradient"
	"winnow/backbone/live"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/head"
	"winnow/internal/testing/orttest"
	"winnow/run/tuning"
	"winnow/train"
)

// parts are the parts of a step, alone.
type parts struct {
	r      *Training
	net    *ort.Live
	inputs live.Inputs
	tail   *head.Tail
	fed    [][]float32
	batch  []int
}

func openParts(b *testing.B, r *Training, tuned *tuning.Live) *parts {
	rt := orttest.Runtime(b)
	m, err := graph.Read(tuned.Cut.Model)
	if err != nil {
		b.Fatal(err)
	}
	pre := tuned.Backbone.Preprocessing
	m = graph.Sized(gradient.Plain(m), tuned.Cut.Input, pre.Planes(), pre.High(), pre.Crop)
	frozen, moving, _, err := gradient.Split(m, tuned.Cut.Tensor, tuned.Weights())
	if err != nil {
		b.Fatal(err)
	}
	d, err := gradient.Differentiate(moving, gradient.Options{Output: tuned.Cut.Tensor, Weights: tuned.Weights(),
		Kernels: rt.Kernels()})
	if err != nil {
		b.Fatal(err)
	}
	p := &parts{r: r}
	if p.net, err = ort.NewLive(rt, d, ort.LiveOptions{Model: moving}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.net.Close() })
	if p.tail, err = head.NewTail(r.head, r.sampler.Size()); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.tail.Close() })
	pictures := backbone.NewImageCache(tuned.Root, tuned.Paths, int64(tuned.Settings.CacheLimit),
		pre.DecodeOptions())
	pixels, err := live.NewPixels(live.PixelsConfig{Pictures: pictures, Preprocessing: pre, Augmentation: tuned.Augment,
		Source: func(int) *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }})
	if err != nil {
		b.Fatal(err)
	}
	p.inputs = pixels
	if frozen != nil {
		p.inputs = behindPrefix(b, frozen, p.net, pixels, tuned)
	}
	return p
}

// behindPrefix runs the frozen part for each batch, or once over all pictures if they never vary.
func behindPrefix(b *testing.B, frozen *graph.Model, net *ort.Live, pixels *live.Pixels,
	tuned *tuning.Live) live.Inputs {
	prefix, err := ort.NewPrefix(orttest.Runtime(b), frozen, net.InputNames())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { prefix.Close() })
	from, err := live.NewPrefixed(prefix, pixels, tuned.Batch)
	if err != nil {
		b.Fatal(err)
	}
	if tuned.Augment != (backbone.Augmentation{}) {
		return from
	}
	cached, err := live.NewCached(b.Context(), from, len(tuned.Paths), tuned.Batch, 1<<40, nil)
	if err != nil {
		b.Fatal(err)
	}
	return cached
}

type part struct {
	name  string
	times []time.Duration
}

// measure runs the parts one after the other, as a step does.
func (p *parts) measure(b *testing.B, rounds int) []part {
	n := p.r.sampler.Size()
	z := features.Set{IDs: make([]int, n), Labels: make([]int, n)}
	dz := features.NewMatrix(n, p.r.Config.Head.Out)
	moved := map[string]train.Group{}
	for _, g := range p.r.loop.Groups {
		moved[g.Name] = g
	}
	cfg, err := train.NewSolver(p.r.Config.BackboneSolver)
	if err != nil {
		b.Fatal(err)
	}
	var dx blas32.General
	list := []struct {
		name string
		run  func() error
	}{
		{"pictures", func() (err error) { p.fed, err = p.inputs.Load(p.batch); return err }},
		{"forward", func() error { return p.net.Forward(p.tail.X(n), p.fed, n, true) }},
		{"head-forward", func() (err error) { z.X, err = p.tail.Forward(n); return err }},
		{"filter-loss", func() error { p.judge(z, dz); return nil }},
		{"head-backward", func() (err error) { dx, err = p.tail.Backward(dz); return err }},
		{"backward", func() error { return p.net.Backward(dx, false) }},
		{"head-solver", func() error {
			moved[train.HeadGroup].Solver.Step(moved[train.HeadGroup].Params, 1e-6)
			return nil
		}},
		{"backbone-solver", func() error { cfg.Step(p.net.Params(), 1e-9); return nil }},
	}
	result := make([]part, len(list))
	for round := range rounds + 3 {
		p.batch = p.r.sampler.Epoch(round / p.r.sampler.Batches())[round%p.r.sampler.Batches()]
		for i, row := range p.batch {
			z.IDs[i], z.Labels[i] = row, p.r.Data.Train.Labels[row]
		}
		for i, l := range list {
			start := time.Now()
			if err := l.run(); err != nil {
				b.Fatal(err)
			}
			result[i].name = l.name
			if round >= 3 {
				result[i].times = append(result[i].times, time.Since(start))
			}
		}
	}
	return result
}

// judge runs filter, losses and bank.
func (p *parts) judge(z features.Set, dz blas32.General) {
	kept, _ := p.r.loop.Filter.Keep(z, p.r.loop.Bank)
	seen := features.NewSet(len(kept), z.Dim())
	for i, row := range kept {
		copy(seen.Row(i), z.Row(row))
		seen.Labels[i], seen.IDs[i] = z.Labels[row], z.IDs[row]
	}
	one := features.NewMatrix(len(kept), z.Dim())
	for _, term := range p.r.loop.Terms {
		var ref *features.Set
		if term.Bank {
			members := p.r.loop.Bank.Set()
			ref = &members
		}
		term.Loss.Eval(&one, seen, ref)
		for i, row := range kept {
			copy(features.Row(dz, row), features.Row(one, i))
		}
	}
	p.r.loop.Bank.Push(seen)
}
