package crossfit

import (
	"slices"
	"sync"
)

// Shared keeps the results of heads for [Judge] and [Probabilities] of the same set and options, which train them
// once. The zero value is ready. It holds 8 bytes for each row, class and round.
type Shared struct {
	mu    sync.Mutex
	known bool
	calls []saying
}

type saying struct {
	c   columned
	row int
	w   weighing
	p   []float64
}

// replayCalls has learn call do, or repeats its earlier calls.
func (s *Shared) replayCalls(do said, learn func(said) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known {
		for _, a := range s.calls {
			do(a.c, a.row, a.w, a.p)
		}
		return nil
	}
	s.calls = nil
	err := learn(func(c columned, row int, w weighing, p []float64) {
		w.beta = slices.Clone(w.beta)
		s.calls = append(s.calls, saying{c, row, w, slices.Clone(p)})
		do(c, row, w, p)
	})
	s.known = err == nil
	return err
}
