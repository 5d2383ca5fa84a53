// Package audit finds which given labels of a whole set are wrong: it scores every label, each image left out of its own
// judgement, suggests labels that fit better, estimates how many labels are wrong, and finds images that fit no class,
// near copies with different labels, and classes that look like one or like two.
//
//	result, err := audit.Run(ctx, set, audit.Options{Whiten: true})
//
// [Run] asks one scorer of the catalog: a judge of whole sets (audit/judges), the scorer of a filter with the set itself
// as its memory bank (filters), or heads trained on the spot (audit/crossfit). What a training found out about its
// samples ranks them instead where it is given ([Given]). A [Cut] chooses from the result what to drop or relabel, and
// [Result.Entries] are the lines of the list on disk (audit/suspects).
//
// Only given labels are seen. measure.go alone knows the truth, and only after the fact. The package reads and prints
// nothing and needs no ONNX Runtime; run/auditing opens runs and stores for it. It is imported by neither train nor
// filters nor losses.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/crossfit"
	"winnow/audit/findings"
	"winnow/audit/judges"
	"winnow/eval"
	"winnow/features"
	"winnow/filters"
	"winnow/filters/leaveout"
	"winnow/filters/noiserate"
	"winnow/train"
)

// Options are the settings of [Run]; the zero value asks the default judge about the vectors as given and calls as many
// labels wrong as it estimates there to be.
type Options struct {
	Scorer  string   // a name of [Scorers]; "": [judges.Default]
	Classes int      // labels are 0 … Classes-1, or negative for none; 0: one more than the largest
	Whiten  bool     // judge the vectors whitened, which serves features as they were stored; crossfit does so by itself, for combined too
	Rate    *float64 // share of the labels to call wrong, 0 ≤ Rate < 1; nil: as estimated

	Neighbours int     // knn: images that vote, simifeat-v, simifeat-r: the image itself counted; 0: 10
	Folds      int     // self-confidence, margin, confident, crossfit, combined: parts of which one is judged by the others; 0: 5
	Copies     float64 // cosine from which two images are near copies; 0: [findings.CopyBound]
	Seed       uint64  // of the folds and of the resampling behind the estimate's interval
	MaxMem     int64   // bytes of similarities held at once; 0: [eval.DefaultMaxMem]

	Filter   *filters.Config // settings of a filter's scorer; nil: the defaults
	Proxies  *features.Param // that proxysim judges by: the same number for each class, class after class
	Given    *Given          // ranks the labels in place of the scorer, which then only suggests others
	Findings features.Source // vectors in which noise rate, classes, outliers and copies are found, whitened first, row by row those of the set; nil: those that are judged
	JustRank bool            // finds nothing but suspects; needs Rate or Given.Wrong

	Parts  []int                                                           // values of each backbone, where vectors of several stand side by side: crossfit and combined have heads for each; nil: one
	Names  []string                                                        // of the backbones of Parts, for Result.Why; nil: none
	Rounds int                                                             // crossfit, combined: partings into folds, whose mean log probabilities judge; 0: 1
	Tune   func(context.Context, *crossfit.Lesson) (crossfit.Tuned, error) // crossfit, combined: fine-tunes a network for a fold; nil: heads on the vectors are all
	Told   func(done, total, kept int, where string)                       // how many steps the heads or networks of crossfit and combined have done, kept of them by an earlier audit; may be nil
	Shared *Shared                                                         // what scorers asked before found out about the same set with the same options; nil: nothing
}

// Result is the outcome of an audit.
type Result struct {
	Scorer     string
	Why        string    // what the scorer chose for this set, and why; empty: there was nothing to choose
	Blind      bool      // labels left out are foretold no better than by chance: none is called wrong, and nothing is known of the rate
	Suggests   string    // the scorer of the suggested labels, where that is another
	Rate       float64   // share of the labels that is called wrong
	Suspects   []Suspect // all labelled rows, most suspect first, of equal ones the lower row
	Unjudged   int       // suspects alone with their label: nothing is known of them, and their score is 1
	Noise      *noiserate.Estimate
	Classes    []Class // that have two images or more, by their number
	Sampled    int     // rows that was fitted to, of a result by a [Basis]; 0: all are there
	NoFindings error   // why there is neither Noise nor Classes: there is nothing to compare with

	labels []int // of all rows
}

