package runner

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"winnow/datasets"
	"winnow/filters"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/train"
)

// Values that a study's chart can show over the steps of a training. If a chart shows one of the first three, all three
// are recorded, because the studies of PRISM's Figures 2 and 3 share their trainings.
const (
	accuracy   = "filter-accuracy" // smoothed share of right labels among the kept rows of a batch
	scores     = "p-clean"         // P_clean of right and of wrong labels
	kappa      = "kappa"           // concentrations of the classes
	validation = "validation"      // validation scores
)

// late is the suffix of the names of totals over the second half of a training's steps.
const late = "-late"

// isFilterMeasure reports whether a measure compares the rows that a filter kept with the true labels.
func isFilterMeasure(name string) bool {
	return name == filterAccuracy || slices.Contains(Totals, strings.TrimSuffix(name, late))
}

// watchesFilter reports whether the study's chart shows a filter's decisions, so that they are recorded.
func (r *reproduction) watchesFilter() bool {
	return r.Study.Chart != nil && slices.Contains([]string{accuracy, scores, kappa}, r.Study.Chart.Trace)
}

// followsValidation reports whether the study's chart shows validation scores.
func (r *reproduction) followsValidation() bool {
	return r.Study.Chart != nil && r.Study.Chart.Trace == validation
}

// scoreWindow is the number of steps whose scores a histogram counts.
const scoreWindow = 50

// recorder records the values of a training that the study's chart and measures need.
type recorder struct {
	trace  string // the chart's trace; "": no trace
	whole  bool   // record all of the filter's decisions
	steps  int
	filter *Filter // nil: the filter is not compared with the true labels
	seen   seen
}

// seen holds the values that a recorder has recorded so far.
type seen struct {
	Step        int
	Time        time.Duration // of earlier parts of the training
	Filter      State
	Thresholds  map[int]float64
	Diagnoses   []train.Diagnosis
	Validations studies.Trace
	Weighing    *train.Weighing // the last round of weights
}

// newRecorder returns the recorder of a training; d has its true labels.
func (r *reproduction) newRecorder(plan run.Plan, d *datasets.Dataset) (*recorder, error) {
	rec := &recorder{whole: r.watchesFilter(), seen: seen{Thresholds: map[int]float64{}}, steps: plan.Steps}
	var shares []float64 // of the training
	if c := r.Study.Chart; c != nil {
		rec.trace, shares = c.Trace, c.At
	}
	compares := rec.whole || slices.ContainsFunc(r.Study.Measures, isFilterMeasure)
	if !compares {
		return rec, nil
	}
	var at []int
	for _, share := range shares {
		at = append(at, max(int(share*float64(plan.Steps)+0.5), 1))
	}
	rec.filter = NewFilter(d, at, scoreWindow)
	return rec, nil
}

// observeFact records a fact.
func (r *recorder) observeFact(fact any) error {
	switch f := fact.(type) {
	case train.Step:
		r.seen.Step = f.Number
		if r.filter != nil {
			r.filter.Step(f.Number, f.IDs, f.Kept, f.Scores, f.Unjudged, f.Judge)
		}
		if f.HasThreshold {
			r.seen.Thresholds[f.Number] = f.Threshold
		}
	case train.Validation:
		appendPoint(&r.seen.Validations, f.Step, f.Score)
	case train.Weighing:
		r.seen.Weighing = &f
	case train.Diagnosis:
		if n := len(r.seen.Diagnoses); n > 0 && r.seen.Diagnoses[n-1].Step == f.Step { // a resumed run repeats it
			r.seen.Diagnoses = r.seen.Diagnoses[:n-1]
		}
		r.seen.Diagnoses = append(r.seen.Diagnoses, f)
	}
	return nil
}

// writeRecorded writes the recorded values into the outcome.
func (r *recorder) writeRecorded(o *studies.Outcome) {
	if r.trace == validation {
		o.Traces = map[string]studies.Trace{validation: r.seen.Validations}
	}
	if r.filter == nil {
		return
	}
	steps, share := r.filter.Accuracy(PaperSmoothing)
	if n := len(share); n > 0 {
		o.Measures[filterAccuracy] = share[n-1]
	}
	maps.Copy(o.Measures, r.filter.Total(0))
	for name, v := range r.filter.Total(r.steps / 2) {
		o.Measures[name+late] = v
	}
	if r.whole {
		o.Traces = map[string]studies.Trace{accuracy: {X: steps, Y: share}}
		r.recordSpread(o)
	}
}

// Measures of sample weights (BSPML, equation 14): the mean over the classes of each class's mean weight, and the
// standard deviation of these means.
const (
	maw  = "maw"
	sdaw = "sdaw"
)

// writeWeights writes the final weights of samples into the outcome.
func (r *recorder) writeWeights(o *studies.Outcome) {
	if w := r.seen.Weighing; w != nil {
		o.Measures[maw], o.Measures[sdaw] = w.Mean, w.Deviation
	}
}

// kappaGrowth is the classes' median concentration after the last diagnosis, divided by that after the first.
const kappaGrowth = "kappa-growth"

// recordSpread writes two kinds of distributions into the outcome: the scores around the chart's steps, and the
// concentrations after every step with a diagnosis.
func (r *recorder) recordSpread(o *studies.Outcome) {
	for _, s := range r.filter.Scores() {
		note := studies.Spread{
			Step: s.Step, From: s.From, Judge: s.Judge,
			Right: convertHistogram(s.Right, s.Wrong), Wrong: convertHistogram(s.Wrong, s.Right), Unknown: s.Unknown,
		}
		if v, ok := r.seen.Thresholds[s.Step]; ok {
			note.Threshold = &v
		}
		o.Spread(scores, note)
	}
	first := 0.0
	for _, d := range r.seen.Diagnoses {
		if k := d.Kappa; k != nil {
			first = cmp.Or(first, k.Median)
			o.Measures[kappaGrowth] = k.Median / first
			o.Spread(kappa, studies.Spread{Step: d.Step, Box: []float64{k.Low, k.Q1, k.Median, k.Q3, k.High}})
		}
	}
}

// convertHistogram returns h with the same bin width as other, so that both can be drawn in one chart.
func convertHistogram(h, other filters.Histogram) (c studies.Counts) {
	if h.Total() == 0 {
		return c
	}
	if other.Total() > 0 {
		h = h.AtLeast(other.Exponent)
	}
	return studies.Counts{Edges: h.Edges(), N: h.Counts}
}
