package train

import (
	"context"
	"fmt"

	"winnow/features"
	"winnow/filters/selfpaced"
	"winnow/internal/tfevents"
	"winnow/losses"
)

// SelfPaced is the weights' half of self-paced metric learning. A run alternates: Every steps on losses that weigh
// their samples, then one round, in which the training set is embedded once and the weights are computed again. The
// first steps weigh every sample 1, and the last step, early or not, is followed by a round whatever Every says, so that
// the weights in the end are those of the embedding in the end.
//
// All terms whose loss is [losses.Weighted] get the weights, by the IDs of the batch and of the memory bank. A sample
// of weight 0 stays in the sampler's pool: it may come back as the bar λ rises.
// Source: BSPML (002), algorithm 1. METHODS 8.4.
type SelfPaced struct {
	Weights *selfpaced.Weights
	Every   int    // steps
	Seed    uint64 // of the rounds' draws

	// Embed gives the rows that Weights was made with, in their order, as the encoder's weights map them now.
	Embed func(context.Context) (features.Set, error)
}

// Weighing is a round of a run that is [SelfPaced].
type Weighing struct {
	Epoch, Step int
	selfpaced.Round
}

// check is part of the trainer's.
func (s *SelfPaced) check(terms []Term) error {
	if s.Every < 1 {
		return fmt.Errorf("train: self-paced weights every %d steps, expected at least 1", s.Every)
	}
	for _, term := range terms {
		if _, ok := term.Loss.(losses.Weighted); ok {
			return nil
		}
	}
	return fmt.Errorf("train: self-paced weights without a loss that weighs its samples, expected one")
}

// spread gives the losses the weights as they are.
func (t *Trainer) spread() {
	t.weights = t.SelfPaced.Weights.ByID(t.weights)
	for _, term := range t.Terms {
		if l, ok := term.Loss.(losses.Weighted); ok {
			l.SetWeights(t.weights)
		}
	}
}

// roundDue is true after every Every steps and in the end, which lost patience may bring, until the round is done.
func (t *Trainer) roundDue() bool {
	s, p := t.SelfPaced, t.progress
	return s != nil && p.Weighed < p.Step && (p.Step%s.Every == 0 || p.Step == t.Steps || t.lostPatience())
}

// round finds new weights for the present state.
func (t *Trainer) round(ctx context.Context, j journal) error {
	s, p := t.SelfPaced, &t.progress
	z, err := s.Embed(ctx)
	if err != nil {
		return fmt.Errorf("train: weights after step %d: %w", p.Step, err)
	}
	r, err := s.Weights.Update(z, Rand(s.Seed, "selfpaced", s.Weights.State().Rounds+1))
	if err != nil {
		return fmt.Errorf("train: weights after step %d: %w", p.Step, err)
	}
	t.spread()
	p.Weighed = p.Step
	w := Weighing{Epoch: t.epochOf(p.Step), Step: p.Step, Round: r}
	if t.Weighed != nil {
		t.Weighed(w)
	}
	return j.weighed(w)
}

// weighed writes one round.
func (m *metrics) weighed(w Weighing) error {
	r := w.Round
	return m.put(Metric{Step: w.Step, Epoch: w.Epoch, Weights: &r}, []tfevents.Scalar{
		scalar("selfpaced/lambda", r.Lambda), scalar("selfpaced/maw", r.Mean), scalar("selfpaced/sdaw", r.Deviation),
		scalar("selfpaced/objective_before", r.Before), scalar("selfpaced/objective", r.Objective),
		scalar("selfpaced/excluded", float64(r.Excluded)), scalar("selfpaced/full", float64(r.Full)),
	})
}
