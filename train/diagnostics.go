package train

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"winnow/filters"
	"winnow/internal/spread"
)

// DiagnosticsFile is the name of the filter diagnostics in a run's folder.
const DiagnosticsFile = "diagnostics.jsonl"

// Diagnosis describes what a filter did since the previous diagnosis, and its state: one line of
// diagnostics.jsonl. Like the metrics it depends neither on the clock nor on the machine.
type Diagnosis struct {
	Step   int          `json:"step"`
	Epoch  int          `json:"epoch"`
	Bank   int          `json:"bank"` // members after the step
	Judged []judged     `json:"judged"`
	Kappa  *KappaSpread `json:"kappa,omitempty"` // for vMF-Sim, once a class has enough members in the bank
}

// judged summarises the work of one scorer since the previous diagnosis. A diagnosis has two of them if the filter
// switched from AvgSim to vMF-Sim in between.
type judged struct {
	Judge     string  `json:"judge"` // name in the catalog of filters
	Steps     int     `json:"steps"`
	Rows      int     `json:"rows"`
	Kept      int     `json:"kept"`
	KeptShare float64 `json:"kept_share"`
	// rows that could not be scored, for example because the bank lacked their class; not in Scores
	NothingKnown int               `json:"nothing_known"`
	Scores       filters.Histogram `json:"scores"`
	Threshold    *Thresholds       `json:"threshold,omitempty"` // over the steps with a threshold
}

// Thresholds summarises the filter's thresholds over several steps.
type Thresholds struct {
	Last  float64 `json:"last"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// KappaSpread summarises the concentrations of the classes, and lists them if there are few classes.
type KappaSpread struct {
	spread.Spread
	Classes   []int     `json:"classes,omitempty"` // numbers of the training's classes
	Members   []int     `json:"members,omitempty"` // for each of Classes, its number of members in the bank
	Values    []float64 `json:"values,omitempty"`
	Quantiles []float64 `json:"quantiles,omitempty"` // replace these lists if classes are many: at 0, 0.01, … 1
}

// maxListed is the largest number of classes whose concentrations are listed; for more, quantiles are given.
const maxListed = 1000

// spreadOf summarises concentrations; it returns nil if there are none.
func spreadOf(kappas []filters.ClassKappa) *KappaSpread {
	if len(kappas) == 0 {
		return nil
	}
	s, values := new(KappaSpread), make([]float64, len(kappas))
	for i, k := range kappas {
		values[i] = k.Kappa
	}
	s.Spread = spread.New(values)
	if len(kappas) <= maxListed {
		s.Values = values
		for _, k := range kappas {
			s.Classes, s.Members = append(s.Classes, k.Class), append(s.Members, k.Members)
		}
		return s
	}
	slices.Sort(values)
	for p := range 101 {
		s.Quantiles = append(s.Quantiles, spread.Quantile(values, float64(p)/100))
	}
	return s
}

// diagnosesFilter reports whether the run diagnoses its filter.
func (t *Trainer) diagnosesFilter() bool {
	return t.Filter != nil && t.DiagnoseEvery > 0 && (t.Dir != "" || t.Observe != nil)
}

// diagnosesAfter reports whether a diagnosis is due after a step of a run that does not stop early.
func (t *Trainer) diagnosesAfter(step int) bool { return step%t.DiagnoseEvery == 0 || step == t.Steps }

// noteStep adds the current step's scores and thresholds to the next diagnosis.
func (t *Trainer) noteStep(s *Step) {
	if !t.diagnosesFilter() {
		return
	}
	n := len(t.judged)
	if n == 0 || t.judged[n-1].Judge != s.Judge {
		t.judged = append(t.judged, judged{Judge: s.Judge})
		n++
	}
	j := &t.judged[n-1]
	j.Steps, j.Rows, j.Kept = j.Steps+1, j.Rows+len(s.Scores), j.Kept+len(s.Kept)
	for i, v := range s.Scores {
		if s.Unjudged[i] {
			j.NothingKnown++
		} else {
			j.Scores.Add(v)
		}
	}
	if !s.HasThreshold {
		return
	}
	if j.Threshold == nil {
		j.Threshold = &Thresholds{Least: s.Threshold, Most: s.Threshold}
	}
	r := j.Threshold
	r.Last, r.Least, r.Most = s.Threshold, math.Min(r.Least, s.Threshold), math.Max(r.Most, s.Threshold)
}

// writeDiagnosis writes a diagnosis if one is due: after every DiagnoseEvery steps and at the end of the run, even if
// the run stopped early.
func (t *Trainer) writeDiagnosis() error {
	step := t.progress.Step
	if !t.diagnosesFilter() || len(t.judged) == 0 || !t.diagnosesAfter(step) && !t.lostPatience() {
		return nil
	}
	d := Diagnosis{Step: step, Epoch: t.epochOf(step), Judged: t.judged}
	if t.Bank != nil {
		d.Bank = t.Bank.Len()
	}
	for i := range d.Judged {
		j := &d.Judged[i]
		j.KeptShare = float64(j.Kept) / float64(max(j.Rows, 1))
	}
	t.kappas = t.Filter.Kappas(t.kappas, t.Bank)
	d.Kappa = spreadOf(t.kappas)
	t.judged = nil
	return t.reportFact(d)
}

// openDiagnostics opens diagnostics.jsonl for appending.
func (t *Trainer) openDiagnostics() (*lineFile, error) {
	last := t.progress.Step
	if len(t.judged) > 0 {
		last-- // the last step's diagnosis is not written yet
	}
	return openLines(t.Dir, DiagnosticsFile, func(line []byte) (bool, error) {
		var d Diagnosis
		if err := json.Unmarshal(line, &d); err != nil {
			return false, fmt.Errorf("not a line of diagnostics: %w", err)
		}
		return d.Step <= last, nil
	})
}
