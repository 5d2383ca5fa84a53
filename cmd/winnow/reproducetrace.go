package main

import (
	"math"
	"slices"

	"winnow/datasets"
	"winnow/eval"
	"winnow/filters"
	"winnow/reproduce"
	"winnow/train"
)

// What a study's chart may follow over the steps of a training.
const (
	traceAccuracy   = "filter-accuracy" // share of right labels among the kept of a batch, smoothed
	traceValidation = "validation"      // what validation measures
	traceScores     = "p-clean"         // P_clean of right and of wrong labels
	traceKappa      = "kappa"           // concentrations of the classes
)

// accuracySmoothing weighs what was before: e_t = 0.7·e_{t-1} + 0.3·x_t (PRISM, Fig. 2).
const accuracySmoothing = 0.7

// scoreWindow is how many steps' scores a histogram counts.
const scoreWindow = 50

// recorder watches a training, with the truth, from outside.
type recorder struct {
	outcome *reproduce.Outcome
	name    string // of the trace wanted; "" for none
	steps   []int
	filter  *eval.FilterTrace
	wanted  bool // filter is
}

func (r *reproduction) record(d *datasets.Dataset, o *reproduce.Outcome) *recorder {
	rec := &recorder{outcome: o}
	if chart := r.study.Chart; chart != nil {
		rec.name, rec.steps = chart.Trace, chart.Steps
	}
	rec.wanted = slices.Contains([]string{traceAccuracy, traceScores}, rec.name) || slices.Contains(r.study.Measures, measureAccuracy)
	if rec.wanted {
		rec.filter = eval.NewFilterTrace(d, rec.steps, scoreWindow)
	}
	return rec
}

// validates says whether the run is to be validated for the trace alone.
func (r *recorder) validates() bool { return r.name == traceValidation }

func (r *recorder) stepped(s train.Step) {
	if r.wanted {
		r.filter.Step(s.Number, s.IDs, s.Kept, s.Scores, s.Judge)
	}
}

func (r *recorder) validated(v train.Validation) {
	if r.validates() {
		t := r.outcome.Traces[traceValidation]
		t.X, t.Y = append(t.X, float64(v.Step)), append(t.Y, v.Score)
		r.outcome.Traces = map[string]reproduce.Trace{traceValidation: t}
	}
}

func (r *recorder) diagnosed(d train.Diagnosis) {
	if r.name == traceKappa && d.Kappa != nil && slices.Contains(r.steps, d.Step) {
		k := d.Kappa
		r.spread(reproduce.Spread{Step: d.Step, Box: []float64{k.Low, k.Q1, k.Median, k.Q3, k.High}})
	}
}

func (r *recorder) spread(s reproduce.Spread) {
	if r.outcome.Spreads == nil {
		r.outcome.Spreads = map[string][]reproduce.Spread{}
	}
	r.outcome.Spreads[r.name] = append(r.outcome.Spreads[r.name], s)
}

// end writes down what the filter did.
func (r *recorder) end() {
	if !r.wanted {
		return
	}
	steps, share := r.filter.Accuracy(accuracySmoothing)
	if n := len(share); n > 0 {
		r.outcome.Measures[measureAccuracy] = share[n-1]
	}
	switch r.name {
	case traceAccuracy:
		r.outcome.Traces = map[string]reproduce.Trace{traceAccuracy: thinned(steps, share)}
	case traceScores:
		for _, s := range r.filter.Scores() {
			r.spread(reproduce.Spread{Step: s.Step, Right: countsOf(s.Right), Wrong: countsOf(s.Wrong)})
		}
	}
}

// tracePoints bounds what is kept of a trace: every so many steps, so that a run has about this many points.
const tracePoints = 400

// thinned keeps the last point of each stretch.
func thinned(x, y []float64) (t reproduce.Trace) {
	every := max((len(x)+tracePoints-1)/tracePoints, 1)
	for i := range x {
		if (i+1)%every == 0 || i == len(x)-1 {
			t.X, t.Y = append(t.X, x[i]), append(t.Y, y[i])
		}
	}
	return t
}

func countsOf(h filters.Histogram) (c reproduce.Counts) {
	if len(h.Counts) == 0 {
		return c
	}
	for i := range len(h.Counts) + 1 {
		c.Edges = append(c.Edges, math.Ldexp(float64(h.First+i), h.Exponent))
	}
	c.N = h.Counts
	return c
}
