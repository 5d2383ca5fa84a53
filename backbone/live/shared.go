package live

import "slices"

// shared lets two networks train on the same views of the same images.
type shared struct {
	Inputs
	rows   []int
	loaded [][]float32 // nil: the second network has taken them, or the first has loaded none
}

// Share returns inputs for two networks that train in parallel. The second reuses the data that the first loaded for
// the same rows. If the first did not load them, as in the first step, the second loads them itself. Only the first
// prepares rows ahead.
func Share(from Inputs) (first, second Inputs) {
	s := &shared{Inputs: from}
	return s, secondInputs{s}
}

// Load loads rows for both networks.
func (s *shared) Load(rows []int) (inputs [][]float32, err error) {
	s.rows = append(s.rows[:0], rows...)
	s.loaded, err = s.Inputs.Load(rows)
	return s.loaded, err
}

type secondInputs struct{ of *shared }

func (s secondInputs) Sizes() []int { return s.of.Sizes() }

// Prepare does nothing, because the first network prepares the rows of both.
func (s secondInputs) Prepare([]int) {}

// Load returns the data that the first network has just loaded for the same rows, or loads the rows.
func (s secondInputs) Load(rows []int) ([][]float32, error) {
	if loaded := s.of.loaded; loaded != nil && slices.Equal(s.of.rows, rows) {
		s.of.loaded = nil
		return loaded, nil
	}
	s.of.loaded = nil
	return s.of.Inputs.Load(rows)
}
