package crossfit

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/judges"
	"winnow/features"
	"winnow/head"
	"winnow/losses"
	"winnow/train"
)

const (
	mostLearned = 1 << 16 // most images that a head learns from; more if classes need mostOfClass each
	mostOfClass = 64      // per class on average
	// temperature of the softmax. With 0.05, heads also learn human label errors: AUROC 0.936 instead of 0.945 on 2,000
	// images of CIFAR-10 with human labels.
	temperature = 0.3
	rate        = 1e-3 // learning rate of Adam, decays to 0 as a cosine
	// Above manyImages, and mostOfClass images a class on average, there are 3 folds: heads hardly change, and the time
	// halves (docs/log, 2026-11).
	manyImages = 1 << 13
	// A head without a network has at most mostWork/(d + C) steps, for d dimensions and C classes, but leastMost if
	// that is more. Fewer steps have a higher rate, at most highest times as high.
	mostWork, leastMost, highest = 1 << 22, 1 << 10, 4
)

// plan holds the length and the learning rates of a training.
type plan struct {
	batch, epochs int     // images a step, most epochs
	least         int     // fewest steps
	stop          int     // stop after this many steps of the schedule; 0: at its end
	proxies       float64 // learning rate of Adam, decays to 0 as a cosine
	network       float64 // learning rate of parameters outside the head
}

// alone is the plan that trains a head on stored features, without a network.
var alone = plan{batch: 128, epochs: 10, proxies: rate}

// learnFold computes the evidence on the images of a fold from the images of the other folds.
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
	if opts.Tune == nil {
		set.IDs = nil
	}
	set.Labels = c.of
	others, judged := set.Rows(in), features.Set{X: set.X, IDs: set.IDs}.Rows(out)
	features.ReleasePages()
	h := opts.Start.Clone()
	z, err := h.Embed(others.X)
	if err != nil {
		return nil, err
	}
	others.X = blas32.General{} // trustLabels needs the memory
	if err := e.addFoldImages(h, judged.X, meansOf(z, others.Labels, e.classes)); err != nil {
		return nil, err
	}
	given := others.Labels
	if others.Labels, e.first, err = trustLabels(ctx, features.Set{X: z, Labels: others.Labels}, e.classes,
		train.Rand(opts.Seed, "crossfit trust", fold)); err != nil {
		return nil, err
	}
	others.X = set.Rows(in).X
	proxies, err := alone.trainEncoder(ctx, h, others, computeClassCentres(z, others.Labels, e.classes), fold, opts,
		func(batch int, _ *train.Clock) (Encoder, error) { return head.NewEncoder(h, others, batch) },
		func(*train.Config, *features.Param) {})
	if err != nil {
		return nil, err
	}
	if err := h.EmbedInto(z, others.X); err != nil {
		return nil, err
	}
	err = e.addFoldImages(h, judged.X, meansOf(z, others.Labels, e.classes))
	if err != nil || opts.Tune == nil {
		return e, err
	}
	others.Labels = given
	l := &Lesson{Learned: others, Judged: judged, Head: h, proxies: proxies, fold: fold, opts: opts}
	for _, row := range out {
		l.asked = append(l.asked, c.of[row])
	}
	return e, e.addTuned(ctx, l, in, c)
}

// drawLearnRows returns the rows that a head learns from: all rows or, to bound the training time, about the same
// random share of each class.
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

// trainEncoder trains the encoder that open returns: h, or a network with h on top. It trains on the labelled rows of
// set, by cosines to one proxy for each class. Proxies start at the class centres. change may adjust the configuration
// before training. trainEncoder returns the trained proxies.
func (p plan) trainEncoder(ctx context.Context, h *head.Head, set features.Set, centres blas32.General, fold int,
	opts Options, open func(batch int, clock *train.Clock) (Encoder, error),
	change func(*train.Config, *features.Param)) (blas32.General, error) {
	sampler, err := train.NewSampler(train.Shuffle{Rows: p.batch}, set.Labels,
		train.Rand(opts.Seed, "crossfit batches", fold).Uint64())
	if err != nil {
		return centres, err
	}
	clock := new(train.Clock)
	e, err := open(sampler.Size(), clock)
	if err != nil {
		return centres, err
	}
	defer e.Close()
	loss, err := losses.New("norm_softmax", map[string]any{"temperature": temperature}, losses.Env{
		Dim: centres.Cols, Classes: centres.Rows, Init: train.Rand(opts.Seed, "crossfit proxies", fold),
	})
	if err != nil {
		return centres, err
	}
	proxies, _ := loss.(losses.Proxied).Proxies()
	copy(proxies.Data, centres.Data)
	steps, higher := max(p.epochs*sampler.Batches(), p.least), 1.0
	if most := max(mostWork/(centres.Cols+centres.Rows), leastMost); p.network == 0 && steps > most {
		steps, higher = most, min(float64(steps)/float64(most), highest)
	}
	cfg := train.Config{
		Encoder: e, Sampler: sampler, Steps: min(cmp.Or(p.stop, steps), steps), Clock: clock,
		Terms: []train.Term{{Name: "norm_softmax", Loss: loss, Params: []*features.Param{proxies}, Weight: 1}},
		Observe: train.On(func(s train.Step) {
			if p.network > 0 || opts.Tune == nil { // heads take seconds, networks minutes
				opts.Told(fold*steps+s.Number, opts.Folds*steps, fmt.Sprintf("fold %d of %d", fold+1, opts.Folds))
			}
		}),
	}
	network := slices.DeleteFunc(slices.Clone(e.Params()),
		func(p *features.Param) bool { return slices.Contains(h.Params(), p) })
	for _, of := range []struct {
		name   string
		params []*features.Param
		rate   float64
	}{{train.HeadGroup, h.Params(), rate}, {train.LossGroup, cfg.Terms[0].Params, p.proxies},
		{train.BackboneGroup, network, p.network}} {
		if len(of.params) == 0 {
			continue
		}
		g := train.Group{Name: of.name, Params: of.params}
		if g.Solver, err = train.NewSolver(train.DefaultSolver("adam")); err != nil {
			return centres, err
		}
		if g.Schedule, err = train.NewSchedule(train.ScheduleConfig{Name: "cosine"}, higher*of.rate, steps,
			sampler.Batches()); err != nil {
			return centres, err
		}
		cfg.Groups = append(cfg.Groups, g)
	}
	change(&cfg, proxies)
	t, err := train.New(cfg)
	if err != nil {
		return centres, err
	}
	_, err = t.Run(ctx)
	return proxies.Matrix(), err
}
