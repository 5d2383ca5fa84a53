package train

import (
	"context"
	"fmt"
)

// Refit fits the head again once during the run, to the features that the backbone then produces. The initial head
// was fitted to the features of the untrained backbone. The state of the head's solver belongs to the old weights and
// is cleared, and the running average of the weights restarts from the new weights.
type Refit struct {
	After int // steps before the refit; a run of After or fewer steps has no refit

	// Do fits new weights for the head to the current encoder. It also replaces the members of the bank, which the
	// old head embedded. If it returns an error, it has changed neither head nor bank.
	Do func(context.Context) error
}

// refitDue reports whether the run has reached the refit's step and has not refitted the head yet.
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
