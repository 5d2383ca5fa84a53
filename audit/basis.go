package audit

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/crossfit"
	"winnow/audit/findings"
	"winnow/audit/judges"
	"winnow/features"
	"winnow/filters/leaveout"
	"winnow/filters/noiserate"
	"winnow/head"
	"winnow/train"
)

// Together reports whether to judge rows of some classes all at once by default: up to about a million rows, and a
// billion similarities to classes, which are kept in files. More rows are judged apart, by a [Basis] fitted to
// [Fitted] of them, at a cost of some hundredths of average precision (docs/audit-many-images.md).
func Together(rows, classes int) bool {
	return rows <= 1<<20 && int64(rows)*int64(classes) <= 1<<30
}

// Fitted is the default number of rows that a [Basis] is fitted to.
const Fitted = 100_000

// Basis judges rows of a set in blocks, on one machine or several. It holds the whitening and the class centres by
// sums of all rows, each row left out of its own class, and fits to a sample:
//
//   - centres: what similarities to the centres mean;
//   - crossfit: heads, each trained on the other folds of the sample, whose labels show what similarities mean;
//   - combined: both in one likelihood, weighed by held-out labels. Unlike combined on all rows, it does not learn
//     which classes are mistaken for each other.
//
// A row of the sample is judged by the head of its fold, every other row by one of the heads in turn; none has seen
// it. The exported fields are only for encoding.
type Basis struct {
	Scorer      string
	Whole       *leaveout.Whole
	Calibration noiserate.Calibration
	Company     findings.Company
	Heads       *crossfit.Heads  // nil: centres judge
	Sample      []int            // rows of the sample, rising
	Classes     []findings.Class // in the sample
	Images      []int64          // of each class, in the whole set
	Copies      [][]int          // groups of copies, rows of the whole set, each rising
	Copied      []int            // rows for which a copy counts, rising
	First       []int            // of each of Copied: that copy
}

// Judged is the judgement of a block of rows, with an entry for each. Rows without a label or alone with it are not
// judged: their Said is NaN.
type Judged struct {
	judges.Opinion
	Fit  []float64
	Said noiserate.Said
}

// NewSpace returns the head that whitens the rows of sums, and the classes in its space.
func NewSpace(sums *leaveout.Sums) (*head.Head, *leaveout.Whole, error) {
	mean, covariance := sums.Moments()
	white, err := head.WhiteningOf(mean, covariance, int(sums.Rows), head.Widest)
	if err != nil {
		return nil, nil, err
	}
	params := white.Params()
	whole, err := sums.Turned(params[0].Matrix(), params[1].Data)
	return white, whole, err
}

// Basis fits a basis to sums of all rows and a sample of them, features of unit length whose IDs are rows of the whole
// set, rising. It uses the options of the scorer and of copies, which are looked for among all; nil: they are not.
// Of copies in the sample one counts, and none if their labels contradict each other; in the sums all count.
func (a Auditor) Basis(ctx context.Context, sums *leaveout.Sums, sample features.Set, all findings.Rows,
	o Options) (*Basis, error) {
	b := &Basis{Scorer: Named(o.Scorer).Name, Images: sums.Count}
	if !Named(b.Scorer).Shardable {
		return nil, fmt.Errorf("audit: scorer %q needs all rows at once, expected one of %s", b.Scorer,
			strings.Join(Shardable(), ", "))
	}
	white, whole, err := NewSpace(sums)
	if err != nil {
		return nil, fmt.Errorf("audit: %w", err)
	}
	b.Whole = whole
	if all != nil {
		if err := b.findCopies(ctx, all, white, job{Options: o, Auditor: a}); err != nil {
			return nil, err
		}
		if sample, err = b.withoutCopies(sample, all.Bare().Labels); err != nil {
			return nil, err
		}
	}
	b.Sample = sample.IDs
	compared := whole.Compare(sample.X, sample.Labels)
	if b.Calibration, err = noiserate.Calibrate(ctx, compared); err != nil {
		return nil, err
	}
	if b.Company, _, err = findings.NewCompany(ctx, sample, sample.IDs, nil, o.MaxMem); err != nil {
		return nil, err
	}
	if b.Scorer != judges.Centres {
		heads := crossfit.Options{Folds: o.Folds, Seed: o.Seed, Told: a.Told, Start: white}
		if b.Scorer == judges.Combined {
			heads.Beside = func(ctx context.Context, rows []int) (blas32.General, error) {
				some := sample.Rows(rows)
				out := features.NewMatrix(len(rows), len(whole.Classes))
				return out, whole.Compare(some.X, some.Labels).Each(ctx,
					func(i, _ int, row []float64) { narrowRow(features.Row(out, i), row) })
			}
		}
		if b.Heads, err = crossfit.Learn(ctx, sample, len(sums.Count), heads); err != nil {
			return nil, err
		}
	}
	return b, b.findBasisClasses(ctx, white, sample)
}

