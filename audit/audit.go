// Package audit finds the label errors of a set. It scores every given label without using the image's own vector and
// label, suggests labels that fit better, and estimates how many labels are wrong. It also finds outliers,
// near-duplicates with different labels, pairs of classes that look like one class, and classes that look like two.
//
//	result, err := audit.Run(ctx, set, audit.Options{Whiten: true})
//
// [Run] uses one scorer of the catalog: a judge, which works on the whole set (audit/judges); the scorer of a filter,
// with the set as its memory bank (filters); or heads that the audit trains (audit/crossfit). The labels can also be
// ranked by scores from elsewhere, for example from a training run ([Given]). A [Cut] chooses the suspects to drop or
// relabel. [Result.Name] adds file names to [Result.Suspects], and audit/suspects writes the list to disk.
//
// The package uses given labels only, except that [Result.Measure] compares the result with the true labels. It does no
// input or output and needs no ONNX Runtime; run/inspect opens runs and stores for it. The packages train, filters and
// losses do not import it.
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

// Options are the settings of [Run]. The zero value scores the vectors as given with the default judge, and flags the
// labels that are likely wrong.
type Options struct {
	Scorer  string   // a name in [Scorers]; "": [judges.Default]
	Classes int      // labels are 0 … Classes-1, negative if missing; 0: largest label + 1
	Whiten  bool     // whiten the vectors, for stored features; crossfit (also inside combined) always whitens
	Rate    *float64 // share of the labels to flag, 0 ≤ Rate < 1; nil: flag the labels that are likely wrong

	Seed     uint64 // seed of the folds and of the training of heads
	MaxMem   int64  // bytes of similarities held at once; 0: [eval.DefaultMaxMem]
	JustRank bool   // list suspects only, without findings; needs Rate or Given.Wrong

	Filter *filters.Config // settings of the filter whose scorer is used; nil: the defaults
}

// Auditor holds optional inputs of an audit besides the set and its settings.
type Auditor struct {
	Given *Given // scores that replace the scorer
	// Findings holds other vectors of the same rows. The noise rate, odd classes, outliers and duplicates are computed
	// from them, whitened.
	Findings  features.Source
	Whitening *head.Head // whitening of the set by [head.SelfWhitening]; nil: computed when needed

	// Same reports for each pair of rows whether both show the same image, possibly scaled, slightly cropped, mirrored
	// or re-encoded. If nil, duplicates are found by their vectors only.
	Same func(context.Context, []Pair) ([]bool, error)
	// Hashes, used with Same, holds two perceptual hashes for each row: of the image and of its mirror image. The
	// vectors of small images change much when the images are re-encoded. If nil, the pairs to compare are chosen by
	// vectors only.
	Hashes [][2]findings.Hash
	// Tune fine-tunes a network for one fold of crossfit or combined; nil: no networks.
	Tune func(context.Context, *crossfit.Lesson) (crossfit.Tuned, error)
	// Told receives the progress of crossfit and combined.
	Told func(done, total int, where string)
}

// job is one audit.
type job struct {
	Options
	Auditor
	copies copies
}

// Run audits the labels of set with a zero [Auditor].
func Run(ctx context.Context, set features.Set, o Options) (Result, error) {
	return Auditor{}.Run(ctx, set, o)
}

// Run audits the labels of set. Rows that do not have unit length are normalised in a copy. The scorer takes
// O(n·(C+d)·d) time for crossfit and for winnow's own judges; all other steps together take about as long. Whitened
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
		if o.Findings != nil { // the scorer computed its classes from other vectors
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

// errNoVectors explains why the audit lists suspects without findings.
var errNoVectors = errors.New("there are no features of the images")

// fillOptions checks the options and fills in the defaults.
func (o *job) fillOptions(set features.Set) error {
	if len(set.Labels) != set.Len() {
		return fmt.Errorf("audit: %d labels for %d rows, expected as many labels as rows", len(set.Labels), set.Len())
	}
	most, n := features.Unlabelled, 0
	for i, y := range set.Labels {
		if y < features.Unlabelled || o.Classes > 0 && y >= o.Classes {
			return fmt.Errorf("audit: row %d: label %d, expected less than %d, or %d for no label", i, y, o.Classes,
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
		return fmt.Errorf("audit: vectors for findings have %d rows, expected %d as in the set", o.Findings.Len(),
			set.Len())
	}
	if g := o.Given; g != nil && !g.fitsLength(set.Len()) {
		return fmt.Errorf("audit: %d scores by %s and %d orders for %d rows, expected one of each a row",
			len(g.Score), g.Name, len(g.Order), set.Len())
	}
	o.Scorer = Named(o.Scorer).Name
	return nil
}

// computeFits returns how well each labelled row of x fits the whole set ([findings.Fits]). rows holds the positions of
// the labelled rows.
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
