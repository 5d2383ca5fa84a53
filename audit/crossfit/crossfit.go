// Package crossfit judges the given labels of a set by heads that it trains on the spot, and no image is judged by a
// head that was trained on it or has seen its label.
//
// All heads start as the whitening of all vectors, which knows no labels: it is computed once. Then the images are parted
// into folds. For each fold, from the other folds alone:
//
//  1. they are judged by fitted, each image left out of its own: labels that look wrong are not learned
//     from, and where another class is nearly sure the image counts for that one (self-training);
//  2. a head is trained on what is left, by a normalised softmax whose proxies start at the class centres;
//  3. the fold's images are compared with the class centres before and after the training.
//
// What an image's similarities to the classes mean is then found by the given labels of the same fold, which no part
// of the above has seen; a fold is halved for that, so that the labels of one half say what the similarities of the
// other mean. So the probabilities of the classes of an image depend on its vector and on vectors and labels of
// others; its own label enters where they are compared with it, and in which images make its fold.
//
// The package sees given labels only. It imports audit/judges for what is said of labels, features, head, losses, train and
// filters/leaveout, and no dataset.
package crossfit

import (
	"cmp"
	"context"
	"fmt"

	"winnow/audit/judges"
	"winnow/features"
	"winnow/head"
	"winnow/train"
)

// Options are the settings of [Judge]; the zero value takes the defaults.
type Options struct {
	Folds  int                                       // default 5
	Rounds int                                       // partings into folds, each with a seed of its own, whose mean log probabilities judge; default 1
	Parts  []int                                     // values of each backbone, whose vectors stand side by side in a row: each has heads of its own, weighed by the likelihood of left-out labels; nil: one backbone
	Start  *head.Head                                // a copy of which is trained for each fold; nil: the whitening of all rows. That of several backbones is not asked
	Seed   uint64                                    // of the first round
	Told   func(done, total, kept int, where string) // how many steps are done, kept of them by an earlier audit; may be nil

	// Tune gives a lesson to a network, by [Lesson.Fit]; what it makes of the judged images counts beside what heads make of
	// them. nil: there are no networks.
	Tune func(context.Context, *Lesson) (Tuned, error)
	// Chose is told how probable labels of a fold are that are left out, in nats, with networks and without. Networks that
	// make them no likelier do not judge. May be nil.
	Chose func(with, without float64)
	// Counted is told, fold by fold, what share each backbone has in the similarities that a fold is judged by: their spread over the
	// classes, as it is weighed. May be nil.
	Counted func(shares []float64)
	// Beside counts beside what heads make of the images, weighed as they are, where a sample is learned ([Learn]); nil: heads are all.
	Beside Beside
	// Shared keeps what heads made of the labels, or has it from an earlier call for the same set and options; may be nil.
	Shared *Shared

	round, part int
	starts      []*head.Head // of the parts
	kept        *int         // lessons that were learned earlier
}

// Judge judges the labels of set, features as they were stored; labels are 0 … classes-1 or negative for none. Orders are
// log odds, scores probabilities. A class
// that has fewer images than there are folds is absent from the learning of some, by one image; those with a single
// image take no part.
//
// Time about Folds·40·m·d·512 operations for n rows of dimension d, of which a head learns from m, all but a fold or mostLearned;
// memory, beside the set, that of m rows and 4 kB for each of a fold.
func Judge(ctx context.Context, set features.Set, classes int, opts Options) (judges.Opinion, error) {
	v := judges.Undecided(set.Labels)
	if opts.Rounds > 1 {
		return v, pool(ctx, set, classes, opts, v)
	}
	r := []float64(nil)
	err := rounds(ctx, set, classes, opts, func(c columned, row int, w weighing, p []float64) {
		if r == nil {
			r = make([]float64, len(p))
		}
		c.say(v, row, w, p, r)
	})
	return v, err
}

