package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/urfave/cli/v2"

	"winnow/features"
	"winnow/losses"
	"winnow/papers/pairs"
	"winnow/papers/theory"
	"winnow/train"
)

// measure fills in the cosines and the signals of both labellings.
func (w *pairsWork) measure(c *cli.Context) error {
	if c.IsSet("batch") {
		s := &w.sampler
		var err error
		if s.Classes, s.Images, s.Rows, err = parseBatch(c.String("batch"), s.Variant); err != nil {
			return asMisuse(err)
		}
	}
	set, rows := w.drawn(c)
	var labels []pairs.Labels
	for _, l := range w.result.Labellings {
		labels = append(labels, l.labels.Rows(rows))
	}
	found, err := pairs.Measure(c.Context, set.X, labels...)
	if err != nil {
		return err
	}
	for i := range w.result.Labellings {
		l := &w.result.Labellings[i]
		l.Cosines = found[i]
		p := theory.Pairs(l.Wrong, max(w.result.Classes, 2)) // P_FP = q₊, P_FN = q₋
		l.Formula = pairFormula{PFP: p.Positive, PFN: p.Negative}
		if p.Positive > 0 {
			l.Formula.OfRates = p.Positive / (p.Positive + p.Negative)
		}
		if l.Signals, err = w.signals(c, l.labels); err != nil {
			return err
		}
	}
	return nil
}

// drawn are the rows whose pairs are compared: all, or as many as --pairs allows.
func (w *pairsWork) drawn(c *cli.Context) (set features.Set, rows []int) {
	n, most := w.set.Len(), int(math.Sqrt(2*float64(c.Int("pairs"))+0.25)+0.5) // m(m-1)/2 ≤ pairs
	w.result.Compared = min(n, max(most, 2))
	rows = train.Rand(w.result.Seed, "pairs", 0).Perm(n)[:w.result.Compared]
	slices.Sort(rows)
	if w.result.Compared < n {
		note(c, "comparing the pairs of %d of %d images, drawn at random: --pairs %d", w.result.Compared, n, c.Int("pairs"))
	}
	return w.set.Rows(rows), rows
}

// signals looks at batches from the first epoch on, as the labels would make them.
func (w *pairsWork) signals(c *cli.Context, labels pairs.Labels) (s pairs.Signals, err error) {
	set := features.Set{X: w.set.X, IDs: w.set.IDs, Labels: withoutGaps(labels.Given)}
	step := 0
	judges, err := w.judges(c, classesIn(set.Labels), &step)
	if err != nil {
		return s, err
	}
	meter, err := pairs.NewMeter(judges)
	if err != nil {
		return s, asMisuse(err)
	}
	asked := w.sampler
	asked.Unlabelled = 0 // they are no pairs
	sampler, err := train.NewSampler(asked, set.Labels, w.result.Seed)
	if err != nil {
		return s, err
	}
	batches := sampler.Batches()
	if c.IsSet("batches") {
		batches = c.Int("batches")
	}
	for epoch := 0; step < batches; epoch++ {
		for _, rows := range first(sampler.Epoch(epoch), batches-step) {
			if err := c.Context.Err(); err != nil {
				return s, err
			}
			meter.Add(set.Rows(rows), labels.Rows(rows))
			step++
		}
	}
	return meter.Signals(), nil
}

// judges are the losses as a training has them, but all compared within the batch; step is what those that draw look
// at. Of a run's those are left out that are no function of its pairs.
func (w *pairsWork) judges(c *cli.Context, classes int, step *int) (judges []pairs.Judge, err error) {
	for _, l := range w.losses {
		loss, err := losses.New(l.Name, l.Settings, losses.Env{
			Dim: w.set.Dim(), Classes: classes, Init: train.Rand(w.result.Seed, "loss "+l.Term(), 0),
			Step: func() *rand.Rand { return train.Rand(w.result.Seed, "pairs "+l.Term(), *step) },
		})
		if err != nil {
			return nil, asMisuse(err)
		}
		if _, ok := losses.Slopes(loss, features.Set{}); !ok && !c.IsSet("loss") {
			continue
		}
		judges = append(judges, pairs.Judge{Name: l.Term(), Loss: loss})
	}
	return judges, nil
}

// withoutGaps numbers labels from 0 on, in their order.
func withoutGaps(labels []int) []int {
	present := slices.Compact(slices.Sorted(slices.Values(labels)))
	out := make([]int, len(labels))
	for i, label := range labels {
		out[i], _ = slices.BinarySearch(present, label)
	}
	return out
}
