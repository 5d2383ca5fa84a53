package crossfit

import (
	"context"
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
	mostLearned = 1 << 16 // most images that a head learns from, or mostOfClass of each class if that is more
	mostOfClass = 64      // on average
	// 0.05 learns people's mistakes: 2,000 of CIFAR-10, human labels, AUROC 0.936 instead of 0.945
	temperature = 0.3
	rate        = 1e-3 // of Adam, falling to 0 as a cosine
)

// plan says how long and at which rates to train.
type plan struct {
	batch, epochs int     // epochs: at most
	least         int     // least number of steps
	proxies       float64 // rate of Adam, falling to 0 as a cosine
	network       float64 // rate of parameters outside the head
}

// alone trains a head on stored features.
var alone = plan{batch: 128, epochs: 10, proxies: rate}

// learnFold computes the evidence on the images of a fold from those of the others.
func learnFold(
	ctx context.Context,
	set features.Set,
	c columned,
	folds []int,
	fold int,
	opts Options,
) (*evidence, error) {
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
	if opts.Tune == nil {
		set.IDs = nil
	}
	in = drawLearnRows(in, c, train.Rand(opts.Seed, "crossfit sample", fold))
	others, judged := features.Set{X: set.X, Labels: c.of, IDs: set.IDs}.Rows(in),
		features.Set{X: set.X, IDs: set.IDs}.Rows(out)
	h := opts.Start.Clone()
	z, err := h.Embed(others.X)
	if err != nil {
		return nil, err
	}
	if err := e.addFoldImages(h, judged.X, meansOf(z, others.Labels, e.classes)); err != nil {
		return nil, err
	}
	var first weighing
	given := others.Labels
	if others.Labels, first, err = trustLabels(ctx, features.Set{X: z, Labels: others.Labels}, e.classes,
		train.Rand(opts.Seed, "crossfit trust", fold)); err != nil {
		return nil, err
	}
	by := course{alone, h, others, computeClassCentres(z, others.Labels, e.classes), fold, new(train.Clock)}
	proxies, err := by.fitCourse(ctx, opts,
		func(batch int) (Encoder, error) { return head.NewEncoder(h, others, batch) }, nil)
	if err != nil {
		return nil, err
	}
	if err := h.EmbedInto(z, others.X); err != nil {
		return nil, err
	}
	if err := e.addFoldImages(h, judged.X, meansOf(z, others.Labels, e.classes)); err != nil {
		return nil, err
	}
	if opts.Tune != nil {
		others.Labels = given
		l := &Lesson{Learned: others, Judged: judged, Head: h, proxies: proxies, fold: fold, opts: opts}
		for _, row := range out {
			l.asked = append(l.asked, c.of[row])
		}
		err = e.addTuned(ctx, l, in, c)
	}
	if opts.Beside != nil {
		e.kinds = append(e.kinds, kind{beside: opts.Beside})
	}
	for i := range e.kinds {
		if e.kinds[i].first = first; e.kinds[i].network {
			e.kinds[i].first = blind
		}
	}
	e.heads = []*head.Head{opts.Start, h}
	return e, err
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

// Held returns the bytes that a fold of n images holds: features, embeddings and the judgements of trust of the learned
// images, and features and two embeddings of the judged ones.
func Held(n, values, classes int) int64 {
	learned, judged := min(n, max(mostLearned, mostOfClass*classes)), (n+4)/5
	return int64(learned)*int64(4*values+2*4*head.Widest) + judges.Fitting(learned, classes) +
		int64(judged)*int64(4*values+2*4*head.Widest)
}

// course is a training of an encoder on the labelled rows of a set, by cosines to a proxy for each class.
type course struct {
	plan
	head  *head.Head // the encoder, or on top of it
	set   features.Set
	start blas32.General // of the proxies
	fold  int
	clock *train.Clock
}

// training is a configured course; its proxies begin at those of the course.
type training struct {
	train.Config
	proxies *features.Param
}

// newBatchSampler draws the batches of a course.
func (c course) newBatchSampler(opts Options) (*train.Sampler, error) {
	return train.NewSampler(train.Shuffle{Rows: c.batch}, c.set.Labels,
		train.Rand(opts.Seed, "crossfit batches", c.fold).Uint64())
}

// newTraining configures the course for an encoder: the head, or a network under it.
func (c course) newTraining(e Encoder, opts Options) (training, error) {
	var t training
	sampler, err := c.newBatchSampler(opts)
	if err != nil {
		return t, err
	}
	loss, err := losses.New("norm_softmax", map[string]any{"temperature": temperature}, losses.Env{
		Dim: c.start.Cols, Classes: c.start.Rows, Init: train.Rand(opts.Seed, "crossfit proxies", c.fold),
	})
	if err != nil {
		return t, err
	}
	t.proxies, _ = loss.(losses.Proxied).Proxies()
	copy(t.proxies.Data, c.start.Data)
	steps := max(c.epochs*sampler.Batches(), c.least)
	t.Config = train.Config{
		Encoder: e, Sampler: sampler, Steps: steps, Clock: c.clock,
		Terms: []train.Term{{Name: "norm_softmax", Loss: loss, Params: []*features.Param{t.proxies}, Weight: 1}},
		Observe: train.On(func(s train.Step) {
			if c.network > 0 || opts.Tune == nil { // heads take seconds, networks minutes
				opts.reportStep(c.fold, s.Number, steps)
			}
		}),
	}
	network := slices.DeleteFunc(slices.Clone(e.Params()),
		func(p *features.Param) bool { return slices.Contains(c.head.Params(), p) })
	for _, of := range []struct {
		name   string
		params []*features.Param
		rate   float64
	}{{train.HeadGroup, c.head.Params(), rate}, {train.LossGroup, t.Terms[0].Params, c.proxies},
		{train.BackboneGroup, network, c.network}} {
		if len(of.params) == 0 {
			continue
		}
		g, err := newGroup(of.name, of.params, of.rate, steps, sampler.Batches())
		if err != nil {
			return t, err
		}
		t.Groups = append(t.Groups, g)
	}
	return t, nil
}

// fitCourse trains the encoder that open returns. It returns the learned proxies. configure replaces
// [course.newTraining] if it is not nil.
func (c course) fitCourse(ctx context.Context, opts Options, open func(batch int) (Encoder, error),
	configure func(Encoder) (training, error)) (blas32.General, error) {
	sampler, err := c.newBatchSampler(opts)
	if err != nil {
		return c.start, err
	}
	e, err := open(sampler.Size())
	if err != nil {
		return c.start, err
	}
	defer e.Close()
	if configure == nil {
		configure = func(e Encoder) (training, error) { return c.newTraining(e, opts) }
	}
	by, err := configure(e)
	if err != nil {
		return c.start, err
	}
	t, err := train.New(by.Config)
	if err != nil {
		return c.start, err
	}
	_, err = t.Run(ctx)
	return by.proxies.Matrix(), err
}

// newGroup returns parameters with their solver.
func newGroup(name string, params []*features.Param, rate float64, steps, epoch int) (train.Group, error) {
	solver, err := train.NewSolver(train.DefaultSolver("adam"))
	if err != nil {
		return train.Group{}, err
	}
	plan, err := train.NewSchedule(train.ScheduleConfig{Name: "cosine"}, rate, steps, epoch)
	return train.Group{Name: name, Params: params, Solver: solver, Schedule: plan}, err
}
