package theory

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/losses"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// PairOptions select the images and the losses to compare.
type PairOptions struct {
	Run    string         // folder of a run; "": Data names a store and its manifest
	Data   folder.Options // options of the run or of the store; ComparePairs sets Splits
	Losses []string       // losses with default settings; nil: the run's losses of pairs or, for a store, SCL-RHE's
}

// PairResult compares the pairs of training images under the given labels and under symmetric noise of the same rate.
type PairResult struct {
	Name       string // describes the vectors
	Images     int
	Classes    int // number of true classes
	Labellings []Labelling
}

// Labelling describes the pairs under one set of labels.
type Labelling struct {
	Name    string
	Wrong   float64 // share of wrong labels
	Cosines Cosines
	Signals Signals
	Formula PairNoise // expected rates for symmetric noise: P_FP = q₊, P_FN = q₋

	labels Labels
}

// comparison is the state of ComparePairs.
type comparison struct {
	result   PairResult
	manifest *datasets.Dataset
	set      features.Set // labelled training images: unit rows, IDs are positions in the manifest
	sampler  config.Sampler
	seed     uint64
	printed  bool // the run's losses are the variants printed in the papers
	losses   []config.Loss
	chosen   bool // the caller selected the losses: each must be a function of the pairs of a batch
}

// ComparePairs compares the pairs of training images under the given labels and under symmetric noise. For a run it
// uses the run's batches and losses; for a store, batches of 512 and SCL-RHE's losses.
func ComparePairs(ctx context.Context, o PairOptions) (PairResult, error) {
	o.Data.Host = o.Data.Host.Complete()
	c := comparison{seed: 1, chosen: o.Losses != nil}
	if err := c.openImages(ctx, o); err != nil {
		return c.result, err
	}
	if err := c.makeLabellings(ctx); err != nil {
		return c.result, err
	}
	return c.result, c.measureLabellings(ctx)
}

// openImages embeds the training images and chooses the losses.
func (c *comparison) openImages(ctx context.Context, o PairOptions) error {
	o.Data.Splits = []string{datasets.Train, datasets.Validation}
	open := folder.OpenStore
	if o.Run != "" {
		open = func(of folder.Options) (*folder.Run, error) { return folder.Open(ctx, o.Run, of) }
	}
	r, err := open(o.Data)
	if err != nil {
		return err
	}
	data, err := run.Join(ctx, r.Manifest, r.Store)
	if err != nil {
		return err
	}
	names := o.Losses
	c.manifest, c.set, c.result.Name = r.Manifest, data.Train.Labelled(), "frozen features"
	switch {
	case o.Run == "":
		c.sampler = config.Sampler{Variant: config.Shuffle, Rows: min(512, c.set.Len())}
		if err = features.Normalize(c.set.X); names == nil {
			names = []string{"supcon", "scl_rhe"}
		}
	default:
		c.result.Name = r.Dir + ", " + r.HeadFile
		c.sampler, c.seed, c.printed = r.Config.Sampler, r.Config.Seed, r.Config.PaperVariant
		c.sampler.Unlabelled = 0 // unlabelled images form no pairs
		if r.Config.Method == config.Metric && names == nil {
			c.losses = r.Config.Losses
		}
		c.set, err = r.Head.EmbedSet(ctx, c.set)
	}
	for _, name := range names {
		c.losses = append(c.losses, config.Loss{Name: name})
	}
	c.result.Images = c.set.Len()
	return err
}

