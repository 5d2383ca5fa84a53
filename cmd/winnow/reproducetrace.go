package main

import (
	"slices"

	"winnow/datasets"
	"winnow/reproduce"
	"winnow/train"
)

// What a study's chart may follow over the steps of a training.
const (
	traceAccuracy   = "filter-accuracy" // share of right labels among the kept of a batch, smoothed
	traceValidation = "validation"      // P@1 of the validation split
)

// accuracySmoothing weighs what was before: e_t = 0.7·e_{t-1} + 0.3·x_t (PRISM, Fig. 2).
const accuracySmoothing = 0.7

// recorder watches a training, with the truth, from outside.
type recorder struct {
	outcome  *reproduce.Outcome
	data     *datasets.Dataset
	names    []string // of the traces wanted
	accuracy float64
	started  bool
}

func (r *reproduction) record(d *datasets.Dataset, o *reproduce.Outcome) *recorder {
	rec := &recorder{outcome: o, data: d}
	if chart := r.study.Chart; chart != nil && chart.Trace != "" {
		rec.names = append(rec.names, chart.Trace)
	}
	if slices.Contains(r.study.Measures, measureAccuracy) {
		rec.names = append(rec.names, traceAccuracy)
	}
	if len(rec.names) > 0 {
		o.Traces = map[string]reproduce.Trace{}
	}
	return rec
}

// validates says whether the run is to be validated for the trace alone.
func (r *recorder) validates() bool { return slices.Contains(r.names, traceValidation) }

// tracePoints bounds what is kept of a trace: every so many steps, so that a run has about this many points.
const tracePoints = 400

func (r *recorder) stepped(s train.Step) {
	if !slices.Contains(r.names, traceAccuracy) || len(s.Kept) == 0 {
		return
	}
	right := 0
	for _, i := range s.Kept {
		if sample := r.data.Samples[s.IDs[i]]; sample.Label == sample.True {
			right++
		}
	}
	x := float64(right) / float64(len(s.Kept))
	if !r.started {
		r.accuracy, r.started = x, true
	}
	r.accuracy = accuracySmoothing*r.accuracy + (1-accuracySmoothing)*x
	r.add(traceAccuracy, s.Number, r.accuracy)
}

func (r *recorder) validated(v train.Validation) {
	if r.validates() {
		r.add(traceValidation, v.Step, v.Score)
	}
}

func (r *recorder) add(name string, step int, y float64) {
	t := r.outcome.Traces[name]
	t.X, t.Y = append(t.X, float64(step)), append(t.Y, y)
	r.outcome.Traces[name] = t
}

// end thins the traces out and takes the last filter accuracy as a measure.
func (r *recorder) end() {
	if r.started {
		r.outcome.Measures[measureAccuracy] = r.accuracy
	}
	for name, t := range r.outcome.Traces {
		every := (len(t.X) + tracePoints - 1) / tracePoints
		var thin reproduce.Trace
		for i := range t.X {
			if (i+1)%max(every, 1) == 0 || i == len(t.X)-1 {
				thin.X, thin.Y = append(thin.X, t.X[i]), append(thin.Y, t.Y[i])
			}
		}
		r.outcome.Traces[name] = thin
	}
}
