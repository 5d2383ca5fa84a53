package main

import (
	"cmp"
	"fmt"
	"slices"

	"winnow/datasets"
	"winnow/eval"
	"winnow/filters"
	"winnow/papers/studies"
	"winnow/report"
	"winnow/run"
	"winnow/train"
)

// What a study's chart may follow over the steps of a training.
const (
	traceAccuracy   = "filter-accuracy" // share of right labels among the kept of a batch, smoothed
	traceValidation = "validation"      // what validation measures
	traceScores     = "p-clean"         // P_clean of right and of wrong labels
	traceKappa      = "kappa"           // concentrations of the classes
)

// scoreWindow is how many steps' scores a histogram counts.
const scoreWindow = 50

// recorder watches a training, with the truth, from outside.
type recorder struct {
	outcome *studies.Outcome
	data    *datasets.Dataset
	name    string    // of the trace wanted; "" for none
	at      []float64 // shares of the training after which values are spread out
	steps   []int     // the same in steps
	wanted  bool      // filter is
	filter  *eval.FilterTrace
	kappas  []studies.Spread
}

func (r *reproduction) record(d *datasets.Dataset, o *studies.Outcome) *recorder {
	rec := &recorder{outcome: o, data: d}
	if chart := r.study.Chart; chart != nil {
		rec.name, rec.at = chart.Trace, chart.At
	}
	rec.wanted = slices.Contains([]string{traceAccuracy, traceScores}, rec.name) || slices.Contains(r.study.Measures, measureAccuracy)
	return rec
}

func (r *recorder) begun(plan run.Plan) error {
	for _, share := range r.at {
		r.steps = append(r.steps, max(int(share*float64(plan.Steps)+0.5), 1))
	}
	if r.wanted {
		if n := plan.Config.Correct.Visits; n > 0 {
			return fmt.Errorf("reproduce: correct.visits: found %d beside the filter's accuracy, expected 0: %s", n, correctedUnseen)
		}
		r.filter = eval.NewFilterTrace(r.data, r.steps, scoreWindow)
	}
	return nil
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
		r.outcome.Traces = map[string]studies.Trace{traceValidation: t}
	}
}

func (r *recorder) diagnosed(d train.Diagnosis) {
	if k := d.Kappa; r.name == traceKappa && k != nil {
		r.kappas = append(r.kappas, studies.Spread{Step: d.Step, Box: []float64{k.Low, k.Q1, k.Median, k.Q3, k.High}})
	}
}

// nearest are the concentrations that were looked at nearest to each of the steps wanted.
func (r *recorder) nearest() {
	for _, step := range r.steps {
		if len(r.kappas) == 0 {
			return
		}
		r.spread(slices.MinFunc(r.kappas, func(a, b studies.Spread) int { return cmp.Compare(away(a.Step, step), away(b.Step, step)) }))
	}
}

func away(a, b int) int { return max(a-b, b-a) }

func (r *recorder) spread(s studies.Spread) {
	if r.outcome.Spreads == nil {
		r.outcome.Spreads = map[string][]studies.Spread{}
	}
	r.outcome.Spreads[r.name] = append(r.outcome.Spreads[r.name], s)
}

// end writes down what the filter did.
func (r *recorder) end() {
	r.nearest()
	if !r.wanted {
		return
	}
	steps, share := r.filter.Accuracy(report.PaperSmoothing)
	if n := len(share); n > 0 {
		r.outcome.Measures[measureAccuracy] = share[n-1]
	}
	switch r.name {
	case traceAccuracy:
		r.outcome.Traces = map[string]studies.Trace{traceAccuracy: thinned(steps, share)}
	case traceScores:
		for _, s := range r.filter.Scores() {
			r.spread(studies.Spread{Step: s.Step, Right: countsOf(s.Right, s.Wrong), Wrong: countsOf(s.Wrong, s.Right)})
		}
	}
}

// tracePoints bounds what is kept of a trace: every so many steps, so that a run has about this many points.
const tracePoints = 400

// thinned keeps the last point of each stretch.
func thinned(x, y []float64) (t studies.Trace) {
	every := max((len(x)+tracePoints-1)/tracePoints, 1)
	for i := range x {
		if (i+1)%every == 0 || i == len(x)-1 {
			t.X, t.Y = append(t.X, x[i]), append(t.Y, y[i])
		}
	}
	return t
}

// countsOf is a histogram in bins as wide as those of the other, so that the two can be drawn over each other.
func countsOf(h, other filters.Histogram) (c studies.Counts) {
	if h.Total() == 0 {
		return c
	}
	if other.Total() > 0 {
		h = h.AtLeast(other.Exponent)
	}
	return studies.Counts{Edges: h.Edges(), N: h.Counts}
}