// Probabilities calls do for every row that is judged, fold by fold, with P(k|x) of the classes that two rows or more
// share, rising: what heads that were not trained on the row make of it. It does so in every round. do may keep no p.
func Probabilities(ctx context.Context, set features.Set, classes int, opts Options, do func(row int, p []float64)) error {
	return rounds(ctx, set, classes, opts, func(_ columned, row int, _ weighing, p []float64) { do(row, p) })
}

// each learns fold by fold and calls do for its rows, with the weighing that led to their probabilities.
func each(ctx context.Context, set features.Set, classes int, opts Options, do said) error {
	opts.Folds = cmp.Or(opts.Folds, 5)
	if opts.Told == nil {
		opts.Told = func(int, int, int, string) {}
	}
	switch {
	case opts.Folds < 2:
		return fmt.Errorf("crossfit: %d folds, expected 2 or more", opts.Folds)
	case len(set.Labels) != set.Len():
		return fmt.Errorf("crossfit: %d labels, expected one for each of %d rows", len(set.Labels), set.Len())
	}
	c, err := columns(set.Labels, classes)
	if err != nil {
		return err
	}
	folds := judges.Part(c.of, len(c.classes), opts.Folds, train.Rand(opts.Seed, "crossfit folds", 0))
	for f := range opts.Folds {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("crossfit: stopped before fold %d of %d: %w", f+1, opts.Folds, err)
		}
		e, err := learnAll(ctx, set, c, folds, f, opts)
		if err != nil {
			return fmt.Errorf("crossfit: fold %d of %d: %w", f+1, opts.Folds, err)
		}
		if err := e.choose(ctx, c.of, opts); err != nil {
			return fmt.Errorf("crossfit: fold %d of %d: %w", f+1, opts.Folds, err)
		}
		if err := e.judge(ctx, c, len(opts.Parts), opts.Counted, do); err != nil {
			return fmt.Errorf("crossfit: fold %d of %d: %w", f+1, opts.Folds, err)
		}
	}
	return nil
}

// tell tells of a step of a fold.
func (o Options) tell(fold, step, steps int) {
	where, parts, rounds := fmt.Sprintf("fold %d of %d", fold+1, o.Folds), max(len(o.Parts), 1), max(o.Rounds, 1)
	if parts > 1 {
		where += fmt.Sprintf(", backbone %d of %d", o.part+1, parts)
	}
	if rounds > 1 {
		where += fmt.Sprintf(", seed %d of %d", o.round+1, rounds)
	}
	before := (o.round*o.Folds+fold)*parts + o.part
	o.Told(before*steps+step, rounds*o.Folds*parts*steps, *o.kept*steps, where)
}

// columned numbers the classes that two images or more share.
type columned struct {
	classes []int // of each column, rising
	of      []int // column of each row; -1: none
}

// say notes what the probabilities of a row mean for its label; r is scratch.
func (c columned) say(v judges.Opinion, row int, w weighing, p, r []float64) {
	y := c.of[row]
	v.Order[row], v.Score[row] = w.odds(p, y), w.posterior(r, p, y)
	best := y
	for k, q := range r {
		if q > r[best] {
			best = k
		}
	}
	v.Suggested[row], v.SuggestedScore[row] = c.classes[best], r[best]
}

func columns(labels []int, classes int) (columned, error) {
	count := make([]int, classes)
	for i, y := range labels {
		if y >= classes {
			return columned{}, fmt.Errorf("crossfit: row %d: label %d, expected one of %d classes", i, y, classes)
		}
		if y >= 0 {
			count[y]++
		}
	}
	c := columned{of: make([]int, len(labels))}
	column := make([]int, classes)
	for k, n := range count {
		column[k] = -1
		if n >= 2 {
			column[k] = len(c.classes)
			c.classes = append(c.classes, k)
		}
	}
	if len(c.classes) < 2 {
		return columned{}, fmt.Errorf("crossfit: %d classes have two images or more, expected at least two", len(c.classes))
	}
	for i, y := range labels {
		c.of[i] = -1
		if y >= 0 {
			c.of[i] = column[y]
		}
	}
	return c, nil
}
