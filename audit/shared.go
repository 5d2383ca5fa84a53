package audit

import (
	"context"
	"sync"

	"winnow/audit/crossfit"
	"winnow/audit/judges"
	"winnow/features"
	"winnow/head"
)

// Shared is what several scorers of one set need, found out by the first of them: the whitening, the probe's probabilities, nearest
// images, and what heads trained on the other folds say. Another set, other labels or other options need another. Its zero value is
// ready, and audits that share it may run at the same time.
type Shared struct {
	judges judges.Shared
	heads  crossfit.Shared

	alone bool // nobody else asks: what heads say is not kept

	mu    sync.Mutex
	white *head.Head // nil: not known yet
}

// Whitened returns what a single audit is told of its set: the whitening of [head.SelfWhitening] to [head.Widest].
func Whitened(white *head.Head) *Shared { return &Shared{alone: true, white: white} }

// whitening returns that of the set.
func (s *Shared) whitening(ctx context.Context, set features.Source) (*head.Head, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.white != nil {
		return s.white, nil
	}
	white, err := head.SelfWhitening(ctx, set, head.Widest)
	s.white = white
	return white, err
}