// makeLabellings makes the two labellings: the given labels, and the true labels with symmetric noise.
func (c *comparison) makeLabellings(ctx context.Context) error {
	if !c.manifest.HasTruth(datasets.Train) {
		return hint.With(fmt.Errorf("theory: the manifest has no true labels to compare with"),
			"make a manifest with known wrong labels: winnow data corrupt")
	}
	given := newLabelling("as given", c.manifest, c.set.IDs)
	c.result.Labellings, c.result.Classes = []Labelling{given}, countLabels(given.labels.True)
	if given.Wrong == 0 {
		return fmt.Errorf("theory: the manifest has no known wrong label, expected at least one")
	}
	noise, err := run.NewNoise(ctx, run.NoiseSpec{Model: "symmetric", Rate: given.Wrong, Count: datasets.Exact}, nil)
	if err != nil {
		return err
	}
	noisy, err := c.manifest.TrueLabels(datasets.Train).Corrupt(datasets.Train, noise, run.NoiseRand(c.seed))
	if err == nil {
		c.result.Labellings = append(c.result.Labellings, newLabelling("symmetric noise", noisy, c.set.IDs))
	}
	return err
}

// newLabelling returns the labels of the samples at the given positions.
func newLabelling(name string, d *datasets.Dataset, at []int) Labelling {
	l := Labelling{Name: name}
	for _, id := range at {
		l.labels.Given, l.labels.True = append(l.labels.Given, d.Samples[id].Label),
			append(l.labels.True, d.Samples[id].True)
	}
	l.Wrong = l.labels.computeWrongShare()
	return l
}

func countLabels(labels []int) int { return len(slices.Compact(slices.Sorted(slices.Values(labels)))) }

// measureLabellings computes the cosines and the signals of both labellings.
func (c *comparison) measureLabellings(ctx context.Context) error {
	var labels []Labels
	for _, l := range c.result.Labellings {
		labels = append(labels, l.labels)
	}
	found, err := measureCosines(ctx, c.set.X, labels...)
	if err != nil {
		return err
	}
	for i := range c.result.Labellings {
		l := &c.result.Labellings[i]
		l.Cosines, l.Formula = found[i], Pairs(l.Wrong, max(c.result.Classes, 2))
		if l.Signals, err = c.measureSignals(ctx, l.labels); err != nil {
			return err
		}
	}
	return nil
}

// measureSignals measures the batches that a training with the given labels would draw in its first epoch.
func (c *comparison) measureSignals(ctx context.Context, labels Labels) (Signals, error) {
	set := features.Set{X: c.set.X, IDs: c.set.IDs, Labels: withoutGaps(labels.Given)}
	step := 0
	judges, err := c.newPairJudges(countLabels(set.Labels), &step)
	if err != nil {
		return Signals{}, err
	}
	meter, err := newMeter(judges)
	if err != nil {
		return Signals{}, hint.AsMisuse(err)
	}
	sampler, err := c.sampler.New(set.Labels, c.seed)
	if err != nil {
		return Signals{}, err
	}
	for rows := range sampler.Each(0) {
		if err := ctx.Err(); err != nil {
			return Signals{}, err
		}
		rows = rows[:sampler.Labelled()]
		meter.Add(set.Rows(rows), labels.Rows(rows))
		step++
	}
	return meter.sumSignals(), nil
}

// newPairJudges returns the losses as in a training, except that all of them are evaluated within the batch. step seeds
// losses that draw random numbers. Losses of a run that are not functions of pairs are left out.
func (c *comparison) newPairJudges(classes int, step *int) (judges []Judge, err error) {
	for _, l := range c.losses {
		loss, err := losses.New(l.Name, l.Settings, losses.Env{
			Dim: c.set.Dim(), Classes: classes, Printed: c.printed,
			Init: train.Rand(c.seed, "loss "+l.Term(), 0),
			Step: func() *rand.Rand { return train.Rand(c.seed, "pairs "+l.Term(), *step) },
		})
		if err != nil {
			return nil, hint.AsMisuse(err)
		}
		if _, ok := losses.Slopes(loss, features.Set{}); !ok && !c.chosen {
			continue
		}
		judges = append(judges, Judge{Name: l.Term(), Loss: loss})
	}
	return judges, nil
}

// withoutGaps renumbers labels to 0, 1, 2, … and keeps their order.
func withoutGaps(labels []int) []int {
	present := slices.Compact(slices.Sorted(slices.Values(labels)))
	out := make([]int, len(labels))
	for i, label := range labels {
		out[i], _ = slices.BinarySearch(present, label)
	}
	return out
}
