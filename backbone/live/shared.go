package live

import "slices"

// shared is what a second network is fed that sees the images of a first one, in the same views.
type shared struct {
	Inputs
	rows   []int
	loaded [][]float32 // nil: the second network has had it, or the first has loaded nothing
}

// Share returns inputs for two networks that learn side by side: what the first loads in a step is not made again for the
// second. Where the first rests, and in the first step, the second loads for itself. Only the first prepares.
func Share(from Inputs) (first, second Inputs) {
	s := &shared{Inputs: from}
	return s, secondInputs{s}
}

// Load loads rows, for both.
func (s *shared) Load(rows []int) (inputs [][]float32, err error) {
	s.rows = append(s.rows[:0], rows...)
	s.loaded, err = s.Inputs.Load(rows)
	return s.loaded, err
}

type secondInputs struct{ of *shared }

func (s secondInputs) Sizes() []int { return s.of.Sizes() }

// Prepare does nothing: what is prepared is the first's.
func (s secondInputs) Prepare([]int) {}

// Load returns what the first loaded of the same rows since the last time, or loads them.
func (s secondInputs) Load(rows []int) ([][]float32, error) {
	if loaded := s.of.loaded; loaded != nil && slices.Equal(s.of.rows, rows) {
		s.of.loaded = nil
		return loaded, nil
	}
	s.of.loaded = nil
	return s.of.Inputs.Load(rows)
}
