package pairs

import (
	"context"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/internal/text"
	"winnow/losses"
	"winnow/papers/theory"
	"winnow/run"
	"winnow/run/config"
	"winnow/train"
)

// Options name the images and the losses to compare.
type Options struct {
	BatchOptions
	Synthetic *float64      // rate of the symmetric noise; nil: the share of wrong labels
	Losses    []config.Loss // nil: the run's losses that are functions of pairs, or supcon and scl_rhe
	Most      int           // largest number of pairs; if there are more, images are drawn at random
	Winnow    string        // version of winnow, for the result
}

// Result is pairs.json.
type Result struct {
	Winnow string `json:"winnow"`
	Origin
	Images     int              `json:"images"`
	Compared   int              `json:"compared_images"` // fewer than Images if they were drawn
	Classes    int              `json:"classes"`         // true ones
	Labellings []Labelling      `json:"labellings"`
	LeftOut    []lookup.LeftOut `json:"left_out"`
}

// Labelling describes the pairs under one set of labels.
type Labelling struct {
	Name    string  `json:"name"`
	Wrong   float64 `json:"wrong"` // share of wrong labels
	Cosines Cosines `json:"cosines"`
	Signals Signals `json:"signals"`
	Formula formula `json:"formula"`

	labels Labels
}

// formula is the expectation for symmetric noise of the same rate over equally frequent classes.
type formula struct {
	PFP     float64 `json:"p_fp"`
	PFN     float64 `json:"p_fn"`
	OfRates float64 `json:"false_positives_of_wrong_by_rate"`
}

// Names of the labellings.
const (
	AsGiven   = "as given"
	Symmetric = "symmetric noise"
)

// JSON writes the result.
func (r Result) JSON(w io.Writer) error { return text.JSON(w, r) }

// Run compares the pairs of the training images of a run, or of a store in batches of 512 with SCL-RHE's losses,
// under the given labels and under symmetric noise.
func Run(ctx context.Context, o Options) (Result, error) {
	o.Data.Host = o.Data.Host.Complete()
	o.Sampler = config.Sampler{Variant: config.Shuffle, Rows: 512}
	t, err := OpenBatches(ctx, o.BatchOptions)
	if err != nil {
		return Result{}, err
	}
	t.Set = t.Set.Labelled()
	t.Sampler.Unlabelled = 0 // they form no pairs
	c := comparison{Batches: t, losses: o.Losses, chosen: o.Losses != nil,
		result: Result{Winnow: o.Winnow, Origin: t.Origin, Images: t.Set.Len(), LeftOut: t.LeftOut}}
	switch {
	case c.chosen:
	case o.Run == "":
		c.losses = Named("supcon", "scl_rhe")
	case t.Config.Method == config.Metric:
		c.losses = t.Config.Losses
	}
	if err := c.makeLabellings(ctx, o.Synthetic); err != nil {
		return c.result, err
	}
	rows := drawRows(t.Set.Len(), o.Most, t.Seed)
	if c.result.Compared = len(rows); len(rows) < t.Set.Len() {
		o.Data.Host.Note("comparing at most %d pairs: those of %d of %d images, drawn at random",
			o.Most, len(rows), t.Set.Len())
	}
	err = c.measureCosines(ctx, rows)
	return c.result, err
}

// Named returns losses with their default settings.
func Named(names ...string) (list []config.Loss) {
	for _, name := range names {
		list = append(list, config.Loss{Name: name})
	}
	return list
}

// drawRows returns the rows to compare: all n, or m random ones with m(m-1)/2 ≤ most pairs.
func drawRows(n, most int, seed uint64) []int {
	m := int(math.Sqrt(2*float64(most)+0.25) + 0.5)
	rows := train.Rand(seed, "pairs", 0).Perm(n)[:min(n, max(m, 2))]
	slices.Sort(rows)
	return rows
}

// comparison is the state of Run; Set holds the labelled images.
type comparison struct {
	Batches
	result Result
	losses []config.Loss
	chosen bool // the caller chose losses: each must be a function of the pairs of a batch
}

