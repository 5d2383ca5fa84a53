// Package audit finds the wrong labels of a set. It scores every label, each image left out of its own judgement,
// suggests labels that fit better, estimates how many labels are wrong, and finds images that fit no class, near
// copies with different labels, and classes that look like one or like two.
//
//	result, err := audit.Run(ctx, set, audit.Options{Whiten: true})
//
// [Run] uses one scorer of the catalog: a judge of whole sets (audit/judges), the scorer of a filter with the set
// itself as its memory bank (filters), or heads that it trains (audit/crossfit). Scores from elsewhere, for example
// from a training, can rank the labels instead ([Given]). A [Cut] chooses suspects to drop or relabel;
// [Result.Suspects] with names ([Result.Name]) are the list on disk (audit/suspects).
//
// The package sees given labels only; [Result.Measure] alone compares with the truth. It reads and prints nothing and
// needs no ONNX Runtime; run/inspect opens runs and stores for it. Neither train nor filters nor losses import it.
package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/crossfit"
	"winnow/audit/findings"
	"winnow/audit/judges"
	"winnow/features"
	"winnow/filters"
	"winnow/filters/noiserate"
	"winnow/head"
)

// Options are the settings of [Run]. The zero value asks the default judge about the vectors as given, and calls labels
// wrong that are likely wrong.
type Options struct {
	Scorer  string   // a name of [Scorers]; "": [judges.Default]
	Classes int      // labels are 0 … Classes-1, or negative for none; 0: one more than the largest
	Whiten  bool     // judge whitened vectors, for features as stored; crossfit always whitens, in combined too
	Rate    *float64 // share of the labels to call wrong, 0 ≤ Rate < 1; nil: those that are likely wrong

	Seed     uint64 // of the folds and of the resampling behind the estimate's interval
	MaxMem   int64  // bytes of similarities held at once; 0: [eval.DefaultMaxMem]
	JustRank bool   // find nothing but suspects; needs Rate or Given.Wrong

	Filter *filters.Config // settings of a filter's scorer; nil: the defaults
}

// Auditor is what an audit has besides a set and its settings; all of it is optional.
type Auditor struct {
	Given *Given // judges in place of the scorer
	// Findings has the same rows as the set. Noise rate, classes, outliers and copies are found in it, whitened.
	Findings  features.Source
	Whitening *head.Head // of the set, as [head.SelfWhitening] finds it; nil: it is computed

	// Same reports for pairs of rows whether their pictures are the same, one perhaps scaled, cropped a little,
	// mirrored or saved again. nil: copies are found by their vectors alone.
	Same func(context.Context, []Pair) ([]bool, error)
	// Hashes, with Same, are those of the pictures of all rows, as they are and mirrored: vectors of small pictures
	// change much if these are saved again. nil: vectors alone decide which pictures are compared.
	Hashes [][2]findings.Hash
	// Tune fine-tunes a network for a fold of crossfit and combined; nil: none.
	Tune func(context.Context, *crossfit.Lesson) (crossfit.Tuned, error)
	// Told follows the steps of crossfit and combined.
	Told func(done, total int, where string)
}

// job is one audit.
type job struct {
	Options
	Auditor
	copies copies
}

// Run judges the labels of set, with a zero [Auditor].
func Run(ctx context.Context, set features.Set, o Options) (Result, error) {
	return Auditor{}.Run(ctx, set, o)
}

