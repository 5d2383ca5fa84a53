// Package crossfit judges the given labels of a set by heads that it trains. No head judges an image that it was
// trained on or whose label it has seen.
//
// All heads start as the whitening of all vectors, which needs no labels and is computed once. Then the images are
// divided into folds. For each fold, from the other folds alone:
//
//  1. fitted judges their labels, each image left out of its own judgement: heads do not learn labels that look wrong,
//     and if another class is almost certain the image counts for that class (self-training);
//  2. a head is trained on the rest, by a normalised softmax whose proxies start at the class centres;
//  3. the fold's images are compared with the class centres before and after the training;
//  4. with [Options.Tune], a network learns all given labels of the other folds and judges the fold's images, too.
//
// The given labels of the same fold, which no step above has used, then determine the class probabilities that an
// image's similarities stand for. A fold is halved for that: the labels of one half serve the other. So the class
// probabilities of an image depend on its vector and on vectors and labels of others. Its own label enters only
// when it is compared with them, and in the division into folds.
//
// The package sees given labels only. It imports audit/judges for judgements of labels, features, head, losses,
// train and filters/leaveout, and no dataset.
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
	Folds int        // default 5; with networks, which take minutes, [TunedFolds]
	Start *head.Head // a copy is trained for each fold; nil: the whitening of all rows
	Seed  uint64

	// Told follows the steps that are done. May be nil.
	Told func(done, total int, where string)
	// Voice names for each row the row that counts for it, as [leaveout.NewHeard] takes it: only rows that count are
	// learned, and copies are in one fold. nil: there are no copies.
	Voice []int
	// Tune teaches a lesson to a network, by [Lesson.Fit]. Its result counts next to that of heads if it makes held-out
	// labels likelier. nil: no networks.
	Tune func(context.Context, *Lesson) (Tuned, error)
	// Seen receives what networks see of given labels, also of those that they learned. May be nil.
	Seen *Seen
}

// said receives the class probabilities of a row, and the weighing behind them.
type said func(c columned, row int, w weighing, p []float64)

// Judge judges the labels of set, stored features. Labels are 0 … classes-1, or negative for none. Orders are log
// odds, scores probabilities. A class with fewer images than folds is absent from some of the trainings; images
// alone in their class take no part.
//
// Time about Folds·40·m·d·512 operations for n rows of dimension d, where a head learns from m: all but a fold, or
// mostLearned. Memory besides the set: that of m rows, and 4 kB for each row of a fold.
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

// Probabilities calls do for every judged row, fold by fold, with P(k|x) for the classes of at least two rows, in
// rising order, by heads that were not trained on the row. do must not keep p.
func Probabilities(ctx context.Context, set features.Set, classes int, opts Options,
	do func(row int, p []float64)) error {
	return learnByFold(ctx, set, classes, opts, func(_ columned, row int, _ weighing, p []float64) { do(row, p) })
}

// learnByFold learns fold by fold and calls do for its rows, with their probabilities and the weighing behind them.
func learnByFold(ctx context.Context, set features.Set, classes int, opts Options, do said) (err error) {
	folds := 5
	if opts.Tune != nil {
		folds = TunedFolds
	}
	opts.Folds = cmp.Or(opts.Folds, folds)
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

// findVoice returns the row that counts for a row.
func (o Options) findVoice(row int) int {
	if o.Voice == nil {
		return row
	}
	return o.Voice[row]
}

// columned numbers the classes that have at least two images that count.
type columned struct {
	classes []int // of each column, rising
	of      []int // column of each row; -1: none
}

// setOpinion sets the opinion on a row from its probabilities; r is scratch.
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
