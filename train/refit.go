package train

import (
	"context"
	"fmt"
)

// Refit begins the head again, once, on the features that the backbone gives by then: what the head began with was fitted to
// the network as it was before training. The head's solver forgets what it remembers, which belongs to the old weights,
// and the average of the weights begins again at the new ones.
type Refit struct {
	After int // steps; a run that is no longer is not refitted

	// Do gives the head other numbers, by the encoder as it is now, and the bank, whose members the old head embedded,
	// other members. Where it returns an error neither has changed.
	Do func(context.Context) error
}

// refitDue is true after the step of the refit, until it is done.
func (t *Trainer) refitDue() bool {
	r, p := t.Refit, t.progress
	return r != nil && !p.Refitted && p.Step == r.After && p.Step < t.Steps && !t.lostPatience()
}

// refit begins the head again.
func (t *Trainer) refit(ctx context.Context) error {
	p := &t.progress
	if err := t.Refit.Do(ctx); err != nil {
		return fmt.Errorf("train: the head begins again after step %d: %w", p.Step, err)
	}
	for i := range t.groups {
		if g := &t.groups[i]; g.Name == HeadGroup {
			if err := g.Solver.SetState(SolverState{Solver: g.Solver.State().Solver}, g.Params); err != nil {
				return err
			}
		}
	}
	for i, a := range t.average {
		copy(a, t.numbers()[i].Data)
	}
	if t.witness.judge != nil {
		if err := t.Samples.FollowAnew(t.Bank); err != nil {
			return err
		}
	}
	p.Refitted = true
	return nil
}
