package crossfit

import (
	"context"
	"fmt"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/judges"
	"winnow/features"
	"winnow/head"
	"winnow/losses"
	"winnow/train"
)

const (
	mostLearned = 1 << 16 // most images that a head learns from, or mostOfClass of each class if that is more
	mostOfClass = 64      // on average
	// 0.05 learns people's mistakes: 2,000 of CIFAR-10, human labels, AUROC 0.936 instead of 0.945
	temperature = 0.3
	rate        = 1e-3 // of Adam, falling to 0 as a cosine
	batchRows   = 128
	epochs      = 10
)

// learnFold computes the evidence on the images of a fold from those of the others.
func learnFold(ctx context.Context, set features.Set, c columned, folds []int, fold int, opts Options) (*evidence,
	error) {
	var in, out []int
	for i, f := range folds {
		switch {
		case f == fold:
			out = append(out, i)
		case f >= 0 && opts.findVoice(i) == i:
			in = append(in, i)
		}
	}
	e := &evidence{rows: out, classes: len(c.classes)}
	if len(out) == 0 {
		return e, nil
	}
	in = drawLearnRows(in, c, train.Rand(opts.Seed, "crossfit sample", fold))
	others, judged := features.Set{X: set.X, Labels: c.of}.Rows(in), features.Set{X: set.X}.Rows(out)
	h := opts.Start.Clone()
	z, err := h.Embed(others.X)
	if err != nil {
		return nil, err
	}
	if err := e.addFoldImages(h, judged.X, meansOf(z, others.Labels, e.classes)); err != nil {
		return nil, err
	}
	if others.Labels, e.first, err = trustLabels(ctx, features.Set{X: z, Labels: others.Labels}, e.classes,
		train.Rand(opts.Seed, "crossfit trust", fold)); err != nil {
		return nil, err
	}
	if err := trainHead(ctx, h, others, computeClassCentres(z, others.Labels, e.classes), fold, opts); err != nil {
		return nil, err
	}
	if err := h.EmbedInto(z, others.X); err != nil {
		return nil, err
	}
	return e, e.addFoldImages(h, judged.X, meansOf(z, others.Labels, e.classes))
}

// drawLearnRows returns the rows that a head learns from: all, or about the same share of each class, drawn at random,
// so that the cost of a head is bounded.
func drawLearnRows(rows []int, c columned, rng *rand.Rand) []int {
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

// trainHead trains h on the labelled rows of set, by cosines to a proxy for each class, which starts at its centre.
func trainHead(ctx context.Context, h *head.Head, set features.Set, centres blas32.General, fold int,
	opts Options) error {
	sampler, err := train.NewSampler(train.Shuffle{Rows: batchRows}, set.Labels,
		train.Rand(opts.Seed, "crossfit batches", fold).Uint64())
	if err != nil {
		return err
	}
	e, err := head.NewEncoder(h, set, sampler.Size())
	if err != nil {
		return err
	}
	defer e.Close()
	loss, err := losses.New("norm_softmax", map[string]any{"temperature": temperature}, losses.Env{
		Dim: centres.Cols, Classes: centres.Rows, Init: train.Rand(opts.Seed, "crossfit proxies", fold),
	})
	if err != nil {
		return err
	}
	proxies, _ := loss.(losses.Proxied).Proxies()
	copy(proxies.Data, centres.Data)
	steps := epochs * sampler.Batches()
	cfg := train.Config{
		Encoder: e, Sampler: sampler, Steps: steps,
		Terms: []train.Term{{Name: "norm_softmax", Loss: loss, Params: []*features.Param{proxies}, Weight: 1}},
		Observe: train.On(func(s train.Step) {
			opts.Told(fold*steps+s.Number, opts.Folds*steps, fmt.Sprintf("fold %d of %d", fold+1, opts.Folds))
		}),
	}
	for _, of := range []train.Group{{Name: train.HeadGroup, Params: h.Params()},
		{Name: train.LossGroup, Params: cfg.Terms[0].Params}} {
		if of.Solver, err = train.NewSolver(train.DefaultSolver("adam")); err != nil {
			return err
		}
		if of.Schedule, err = train.NewSchedule(train.ScheduleConfig{Name: "cosine"}, rate, steps,
			sampler.Batches()); err != nil {
			return err
		}
		cfg.Groups = append(cfg.Groups, of)
	}
	t, err := train.New(cfg)
	if err != nil {
		return err
	}
	_, err = t.Run(ctx)
	return err
}
