package crossfit

import (
	"context"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/judges"
	"winnow/features"
	"winnow/head"
	"winnow/losses"
	"winnow/train"
)

// Settings of a head's training.
const (
	batch       = 128 // images of a step
	epochs      = 10
	mostLearned = 1 << 16 // images that a head learns from, or mostOfClass of each class if that is more
	mostOfClass = 64      // on average
	temperature = 0.3     // 0.05 learns people's mistakes: 2,000 of CIFAR-10, human labels, AUROC 0.936 for 0.945
	rate        = 1e-3    // of Adam, falling to 0 as a cosine
)

// learn makes what judges the images of a fold from those of the others.
func learn(ctx context.Context, set features.Set, c columned, folds []int, fold int, opts Options) (*evidence, error) {
	var in, out []int
	for i, f := range folds {
		switch {
		case f == fold:
			out = append(out, i)
		case f >= 0:
			in = append(in, i)
		}
	}
	e := &evidence{rows: out, classes: len(c.classes), first: blind}
	if len(out) == 0 {
		return e, nil
	}
	in = some(in, c, train.Rand(opts.Seed, "crossfit sample", fold))
	others, judged := features.Set{X: set.X, Labels: c.of}.Rows(in), features.Set{X: set.X}.Rows(out)
	h := opts.Start.Clone()
	z, err := h.Embed(others.X)
	if err != nil {
		return nil, err
	}
	if err := e.look(h, judged.X, centres(z, others.Labels, e.classes)); err != nil {
		return nil, err
	}
	if others.Labels, e.first, err = trust(ctx, features.Set{X: z, Labels: others.Labels}, e.classes, train.Rand(opts.Seed, "crossfit trust", fold)); err != nil {
		return nil, err
	}
	if err := fit(ctx, h, others, centres(z, others.Labels, e.classes), fold, opts); err != nil {
		return nil, err
	}
	if err := h.EmbedInto(z, others.X); err != nil {
		return nil, err
	}
	return e, e.look(h, judged.X, centres(z, others.Labels, e.classes))
}

// some returns the rows that a head learns from: all, or of each class about the same share, drawn at random, so that
// what a head costs does not grow without end.
func some(rows []int, c columned, rng *rand.Rand) []int {
	const parts = 64
	keep := max(1, parts*max(mostLearned, mostOfClass*len(c.classes))/len(rows))
	if keep >= parts {
		return rows
	}
	column := make([]int, len(rows))
	for i, row := range rows {
		column[i] = c.of[row]
	}
	var drawn []int
	for i, part := range judges.Part(column, len(c.classes), parts, rng) {
		if part < keep {
			drawn = append(drawn, rows[i])
		}
	}
	return drawn
}

// fit trains h on the rows of set that have a label, by the cosines to a proxy for each class, which begins at start.
func fit(ctx context.Context, h *head.Head, set features.Set, start blas32.General, fold int, opts Options) error {
	sampler, err := train.NewSampler(train.Shuffle{Rows: batch}, set.Labels, train.Rand(opts.Seed, "crossfit batches", fold).Uint64())
	if err != nil {
		return err
	}
	encoder, err := head.NewEncoder(h, set, sampler.Size())
	if err != nil {
		return err
	}
	defer encoder.Close()
	loss, err := losses.New("norm_softmax", map[string]any{"temperature": temperature}, losses.Env{
		Dim: start.Cols, Classes: start.Rows, Init: train.Rand(opts.Seed, "crossfit proxies", fold),
	})
	if err != nil {
		return err
	}
	proxies, _ := loss.(losses.Proxied).Proxies()
	copy(proxies.Data, start.Data)
	steps := epochs * sampler.Batches()
	cfg := train.Config{
		Encoder: encoder, Sampler: sampler, Steps: steps,
		Terms:   []train.Term{{Name: "norm_softmax", Loss: loss, Params: []*features.Param{proxies}, Weight: 1}},
		Stepped: func(s train.Step) { opts.Told(fold, s.Number, steps) },
	}
	for _, of := range []struct {
		name   string
		params []*features.Param
	}{{train.HeadGroup, h.Params()}, {train.LossGroup, cfg.Terms[0].Params}} {
		g, err := group(of.name, of.params, steps, sampler.Batches())
		if err != nil {
			return err
		}
		cfg.Groups = append(cfg.Groups, g)
	}
	t, err := train.New(cfg)
	if err != nil {
		return err
	}
	_, err = t.Run(ctx)
	return err
}

// group gives parameters their solver.
func group(name string, params []*features.Param, steps, epoch int) (train.Group, error) {
	solver, err := train.NewSolver(train.DefaultSolver("adam"))
	if err != nil {
		return train.Group{}, err
	}
	plan, err := train.NewSchedule(train.ScheduleConfig{Name: "cosine"}, rate, steps, epoch)
	return train.Group{Name: name, Params: params, Solver: solver, Schedule: plan}, err
}
