// Package crossfit scores the given labels of a set with heads that it trains. No head scores an image that it was
// trained on or whose label it has used.
//
// All heads start as the whitening of all vectors, which uses no labels and is computed once. Then the images are
// divided into folds. For each fold, crossfit uses the other folds as follows:
//
//  1. The judge fitted scores their labels, each without the image itself. Heads do not learn labels that look wrong,
//     and if another class is almost certain, the image is learned with that class (self-training).
//  2. A head is trained on the remaining labels, by a normalised softmax whose proxies start at the class centres.
//  3. The fold's images are compared with the class centres before and after the training.
//  4. With [Options.Tune], a network learns all given labels of the other folds and also scores the fold's images.
//
// The given labels of the same fold are not used by any step above. They then calibrate the similarities into class
// probabilities. For that a fold is halved, and each half is calibrated on the labels of the other. So the class
// probabilities of an image depend on its vector and on the vectors and labels of other images. Its own label is used
// only for the final comparison and for the division into folds.
//
// The package uses given labels only. It imports audit/judges to score labels, features, head, losses, train and
// filters/leaveout, and no dataset.
package crossfit

import (
	"cmp"
	"context"
	"fmt"

	"winnow/audit/judges"
	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/head"
	"winnow/train"
)

// Options are the settings of [Judge]. The zero value means the defaults.
type Options struct {
	Folds int        // default 5, 3 for many images of large classes, or [TunedFolds] with networks
	Start *head.Head // initial head of each fold; nil: the whitening of all rows
	Seed  uint64

	// Told receives the number of completed steps. May be nil.
	Told func(done, total int, where string)
	// Voice holds for each row the row that represents it, as in [leaveout.NewHeard]: only rows that represent
	// themselves are learned, and duplicates are in the same fold. nil: there are no duplicates.
	Voice []int
	// Tune trains a network on a lesson, with [Lesson.Fit]. Its result is used together with the heads if that raises
	// the likelihood of held-out labels. nil: no networks.
	Tune func(context.Context, *Lesson) (Tuned, error)
	// Seen receives the networks' margins of the given labels, including labels that the networks learned. May be nil.
	Seen *Seen

	chosen *Choice // made by the first network, for all networks
}

// said receives the class probabilities p of a row and the weighing that produced them.
type said func(c columned, row int, w weighing, p []float64)

// Judge scores the labels of set, whose vectors are stored features. Labels are 0 … classes-1, negative if missing.
// Orders are log odds, and scores are probabilities. If a class has fewer images than there are folds, some of the
// heads are trained without the class; a single image of a class is not used.
//
// Time about Folds·40·m·d·512 operations for rows of dimension d, where m is the number of rows that a head learns
// from: all outside a fold, but at most mostLearned. Memory besides the set: m rows, and 4 kB for each row of a fold.
func Judge(ctx context.Context, set features.Set, classes int, opts Options) (judges.Opinion, error) {
	v := judges.Undecided(set.Labels)
	r := []float64(nil)
	err := learnByFold(ctx, set, classes, opts, func(c columned, row int, w weighing, p []float64) {
		if r == nil {
			r = make([]float64, len(p))
		}
		c.setOpinion(v, row, w, p, r)
	})
	return v, err
}

// Probabilities calls do for every scored row, fold by fold, with P(k|x) by heads that were not trained on the row. p
// covers the classes of at least two rows, ascending; do must not keep p.
func Probabilities(ctx context.Context, set features.Set, classes int, opts Options,
	do func(row int, p []float64)) error {
	return learnByFold(ctx, set, classes, opts, func(_ columned, row int, _ weighing, p []float64) { do(row, p) })
}

// learnByFold trains one fold after another and calls do for the rows of each fold.
func learnByFold(ctx context.Context, set features.Set, classes int, opts Options, do said) (err error) {
	folds := 5
	if opts.Tune != nil {
		folds = TunedFolds
	} else if set.Len() > max(manyImages, mostOfClass*classes) {
		folds = 3
	}
	opts.Folds, opts.chosen = cmp.Or(opts.Folds, folds), new(Choice)
	if opts.Seen != nil {
		opts.Seen.growRows(set.Len())
	}
	if opts.Told == nil {
		opts.Told = func(int, int, string) {}
	}
	if opts.Start == nil {
		if opts.Start, err = head.SelfWhitening(ctx, set, head.Widest); err != nil {
			return fmt.Errorf("crossfit: %w", err)
		}
	}
	switch {
	case opts.Folds < 2:
		return fmt.Errorf("crossfit: %d folds, expected 2 or more", opts.Folds)
	case len(set.Labels) != set.Len():
		return fmt.Errorf("crossfit: %d labels, expected one for each of %d rows", len(set.Labels), set.Len())
	}
	c, err := newColumned(set.Labels, classes, opts.findVoice)
	if err != nil {
		return err
	}
	of := judges.PartHeard(c.of, len(c.classes), opts.Folds, opts.findVoice, train.Rand(opts.Seed, "crossfit folds", 0))
	for f := range opts.Folds {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("crossfit: stopped before fold %d of %d: %w", f+1, opts.Folds, err)
		}
		e, err := learnFold(ctx, set, c, of, f, opts)
		if err == nil {
			err = e.judgeByEvidence(ctx, c, do)
		}
		if err != nil {
			return fmt.Errorf("crossfit: fold %d of %d: %w", f+1, opts.Folds, err)
		}
	}
	return nil
}

// findVoice returns the row that represents the given row.
func (o Options) findVoice(row int) int {
	if o.Voice == nil {
		return row
	}
	return o.Voice[row]
}

// columned numbers the classes that have at least two images, apart from duplicates.
type columned struct {
	classes []int // class of each column, ascending
	of      []int // column of each row; -1: none
}

// setOpinion sets the opinion on a row from its class probabilities p; r is scratch.
func (c columned) setOpinion(v judges.Opinion, row int, w weighing, p, r []float64) {
	y := c.of[row]
	v.Order[row], v.Score[row] = w.computeLogOdds(p, y), w.fillPosterior(r, p, y)
	best := y
	for k, q := range r {
		if q > r[best] {
			best = k
		}
	}
	v.Suggested[row], v.SuggestedScore[row] = c.classes[best], r[best]
}

func newColumned(labels []int, classes int, voice func(row int) int) (columned, error) {
	count := make([]int, classes)
	for i, y := range labels {
		if y >= classes {
			return columned{}, fmt.Errorf("crossfit: row %d: label %d, expected one of %d classes", i, y, classes)
		}
		if y >= 0 && voice(i) == i {
			count[y]++
		}
	}
	judged, column, err := leaveout.NumberColumns(count)
	if err != nil {
		return columned{}, fmt.Errorf("crossfit: %w", err)
	}
	c := columned{classes: judged, of: make([]int, len(labels))}
	for i, y := range labels {
		c.of[i] = -1
		if y >= 0 {
			c.of[i] = column[y]
		}
	}
	return c, nil
}