// Suspect is one judged label. Rows are positions in the set.
type Suspect struct {
	Row              int
	Given            int     // its label
	Score            float64 // of the given label; higher: cleaner
	Order            float64 // orders as Score does, without ties where a probability rounds to 0 or 1 (its log odds)
	Suggested        int     // the class that scores best; the given one if none beats it
	SuggestedScore   float64
	Wrong            bool             // called wrong
	Alone            bool             // no other image has its label
	SupportGiven     []eval.Neighbour // nearest images with the given label, nearest first
	SupportSuggested []eval.Neighbour // nearest images with the suggested label; nil where that is the given one
	Fit              float64          // to the class that it fits best, in deviations (findings.Fit); NaN: not known
	Copies           []eval.Neighbour // near copies with another label, nearest first

	suggestedOrder float64
}

// Outlier reports whether the image fits no class.
func (s Suspect) Outlier() bool { return s.Fit < findings.Outlying }

// Class is what is found out about one class.
type Class struct {
	findings.Class
	Purity    float64 // estimated share of right labels
	Low, High float64 // its interval of 95 %
}

// Run judges the labels of set. Rows that are not of unit length are scaled to it in a copy. Time is the scorer's, which
// for those of package judges that are ours and for crossfit is O(n·(C+d)·d), and as much for the rest; whitened vectors are where
// [features.Spill] has them.
func Run(ctx context.Context, set features.Set, o Options) (Result, error) {
	o, err := o.filled(set)
	if err != nil {
		return Result{}, err
	}
	rows := labelled(set.Labels)
	if g := o.Given; set.Dim() == 0 && g != nil && g.Suggested != nil {
		r := Result{Scorer: g.Name, Suspects: g.list(set.Labels), labels: set.Labels, NoFindings: errNoVectors}
		r.finish(rows, o)
		return r, nil
	}
	z, start, free, err := judgedVectors(ctx, set, o.Whiten, o.Shared)
	if err != nil {
		return Result{}, err
	}
	defer func() { free() }()
	if !Trains(o.Scorer) {
		set.X = blas32.General{} // what the caller keeps no more need not stay
	}
	var list []Suspect
	var verdict judges.Verdict
	if g := o.Given; g != nil && g.Suggested != nil {
		list = g.list(set.Labels)
	} else if list, verdict, err = ask(ctx, z, set, start, o); err != nil {
		return Result{}, err
	}
	if err := support(ctx, z, list, o.MaxMem); err != nil {
		return Result{}, err
	}
	r := Result{Scorer: o.Scorer, Why: verdict.Why, Blind: verdict.Blind, Suspects: list, labels: set.Labels}
	left := verdict.Classes
	verdict = judges.Verdict{}
	switch g := o.Given; {
	case g != nil && g.Suggested != nil:
		r.Scorer = g.Name
	case g != nil:
		r.Scorer, r.Suggests = g.Name, o.Scorer
		rejudge(list, rows, g)
	}
	if !o.JustRank {
		if o.Findings != nil { // the classes as the scorer left them are those of other vectors
			found := o.Findings
			z, left, o.Findings = features.Set{}, nil, nil
			if err := free(); err != nil {
				return Result{}, err
			}
			if z, _, free, err = judgedVectors(ctx, relabelled{found, set.Labels}, true, new(Shared)); err != nil {
				return Result{}, err
			}
		}
		if err := r.find(ctx, z, left, o); err != nil {
			return Result{}, err
		}
	}
	r.finish(rows, o)
	return r, nil
}

// errNoVectors says why nothing is found but suspects.
var errNoVectors = errors.New("there are no features of the images")

// finish counts the suspects by the set's rows, sorts them and calls labels wrong.
func (r *Result) finish(rows []int, o Options) {
	r.number(rows)
	if o.Given != nil {
		r.Unjudged = 0 // nothing was asked of other images
	}
	slices.SortStableFunc(r.Suspects, func(a, b Suspect) int { return cmp.Compare(a.Order, b.Order) })
	r.call(o)
}