// findBasisClasses finds the classes as the sample shows them.
func (b *Basis) findBasisClasses(ctx context.Context, white *head.Head, sample features.Set) error {
	said, err := b.Judge(ctx, sample)
	if err != nil {
		return err
	}
	z := features.Set{Labels: sample.Labels}
	if z.X, err = white.Embed(sample.X); err != nil {
		return err
	}
	shared, err := sharedBy(z, len(b.Images), nil, said.Opinion)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	b.Classes, err = findings.Classes(ctx, shared)
	for i := range b.Classes {
		b.Classes[i].Images = int(b.Images[b.Classes[i].Class])
	}
	return err
}

// narrowRow copies a row of similarities as float32.
func narrowRow(to []float32, row []float64) {
	for k, v := range row {
		to[k] = float32(v)
	}
}

// Judge judges rows of the whole set: features of unit length whose IDs are their positions.
func (b *Basis) Judge(ctx context.Context, set features.Set) (Judged, error) {
	n := set.Len()
	j := Judged{judges.Undecided(set.Labels), nil, noiserate.Said{Given: newUnknowns(n), Ranked: newUnknowns(n)}}
	var err error
	if j.Fit, err = b.Company.Fit(ctx, set, set.IDs, 0); err != nil {
		return j, err
	}
	s := b.Whole.Compare(set.X, set.Labels)
	var beside blas32.General
	if b.Heads != nil && b.Scorer == judges.Combined {
		beside = features.NewMatrix(n, len(s.Classes))
	}
	err = s.Each(ctx, func(at, y int, row []float64) {
		i := s.Rows[at]
		j.Said.Given[i], j.Said.Ranked[i] = b.Calibration.Say(y, row)
		if beside.Data != nil {
			narrowRow(features.Row(beside, i), row)
		}
		if b.Heads == nil {
			j.Order[i] = b.Calibration.Posterior(row, y)
			best := y
			for k, v := range row {
				if v > row[best] {
					best = k
				}
			}
			j.Score[i], j.Suggested[i], j.SuggestedScore[i] = row[y], s.Classes[best], row[best]
		}
	})
	if err != nil || b.Heads == nil {
		return j, err
	}
	folds := make([]int, n)
	for i, row := range set.IDs {
		if at, ok := slices.BinarySearch(b.Copied, row); ok {
			row = b.First[at] // what its copy has learnt is not asked
		}
		if at, ok := slices.BinarySearch(b.Sample, row); ok {
			folds[i] = b.Heads.Of[at]
		} else {
			folds[i] = b.Heads.FoldOf(row)
		}
	}
	var by crossfit.Beside
	if beside.Data != nil {
		by = func(_ context.Context, rows []int) (blas32.General, error) {
			return features.Set{X: beside}.Rows(rows).X, nil
		}
	}
	j.Opinion, err = b.Heads.Judge(ctx, set.X, set.Labels, folds, by)
	return j, err
}

// newUnknowns returns n unknown numbers, NaN.
func newUnknowns(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.NaN()
	}
	return list
}

// Conclude makes the result from the judgements of all rows, block by block in order. labels are those of all rows.
// It finds no nearest images.
func (b *Basis) Conclude(ctx context.Context, labels []int, blocks []Judged, o Options) (Result, error) {
	r := Result{Scorer: b.Scorer, labels: labels, Sampled: len(b.Sample)}
	r.Blind = b.Scorer == judges.Combined && b.Heads.Blind()
	rows := listLabelled(labels)
	given := pickRows(labels, rows)
	var said judgement
	var rated noiserate.Said
	var judged []int // rows that were judged
	from := 0
	for _, j := range blocks {
		for i, score := range j.Score {
			y, suggested, suggestedScore := labels[from+i], j.Suggested[i], j.SuggestedScore[i]
			if y == features.Unlabelled {
				continue
			}
			if !math.IsNaN(j.Said.Given[i]) {
				rated.Given, rated.Ranked = append(rated.Given, j.Said.Given[i]), append(rated.Ranked, j.Said.Ranked[i])
				if judged = append(judged, len(said.Score)); r.Blind {
					score, suggested, suggestedScore = 0.5, y, 0.5
				}
			}
			said.Score, said.Order = append(said.Score, score), append(said.Order, j.Order[i])
			said.Suggested = append(said.Suggested, suggested)
			said.SuggestedScore = append(said.SuggestedScore, suggestedScore)
			said.fit = append(said.fit, j.Fit[i])
		}
		from += len(j.Score)
	}
	if from != len(labels) {
		return r, fmt.Errorf("audit: found %d rows judged, expected %d", from, len(labels))
	}
	e, err := noiserate.FromSaid(
		ctx,
		rated,
		pickRows(given, judged),
		len(b.Images),
		len(b.Whole.Classes),
		noiserate.Auto,
		train.Rand(o.Seed, "noise rate", 0),
	)
	if err != nil {
		return r, err
	}
	r.noteEstimate(&e, b.Classes)
	flips := e.Rate
	switch {
	case r.Blind:
		e.Rate, e.Low, e.High = 0, 0, noiserate.MostOf(len(b.Whole.Classes))
	case b.Scorer == judges.Combined:
		r.replaceEstimate(&e, said.Opinion, given, judged)
	}
	r.widenInterval(&e, flips, nil)
	c := b.groupLabelledCopies(rows, len(labels))
	c.setVoices(given, len(b.Images))
	c.echoOpinions(said.Opinion)
	r.listSuspects(rows, said, job{Options: o, copies: c})
	return r, nil
}
