package audit

import "fmt"

// Cut says which images are to be cleaned; the zero value means those called wrong.
type Cut struct {
	By By
	At float64
}

// By is a way to cut a list of suspects.
type By int

// The ways. Share takes the most suspect share At, Below those with a score below At, Precision as many of the most
// suspect as keep the expected share of wrong labels among them at At: the mean of 1 - score, where scores are
// probabilities.
const (
	Called By = iota
	Share
	Below
	Precision
)

// Dropped as the new label of a [Change] leaves the row out.
const Dropped = -1

// Change is what becomes of a row that a cut takes.
type Change struct {
	Row   int
	Label int // the new one, or Dropped
}

// Changes lists what the images that a cut takes become, most suspect first: dropped, or given the label suggested. One
// whose given label nothing beats keeps it.
func (r *Result) Changes(cut Cut, relabel bool) ([]Change, error) {
	taken, err := r.take(cut)
	if err != nil {
		return nil, err
	}
	var list []Change
	for i, s := range r.Suspects {
		switch {
		case !taken(i, s):
		case !relabel:
			list = append(list, Change{s.Row, Dropped})
		case s.Suggested != s.Given:
			list = append(list, Change{s.Row, s.Suggested})
		}
	}
	return list, nil
}

// take returns whether a cut takes the suspect at a place of the list.
func (r *Result) take(cut Cut) (func(i int, s Suspect) bool, error) {
	most := 0 // of the most suspect
	switch cut.By {
	case Called:
		return func(_ int, s Suspect) bool { return s.Wrong }, nil
	case Below:
		return func(_ int, s Suspect) bool { return s.Score < cut.At }, nil
	case Share:
		most = int(cut.At * float64(len(r.Suspects)))
	case Precision:
		if !Probability(r.Scorer) {
			return nil, fmt.Errorf("audit: precision: scores of %s are no probabilities, expected another cut or scorer", r.Scorer)
		}
		wrong := 0.0
		for i, s := range r.Suspects {
			if wrong += 1 - s.Score; wrong >= cut.At*float64(i+1) {
				most = i + 1
			}
		}
	}
	return func(i int, _ Suspect) bool { return i < most }, nil
}
