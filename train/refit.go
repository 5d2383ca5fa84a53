package train

import (
	"context"
	"fmt"
)

// Refit restarts the head once, on the features that the backbone produces by then: the initial head was fitted
// to the network as it was before training. The head's solver loses its memory, which belongs to the old
// weights, and the average of the weights restarts at the new ones.
type Refit struct {
	After int // steps before the refit; a run of no more steps is not refitted

	// Do gives the head new weights, fitted to the current encoder, and the bank new members, because the old
	// head embedded its members. If it returns an error, neither has changed.
	Do func(context.Context) error
}

// refitDue reports whether the refit is due: after its step, until it is done.
func (t *Trainer) refitDue() bool {
	r, p := t.Refit, t.progress
	return r != nil && !p.Refitted && p.Step == r.After && p.Step < t.Steps && !t.lostPatience()
}

// refitHead restarts the head.
func (t *Trainer) refitHead(ctx context.Context) error {
	p := &t.progress
	if err := t.Refit.Do(ctx); err != nil {
		return fmt.Errorf("train: restarting the head after step %d: %w", p.Step, err)
	}
	for i := range t.groups {
		if g := &t.groups[i]; g.Name == HeadGroup {
			if err := g.Solver.SetState(SolverState{Solver: g.Solver.State().Solver}, g.Params); err != nil {
				return err
			}
		}
	}
	p.Refitted = true
	return nil
}
