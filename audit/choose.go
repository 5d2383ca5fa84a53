package audit

import (
	"fmt"

	"winnow/audit/suspects"
)

// Cut selects the images to clean. The zero value selects those whose labels are flagged.
type Cut struct {
	By By
	At float64
}

// By is a way to cut a list of suspects.
type By int

// The ways to cut. Called takes the flagged labels. Share takes the most suspect labels, a share Cut.At of all labels.
// Precision takes as many suspects as possible while the expected share of wrong labels among them is at least Cut.At.
// This share is the mean of 1 - score, so scores must be probabilities.
const (
	Called By = iota
	Share
	Precision
)

// Take returns the suspects that a cut selects, most suspect first.
func (r *Result) Take(cut Cut) ([]suspects.Suspect, error) {
	switch cut.By {
	case Share:
		return r.Suspects[:int(cut.At*float64(len(r.Suspects)))], nil
	case Precision:
		if !Named(r.Scorer).Probability {
			return nil, fmt.Errorf("audit: precision: scores of %s are not probabilities, expected another cut or "+
				"scorer", r.Scorer)
		}
		most, wrong := 0, 0.0
		for i, s := range r.Suspects {
			if wrong += 1 - s.Score; wrong >= cut.At*float64(i+1) {
				most = i + 1
			}
		}
		return r.Suspects[:most], nil
	}
	var list []suspects.Suspect
	for _, s := range r.Suspects {
		if s.Flagged {
			list = append(list, s)
		}
	}
	return list, nil
}
