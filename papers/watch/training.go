package watch

import (
	"fmt"

	"winnow/datasets"
	"winnow/run"
	"winnow/train"
)

// Corrected says why no training that corrects labels is compared with the truth.
const Corrected = "what is compared with the truth are the labels as given, and not corrected ones"

// Training is what one training showed to those who look on.
type Training struct {
	Filter      *Filter         // nil where the filter is not compared with the truth
	Threshold   map[int]float64 // of the filter by step, where it had one
	Diagnoses   []train.Diagnosis
	Validations []train.Validation
	Steps       int // of the whole training
}

// When says of a training that begins around which steps scores are counted, and over how many steps up to each.
type When func(run.Plan) (at []int, window int)

// Follow lets the observers of o see a training. d holds the true labels that the filter is compared with; nil: it is not.
func Follow(o *run.Options, d *datasets.Dataset, when When) *Training {
	t := &Training{Threshold: map[int]float64{}}
	begun, stepped, validated, diagnosed := o.Begun, o.Stepped, o.Validated, o.Diagnosed
	o.Begun = func(plan run.Plan) error {
		if n := plan.Config.Correct.Visits; n > 0 && d != nil {
			return fmt.Errorf("papers: correct.visits: found %d beside the filter's accuracy, expected 0: %s", n, Corrected)
		}
		t.Steps = plan.Steps
		at, window := when(plan)
		if d != nil {
			t.Filter = NewFilter(d, at, window)
		}
		if begun != nil {
			return begun(plan)
		}
		return nil
	}
	o.Stepped = func(s train.Step) {
		if t.Filter != nil {
			t.Filter.Step(s.Number, s.IDs, s.Kept, s.Scores, s.Judge)
		}
		if s.HasThreshold {
			t.Threshold[s.Number] = s.Threshold
		}
		if stepped != nil {
			stepped(s)
		}
	}
	o.Validated = func(v train.Validation) {
		t.Validations = append(t.Validations, v)
		if validated != nil {
			validated(v)
		}
	}
	o.Diagnosed = func(d train.Diagnosis) {
		t.Diagnoses = append(t.Diagnoses, d)
		if diagnosed != nil {
			diagnosed(d)
		}
	}
	return t
}
