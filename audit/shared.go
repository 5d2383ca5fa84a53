package audit

import (
	"context"
	"sync"

	"winnow/audit/crossfit"
	"winnow/audit/judges"
	"winnow/features"
	"winnow/head"
)

// Shared holds results that several scorers of one set need and the first of them computes: the whitening, the
// probabilities of the probe, nearest images, and the probabilities of heads. Another set, other labels or other
// options need another Shared. The zero value is ready; audits may use it concurrently.
type Shared struct {
	judges judges.Shared
	heads  crossfit.Shared

	alone bool // for a single audit: results of heads are not kept

	mu    sync.Mutex
	white *head.Head // nil: not computed yet
}

// Whitened returns a Shared for a single audit with a known whitening, of [head.SelfWhitening] to [head.Widest].
func Whitened(white *head.Head) *Shared { return &Shared{alone: true, white: white} }

// computeWhitening returns the whitening of the set.
func (s *Shared) computeWhitening(ctx context.Context, set features.Source) (*head.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.white != nil {
		return s.white, nil
	}
	white, err := head.SelfWhitening(ctx, set, head.Widest)
	s.white = white
	return white, err
}
