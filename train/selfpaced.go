package train

import (
	"context"
	"fmt"

	"winnow/features"
	"winnow/filters/selfpaced"
	"winnow/internal/tfevents"
	"winnow/losses"
)

// SelfPaced adds the sample weights of self-paced metric learning to a run. The run alternates between Every steps
// on losses that weight their samples and one round. A round embeds the training set once and recomputes the
// weights. Until the first round every weight is 1. A round also follows the last step, even after early
// stopping, so that the final weights belong to the final embedding.
//
// Every term whose loss is [losses.Weighted] gets the weights, by the IDs of the batch and of the memory bank. The
// sampler still draws samples of weight 0, because their weight may become positive as λ rises.
// Source: BSPML (002), algorithm 1. METHODS 8.4.
type SelfPaced struct {
	Weights *selfpaced.Weights
	Every   int    // steps
	Seed    uint64 // seeds the random draws of the rounds

	// Embed returns the rows that Weights was created with, in order, embedded by the encoder's current weights.
	Embed func(context.Context) (features.Set, error)
}

// Weighing describes one round of a [SelfPaced] run.
type Weighing struct {
	Epoch, Step int
	selfpaced.Round
}

// checkWeighing validates the settings for the trainer.
func (s *SelfPaced) checkWeighing(terms []Term) error {
	if s.Every < 1 {
		return fmt.Errorf("train: self-paced weights every %d steps, expected at least 1", s.Every)
	}
	for _, term := range terms {
		if _, ok := term.Loss.(losses.Weighted); ok {
			return nil
		}
	}
	return fmt.Errorf("train: self-paced weights need a loss that weights its samples, found none")
}

// spreadWeights passes the current weights to the losses.
func (t *Trainer) spreadWeights() {
	t.weights = t.SelfPaced.Weights.ByID(t.weights)
	for _, term := range t.Terms {
		if l, ok := term.Loss.(losses.Weighted); ok {
			l.SetWeights(t.weights)
		}
	}
}

// roundDue reports whether a round is due: every Every steps and at the end of the run, even after early stopping.
func (t *Trainer) roundDue() bool {
	s, p := t.SelfPaced, t.progress
	return s != nil && p.Weighed < p.Step && (p.Step%s.Every == 0 || p.Step == t.Steps || t.lostPatience())
}

// runRound recomputes the weights for the current state.
func (t *Trainer) runRound(ctx context.Context) error {
	s, p := t.SelfPaced, &t.progress
	z, err := s.Embed(ctx)
	if err != nil {
		return fmt.Errorf("train: weights after step %d: %w", p.Step, err)
	}
	r, err := s.Weights.Update(z, Rand(s.Seed, "selfpaced", s.Weights.State().Rounds+1))
	if err != nil {
		return fmt.Errorf("train: weights after step %d: %w", p.Step, err)
	}
	t.spreadWeights()
	p.Weighed = p.Step
	return t.reportFact(Weighing{Epoch: t.epochOf(p.Step), Step: p.Step, Round: r})
}

// writeRound writes one round of weights.
func (m *metrics) writeRound(w Weighing) error {
	r := w.Round
	return m.putMetric(Metric{Step: w.Step, Epoch: w.Epoch, Weights: &r}, []tfevents.Scalar{
		newScalar(
			"selfpaced/lambda",
			r.Lambda,
		), newScalar("selfpaced/maw", r.Mean), newScalar("selfpaced/sdaw", r.Deviation),
		newScalar("selfpaced/objective_before", r.Before), newScalar("selfpaced/objective", r.Objective),
		newScalar("selfpaced/excluded", float64(r.Excluded)), newScalar("selfpaced/full", float64(r.Full)),
	})
}