// Run judges the labels of set. Rows that are not of unit length are scaled to it in a copy. Time is the scorer's:
// O(n·(C+d)·d) for crossfit and for the judges that are ours; everything else takes as much again. Whitened
// vectors are stored where [features.Spill] puts them.
func (a Auditor) Run(ctx context.Context, set features.Set, options Options) (Result, error) {
	o := job{Options: options, Auditor: a}
	if err := o.fillOptions(set); err != nil {
		return Result{}, err
	}
	r := Result{Scorer: o.Scorer, labels: set.Labels}
	rows, g := listLabelled(set.Labels), o.Given
	if g != nil {
		r.Scorer = g.Name
	}
	if g != nil && set.Dim() == 0 {
		r.NoFindings = errNoVectors
		r.listSuspects(rows, judgement{Opinion: g.selectOpinion(rows)}, o)
		if g.Doubt > 0 {
			wrong := 0
			for _, s := range r.Suspects {
				if g.Wrong[s.Row] {
					wrong++
				}
			}
			rate := float64(wrong) / float64(len(rows))
			r.Noise = &noiserate.Estimate{Method: g.Name, Rate: rate, Judged: len(rows),
				High: math.Min(math.Max(g.Doubt, rate), noiserate.Most)}
		}
		return r, nil
	}
	z, start, free, err := judgedVectors(ctx, set, o.Whiten, o.Whitening)
	if err != nil {
		return Result{}, err
	}
	defer func() { free() }()
	var fit []float64
	if !o.JustRank && o.Findings == nil {
		if o.Whiten {
			if o.copies, err = o.findCopies(ctx, z, rows); err != nil {
				return Result{}, err
			}
			o.copies.setVoices(z.Labels, o.Classes)
		}
		if fit, err = o.computeFits(ctx, set, rows); err != nil {
			return Result{}, err
		}
	}
	if !Named(o.Scorer).Trains {
		set.X = blas32.General{} // free it if the caller does not keep it
	}
	verdict := judges.Verdict{Opinion: judges.Undecided(z.Labels)}
	lone := o.copies.countPairs(z.Labels) == 1
	if g == nil && !lone {
		if verdict, err = runScorer(ctx, z, set, start, o); err != nil {
			return Result{}, err
		}
		r.Why, r.Blind = verdict.Why, verdict.Blind
	}
	said, left := judgement{Opinion: verdict.Opinion, uneven: verdict.Uneven, lone: lone}, verdict.Classes
	verdict = judges.Verdict{}
	if g != nil {
		said.Opinion = g.selectOpinion(rows)
	}
	if said.forGiven, said.forSuggested, err = findSupport(ctx, z, said.Suggested, o.copies.of,
		o.MaxMem); err != nil {
		return Result{}, err
	}
	if !o.JustRank {
		if o.Findings != nil { // the scorer's classes are of other vectors
			found := o.Findings
			z, left, o.Findings, said.uneven = features.Set{}, nil, nil, nil
			if err := free(); err != nil {
				return Result{}, err
			}
			if z, _, free, err = judgedVectors(ctx, relabelled{found, set.Labels}, true, nil); err != nil {
				return Result{}, err
			}
			if o.copies, err = o.findCopies(ctx, z, rows); err != nil {
				return Result{}, err
			}
			o.copies.setVoices(z.Labels, o.Classes)
			if fit, err = o.computeFits(ctx, found, rows); err != nil {
				return Result{}, err
			}
		}
		said.fit = fit
		if err := r.findFindings(ctx, z, left, &said, o); err != nil {
			return Result{}, err
		}
	}
	r.listSuspects(rows, said, o)
	return r, nil
}

// errNoVectors is the reason for finding nothing but suspects.
var errNoVectors = errors.New("there are no features of the images")

// fillOptions checks the options and puts in the defaults.
func (o *job) fillOptions(set features.Set) error {
	if len(set.Labels) != set.Len() {
		return fmt.Errorf("audit: %d labels, expected one for each of %d rows", len(set.Labels), set.Len())
	}
	most, n := features.Unlabelled, 0
	for i, y := range set.Labels {
		if y < features.Unlabelled || o.Classes > 0 && y >= o.Classes {
			return fmt.Errorf("audit: row %d: label %d, expected one of %d classes, or %d for none", i, y, o.Classes,
				features.Unlabelled)
		}
		if most = max(most, y); y >= 0 {
			n++
		}
	}
	if n < 2 {
		return fmt.Errorf("audit: %d labelled rows, expected at least 2", n)
	}
	if o.Classes == 0 {
		o.Classes = most + 1
	}
	if o.Rate != nil && !(*o.Rate >= 0 && *o.Rate < 1) {
		return fmt.Errorf("audit: rate %v, expected a share from 0 to below 1", *o.Rate)
	}
	if o.Findings != nil && o.Findings.Len() != set.Len() {
		return fmt.Errorf("audit: findings in %d rows, expected the %d that are judged", o.Findings.Len(), set.Len())
	}
	if g := o.Given; g != nil && !g.fitsLength(set.Len()) {
		return fmt.Errorf("audit: %d scores by %s and %d orders, expected one for each of %d rows",
			len(g.Score), g.Name, len(g.Order), set.Len())
	}
	o.Scorer = Named(o.Scorer).Name
	return nil
}

// computeFits returns how well labelled rows of x fit among all. rows are their positions.
func (o *job) computeFits(ctx context.Context, x features.Source, rows []int) ([]float64, error) {
	var group []int
	if o.copies.of != nil {
		group = slices.Repeat([]int{-1}, x.Len())
		for i, g := range o.copies.of {
			group[rows[i]] = g
		}
	}
	fit, err := findings.Fits(ctx, x, group, o.MaxMem)
	if err != nil {
		return nil, err
	}
	return pickRows(fit, rows), nil
}
