package correction

import "fmt"

// State is the memory of a corrector; the lists of each group have equal lengths.
type State struct {
	Vote, Votes []int // of each row

	Rows, To, Steps []int // of each correction, in their order
	Confidence      []float64
}

// State returns a copy of the corrector's memory.
func (r *Corrector) State() State {
	s := State{Vote: append([]int(nil), r.vote...), Votes: append([]int(nil), r.votes...)}
	for _, c := range r.list {
		s.Rows, s.To, s.Steps, s.Confidence = append(s.Rows, c.Row), append(s.To, c.To), append(s.Steps, c.Step),
			append(s.Confidence, c.Confidence)
	}
	return s
}

// SetState makes a new corrector continue from a saved state. A state that cannot come from a corrector of
// these labels is an error and changes nothing.
func (r *Corrector) SetState(s State) error {
	next, err := New(r.config, r.given, len(r.sizes))
	if err != nil {
		return err
	}
	if len(s.Vote) != len(r.given) || len(s.Votes) != len(r.given) {
		return fmt.Errorf("correction: state: votes of %d and %d rows, expected %d", len(s.Vote), len(s.Votes),
			len(r.given))
	}
	if n := len(s.Rows); len(s.To) != n || len(s.Steps) != n || len(s.Confidence) != n {
		return fmt.Errorf("correction: state: corrections of %d rows to %d classes at %d steps with %d confidences, "+
			"expected equal numbers", n, len(s.To), len(s.Steps), len(s.Confidence))
	}
	for i, v := range s.Votes {
		if v < 0 || s.Vote[i] < 0 || s.Vote[i] >= len(r.sizes) {
			return fmt.Errorf("correction: state: row %d has %d votes for class %d, expected one of %d classes", i, v,
				s.Vote[i], len(r.sizes))
		}
	}
	copy(next.vote, s.Vote)
	copy(next.votes, s.Votes)
	for i, row := range s.Rows {
		if row < 0 || row >= len(r.given) || s.To[i] < 0 || s.To[i] >= len(r.sizes) || next.labels[row] < 0 || i > 0 &&
			s.Steps[i] < s.Steps[i-1] || s.Steps[i] < 1 {
			return fmt.Errorf("correction: state: correction %d, of row %d to class %d after step %d, is impossible", i,
				row, s.To[i], s.Steps[i])
		}
		next.applyCorrection(Correction{Row: row, From: next.labels[row], To: s.To[i], Step: s.Steps[i],
			Confidence: s.Confidence[i]})
	}
	*r = *next
	return nil
}