// makeLabellings makes the two labellings: the given labels, and symmetric noise on the true ones.
func (c *comparison) makeLabellings(ctx context.Context, synthetic *float64) error {
	if !c.Manifest.HasTruth(datasets.Train) {
		return hint.With(fmt.Errorf("pairs: the manifest has no true labels to compare with"),
			"make a manifest with known wrong labels: winnow data corrupt")
	}
	given := newLabelling(AsGiven, c.Manifest, c.Set.IDs)
	c.result.Labellings, c.result.Classes = []Labelling{given}, countLabels(given.labels.True)
	rate := given.Wrong
	if synthetic != nil {
		rate = *synthetic
	}
	if rate == 0 {
		return hint.With(hint.Misused("pairs: no label of the manifest is wrong"),
			"give a rate of symmetric noise to compare with")
	}
	if err := datasets.CheckRate(rate); err != nil {
		return hint.AsMisuse(err)
	}
	noise, err := run.NewNoise(ctx, run.NoiseSpec{Model: "symmetric", Rate: rate, Count: datasets.Exact}, nil)
	if err != nil {
		return err
	}
	noisy, err := c.Manifest.TrueLabels(datasets.Train).Corrupt(datasets.Train, noise, run.NoiseRand(c.Seed))
	if err == nil {
		c.result.Labellings = append(c.result.Labellings, newLabelling(Symmetric, noisy, c.Set.IDs))
	}
	return err
}

// newLabelling returns the labels of the samples at these positions.
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

// measureCosines computes the cosines of some rows and the signals of both labellings.
func (c *comparison) measureCosines(ctx context.Context, rows []int) error {
	var labels []Labels
	for _, l := range c.result.Labellings {
		labels = append(labels, l.labels.Rows(rows))
	}
	found, err := Measure(ctx, c.Set.Rows(rows).X, labels...)
	if err != nil {
		return err
	}
	for i := range c.result.Labellings {
		l := &c.result.Labellings[i]
		l.Cosines = found[i]
		p := theory.Pairs(l.Wrong, max(c.result.Classes, 2)) // P_FP = q₊, P_FN = q₋
		l.Formula = formula{PFP: p.Positive, PFN: p.Negative}
		if p.Positive > 0 {
			l.Formula.OfRates = p.Positive / (p.Positive + p.Negative)
		}
		if l.Signals, err = c.measureSignals(ctx, l.labels); err != nil {
			return err
		}
	}
	return nil
}

// measureSignals measures the batches from the first epoch on, as a training would draw them by these labels.
func (c *comparison) measureSignals(ctx context.Context, labels Labels) (Signals, error) {
	set := features.Set{X: c.Set.X, IDs: c.Set.IDs, Labels: withoutGaps(labels.Given)}
	step := 0
	judges, err := c.newPairJudges(countLabels(set.Labels), &step)
	if err != nil {
		return Signals{}, err
	}
	meter, err := newMeter(judges)
	if err != nil {
		return Signals{}, hint.AsMisuse(err)
	}
	err = c.Each(ctx, set, func(number int, rows []int) {
		step = number
		meter.Add(set.Rows(rows), labels.Rows(rows))
	})
	return meter.sumSignals(), err
}

// newPairJudges returns the losses as in a training, but all compared within the batch. step seeds those that draw. A
// run's losses that are not functions of the pairs are left out.
func (c *comparison) newPairJudges(classes int, step *int) (judges []Judge, err error) {
	for _, l := range c.losses {
		loss, err := losses.New(l.Name, l.Settings, losses.Env{
			Dim: c.Set.Dim(), Classes: classes, Printed: c.Config.PaperVariant,
			Init: train.Rand(c.Seed, "loss "+l.Term(), 0),
			Step: func() *rand.Rand { return train.Rand(c.Seed, "pairs "+l.Term(), *step) },
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

// withoutGaps renumbers labels from 0 without gaps, in their order.
func withoutGaps(labels []int) []int {
	present := slices.Compact(slices.Sorted(slices.Values(labels)))
	out := make([]int, len(labels))
	for i, label := range labels {
		out[i], _ = slices.BinarySearch(present, label)
	}
	return out
}