// filled checks the options and puts the defaults in.
func (o Options) filled(set features.Set) (Options, error) {
	if len(set.Labels) != set.Len() {
		return o, fmt.Errorf("audit: %d labels, expected one for each of %d rows", len(set.Labels), set.Len())
	}
	most, n := features.Unlabelled, 0
	for i, y := range set.Labels {
		if y < features.Unlabelled || o.Classes > 0 && y >= o.Classes {
			return o, fmt.Errorf("audit: row %d: label %d, expected one of %d classes, or %d for none", i, y, o.Classes, features.Unlabelled)
		}
		if most = max(most, y); y >= 0 {
			n++
		}
	}
	if n < 2 {
		return o, fmt.Errorf("audit: %d labelled rows, expected at least 2", n)
	}
	if o.Classes == 0 {
		o.Classes = most + 1
	}
	if o.Rate != nil && !(*o.Rate >= 0 && *o.Rate < 1) {
		return o, fmt.Errorf("audit: rate %v, expected a share from 0 to below 1", *o.Rate)
	}
	if o.Findings != nil && o.Findings.Len() != set.Len() {
		return o, fmt.Errorf("audit: findings in %d rows, expected the %d that are judged", o.Findings.Len(), set.Len())
	}
	if g := o.Given; g != nil && (len(g.Scores) != set.Len() || len(g.Orders) != set.Len() || len(g.Suggested) != len(g.SuggestedScores) || g.Suggested != nil && len(g.Suggested) != set.Len() || g.Wrong != nil && len(g.Wrong) != set.Len()) {
		return o, fmt.Errorf("audit: %d scores by %s and %d orders, expected one for each of %d rows", len(g.Scores), g.Name, len(g.Orders), set.Len())
	}
	o.Scorer = judges.Named(cmp.Or(o.Scorer, judges.Default))
	if o.Shared == nil {
		o.Shared = &Shared{alone: true}
	}
	o.Copies = cmp.Or(o.Copies, findings.CopyBound)
	return o, nil
}

// find estimates the noise rate and looks for odd classes, outliers and copies among z; left are the classes as the scorer
// left them, nil if it left none.
func (r *Result) find(ctx context.Context, z features.Set, left *leaveout.Set, o Options) error {
	judged := left != nil // by these very vectors
	if !judged {
		if left, r.NoFindings = leaveout.New(z, o.Classes); r.NoFindings != nil {
			return nil
		}
	}
	e, err := noiserate.FromSet(ctx, left.Plain(), noiserate.Auto, train.Rand(o.Seed, "noise rate", 0))
	if err != nil {
		return err
	}
	r.Noise = &e
	classes, err := findings.Classes(ctx, left)
	if err != nil {
		return err
	}
	for _, k := range classes {
		r.Classes = append(r.Classes, Class{Class: k, Purity: 1 - e.Classes[k.Class], Low: 1 - e.ClassHigh[k.Class], High: 1 - e.ClassLow[k.Class]})
	}
	switch knows := r.Scorer == judges.Combined || r.Scorer == judges.Fitted; {
	case r.Blind:
		e.Rate, e.Low, e.High = 0, 0, noiserate.MostOf(len(left.Classes))
	case knows && judged:
		r.expect(&e, left.Rows)
	}
	if _, err := filters.Find(r.Scorer); err == nil && Probability(r.Scorer) {
		wrong := make([]float64, len(r.Suspects))
		for i := range wrong {
			wrong[i] = math.NaN()
		}
		for i, v := range e.Wrong {
			wrong[left.Rows[i]] = v
		}
		calibrate(r.Suspects, wrong)
	}
	fit, err := findings.Fit(ctx, left)
	if err != nil {
		return err
	}
	for i, v := range fit {
		r.Suspects[left.Rows[i]].Fit = v
	}
	copies, err := findings.Copies(ctx, z, o.Copies, o.MaxMem)
	for i, list := range copies {
		r.Suspects[i].Copies = list
	}
	return err
}

// number turns rows counted among the labelled ones into positions in the set, and counts who is alone.
func (r *Result) number(rows []int) {
	given := map[int]int{}
	for _, row := range rows {
		given[r.labels[row]]++
	}
	for i := range r.Suspects {
		s := &r.Suspects[i]
		s.Row = rows[s.Row]
		for _, list := range [][]eval.Neighbour{s.SupportGiven, s.SupportSuggested, s.Copies} {
			for j := range list {
				list[j].Row = rows[list[j].Row]
			}
		}
		if s.Alone = given[s.Given] < 2; s.Alone {
			r.Unjudged++
		}
	}
}

// call says which labels are called wrong; the suspects are sorted.
func (r *Result) call(o Options) {
	switch {
	case o.Rate != nil:
		r.Rate = *o.Rate
	case o.Given != nil && o.Given.Wrong != nil:
		wrong := 0
		for _, s := range r.Suspects {
			if s.Wrong {
				wrong++
			}
		}
		r.Rate = float64(wrong) / float64(len(r.Suspects))
		return
	case r.Noise != nil:
		r.Rate = r.Noise.Rate
	}
	for i := range r.Suspects {
		r.Suspects[i].Wrong = i < int(r.Rate*float64(len(r.Suspects)))
	}
}
