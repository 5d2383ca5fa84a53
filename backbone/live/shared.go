package live

import "slices"

// shared lets a second network see the images of the first one in the same views.
type shared struct {
	Inputs
	rows   []int
	loaded [][]float32 // nil: the second network has taken it, or the first has loaded nothing
}

// Share returns inputs for two networks that train in parallel: the second reuses what the first has loaded for the
// same rows, and loads the rows itself if the first has not, as in the first step. Only the first prepares rows ahead.
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

// Prepare does nothing: the first network prepares.
func (s secondInputs) Prepare([]int) {}

// Load returns what the first network has just loaded for the same rows, or loads them.
func (s secondInputs) Load(rows []int) ([][]float32, error) {
	if loaded := s.of.loaded; loaded != nil && slices.Equal(s.of.rows, rows) {
		s.of.loaded = nil
		return loaded, nil
	}
	s.of.loaded = nil
	return s.of.Inputs.Load(rows)
}
