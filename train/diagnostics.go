package train

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"winnow/features"
	"winnow/filters"
	"winnow/internal/spread"
)

// DiagnosticsFile is the name, in a run's folder, of what its filter saw of itself.
const DiagnosticsFile = "diagnostics.jsonl"

// Diagnosis is what a filter did since the diagnosis before, and what it knows: a line of diagnostics.jsonl. Like
// the metrics it depends on neither clock nor machine.
type Diagnosis struct {
	Step   int          `json:"step"`
	Epoch  int          `json:"epoch"`
	Bank   int          `json:"bank"` // members after the step
	Judged []Judged     `json:"judged"`
	Kappa  *KappaSpread `json:"kappa,omitempty"` // of a filter by vMF-Sim in whose bank a class has enough members
	Drift  *Drift       `json:"drift,omitempty"` // of the step's batch; nil where the bank held none of its images
}

// Drift is how far images have moved since the bank remembered them: what it says of them is as old.
type Drift struct {
	Images int     `json:"images"` // of the batch whose image the bank held
	Cosine float64 `json:"cosine"` // mean, of an image's vector to its newest one in the bank
	Behind float64 `json:"behind"` // mean number of members that have come since
}

// drifted compares a batch with the bank before it.
func drifted(z features.Set, bank *features.Bank) *Drift {
	if z.IDs == nil || bank == nil {
		return nil
	}
	var d Drift
	for i, id := range z.IDs {
		if v, behind, ok := bank.Newest(id); ok {
			d.Images, d.Cosine, d.Behind = d.Images+1, d.Cosine+features.Dot(z.Row(i), v), d.Behind+float64(behind)
		}
	}
	if d.Images == 0 {
		return nil
	}
	d.Cosine, d.Behind = d.Cosine/float64(d.Images), d.Behind/float64(d.Images)
	return &d
}

// Judged is what one scorer did since the diagnosis before. There are two where vMF-Sim took over from AvgSim.
type Judged struct {
	Judge        string            `json:"judge"` // as the catalog of filters names it
	Steps        int               `json:"steps"`
	Rows         int               `json:"rows"`
	Kept         int               `json:"kept"`
	KeptShare    float64           `json:"kept_share"`
	NothingKnown int               `json:"nothing_known"` // rows of whose label nothing was known, not among the scores
	Scores       filters.Histogram `json:"scores"`
	Threshold    *Thresholds       `json:"threshold,omitempty"` // of the steps that had one
}

// Thresholds are those of several steps.
type Thresholds struct {
	Last  float64 `json:"last"`
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
}

// KappaSpread is how the concentrations of the classes are spread, and each of them where there are few classes.
type KappaSpread struct {
	spread.Spread
	Classes   []int     `json:"classes,omitempty"` // numbers of the training's classes
	Members   []int     `json:"members,omitempty"` // of each in the bank
	Values    []float64 `json:"values,omitempty"`
	Quantiles []float64 `json:"quantiles,omitempty"` // instead of these: at 0, 0.01, … 1
}

// maxListed is the number of classes above which their concentrations are told as quantiles.
const maxListed = 1000

// SpreadOf summarises concentrations; nil of none.
func SpreadOf(kappas []filters.ClassKappa) *KappaSpread {
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

// diagnoses reports whether the run looks into its filter.
func (t *Trainer) diagnoses() bool {
	return t.Filter != nil && t.DiagnoseEvery > 0 && (t.Dir != "" || t.Diagnosed != nil)
}

// diagnosesAfter reports whether a diagnosis is due after a step, patience aside.
func (t *Trainer) diagnosesAfter(step int) bool { return step%t.DiagnoseEvery == 0 || step == t.Steps }

// note adds a step to what the next diagnosis tells.
func (t *Trainer) note(s *Step) {
	if !t.diagnoses() {
		return
	}
	n := len(t.judged)
	if n == 0 || t.judged[n-1].Judge != s.Judge {
		t.judged = append(t.judged, Judged{Judge: s.Judge})
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

// diagnose tells what was noted, where it is time to: after every DiagnoseEvery steps, and in the end, which lost
// patience may bring.
func (t *Trainer) diagnose(j journal) error {
	step := t.progress.Step
	if !t.diagnoses() || len(t.judged) == 0 || !t.diagnosesAfter(step) && !t.lostPatience() {
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
	d.Kappa = SpreadOf(t.kappas)
	d.Drift, t.drift, t.judged = t.drift, nil, nil
	if t.Diagnosed != nil {
		t.Diagnosed(d)
	}
	return j.diagnosed(d)
}

// openDiagnostics goes on with diagnostics.jsonl.
func (t *Trainer) openDiagnostics() (*lineFile, error) {
	last := t.progress.Step
	if len(t.judged) > 0 {
		last-- // the last step's diagnosis is still to come
	}
	return openLines(t.Dir, DiagnosticsFile, func(line []byte) (bool, error) {
		var d Diagnosis
		if err := json.Unmarshal(line, &d); err != nil {
			return false, fmt.Errorf("not a line of diagnostics: %w", err)
		}
		return d.Step <= last, nil
	})
}

// ReadDiagnostics reads the diagnostics of the run in dir; none where it has no filter or did not look into it. A
// torn last line, of a run that was killed, is left out.
func ReadDiagnostics(dir string) ([]Diagnosis, error) {
	return readLines[Diagnosis](dir, DiagnosticsFile, "diagnostics")
}
