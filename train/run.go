package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"winnow/features"
)

// Progress holds the counters and scores of a run: its state without the model's weights and the memories.
type Progress struct {
	Step      int     `json:"step"`      // steps done
	Validated int     `json:"validated"` // step of the last validation; -1: no validation yet
	BestStep  int     `json:"best_step"` // -1: no validation yet
	BestScore float64 `json:"best_score"`

	LastScore float64 `json:"last_score"`
	Stale     int     `json:"stale"`             // validations since the best one
	Idle      int     `json:"idle"`              // steps in which the gradients of all losses were zero
	Weighed   int     `json:"weighed,omitempty"` // step of the last round of weights; 0: no round yet
	Refitted  bool    `json:"refitted,omitempty"`
}

// Result is the result of a run.
type Result struct {
	Progress
	Epochs  int  // number of epochs started
	Stopped bool // the run stopped early, because patience ran out
}

// Run trains until the last step is done, patience runs out, or a number is not finite. If ctx is cancelled, Run
// saves a checkpoint and returns the error of ctx. After [Trainer.Resume] it continues from the checkpoint, and
// computes and writes exactly the same bits as an uninterrupted run.
func (t *Trainer) Run(ctx context.Context) (result Result, err error) {
	if err := t.openJournal(); err != nil {
		return Result{}, err
	}
	if t.journal != nil {
		defer func() { err = errors.Join(err, t.journal.closeJournal()) }()
	}
	if err := t.holdWeights(); err != nil {
		return Result{}, err
	}
	defer func() { err = errors.Join(err, t.releaseWeights()) }()
	if err := t.runLoop(ctx); err != nil {
		return t.runResult(), err
	}
	return t.runResult(), t.endRun()
}

// runLoop runs steps, validations, rounds of weights, refits and checkpoints until the run is finished.
func (t *Trainer) runLoop(ctx context.Context) error {
	saved := t.progress.Step
	for !t.isFinished() {
		err := ctx.Err()
		if err != nil {
			return t.saveInterrupted(err)
		}
		var due func() error
		switch {
		case t.roundDue():
			due = func() error { return t.runRound(ctx) }
		case t.refitDue():
			due = func() error { return t.refitHead(ctx) }
		case t.validationDue():
			due = func() error { return t.validateState(ctx) }
		case t.CheckpointEvery > 0 && t.progress.Step%t.CheckpointEvery == 0 && t.progress.Step > saved:
			due = func() error { return t.saveCheckpoint() }
			saved = t.progress.Step
		}
		if due == nil {
			err = t.advanceStep()
		} else if err = t.fetchWeights(); err == nil {
			err = due()
		}
		if errors.Is(err, context.Canceled) {
			return t.saveInterrupted(err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// advanceStep does a step and reports it.
func (t *Trainer) advanceStep() error {
	fact, err := t.trainStep()
	if err != nil {
		return err
	}
	if t.Observe != nil || t.journal != nil {
		if err := t.reportFact(*fact); err != nil {
			return err
		}
	}
	t.noteStep(fact)
	return t.writeDiagnosis()
}

// endRun writes the last diagnosis and saves the head and the checkpoint after the last step.
func (t *Trainer) endRun() error {
	if err := t.writeDiagnosis(); err != nil { // the loop may have stopped early
		return err
	}
	if err := t.fetchWeights(); err != nil {
		return err
	}
	if t.Validate == nil && t.SaveHead != nil {
		if err := t.SaveHead(true); err != nil {
			return err
		}
	}
	return t.saveCheckpoint()
}

// isFinished reports whether the run has done its last step, validation and round of weights.
func (t *Trainer) isFinished() bool {
	return !t.roundDue() && !t.validationDue() && (t.progress.Step >= t.Steps || t.lostPatience())
}

func (t *Trainer) lostPatience() bool { return t.Patience > 0 && t.progress.Stale >= t.Patience }

// validationDue reports whether a validation is due: before the first step, every ValidateEvery steps and at the end.
func (t *Trainer) validationDue() bool {
	step := t.progress.Step
	return t.Validate != nil && t.progress.Validated < step && (step%t.ValidateEvery == 0 || step == t.Steps) ||
		t.Validate != nil && t.progress.Validated < 0
}

// validateState scores the encoder's current state and keeps a copy of it if the score is the best so far.
func (t *Trainer) validateState(ctx context.Context) error {
	p := &t.progress
	score, err := t.Validate(ctx)
	if err == nil && !isFiniteLoss(score) {
		err = fmt.Errorf("score is %v, expected a finite number", score)
	}
	if err != nil {
		return fmt.Errorf("train: validation after step %d: %w", p.Step, err)
	}
	v := Validation{Epoch: t.epochOf(p.Step), Step: p.Step, Score: score, Best: p.BestStep < 0 || score > p.BestScore}
	p.Validated, p.LastScore = p.Step, v.Score
	p.Stale++
	if v.Best {
		p.BestStep, p.BestScore, p.Stale = p.Step, score, 0
		if err := t.keepBest(); err != nil {
			return err
		}
	}
	return t.reportFact(v)
}

// epochOf returns the number of the epoch of a step, or 0 for step 0.
func (t *Trainer) epochOf(step int) int {
	n := t.Sampler.Batches()
	return (step + n - 1) / n
}

// keepBest stores the encoder's current numbers as the best state.
func (t *Trainer) keepBest() error {
	list := t.encoderParams()
	if t.best == nil {
		t.best = make([][]float32, len(list))
	}
	for i, p := range list {
		t.best[i] = append(t.best[i][:0], p.Data...)
	}
	if t.SaveHead == nil {
		return nil
	}
	return t.SaveHead(true)
}

// encoderParams returns the encoder's parameters, then its state.
func (t *Trainer) encoderParams() []*features.Param { return slices.Concat(t.params, t.state) }

// UseBest restores the state with the best validation score into the encoder. Without validation it changes nothing.
func (t *Trainer) UseBest() {
	for i, values := range t.best {
		copy(t.encoderParams()[i].Data, values)
	}
}

// saveCheckpoint writes a checkpoint and the head of the same state.
func (t *Trainer) saveCheckpoint() error {
	if t.SaveHead != nil {
		if err := t.SaveHead(false); err != nil {
			return err
		}
	}
	if t.Dir == "" {
		return nil
	}
	if err := t.journal.syncJournal(); err != nil {
		return err
	}
	return t.writeCheckpoint()
}

// saveInterrupted saves the run and returns an error that wraps reason, or the error of saving if saving failed.
func (t *Trainer) saveInterrupted(reason error) error {
	err := t.fetchWeights()
	if err == nil {
		err = t.saveCheckpoint()
	}
	if err != nil {
		return fmt.Errorf("train: stopped after step %d (%v) and could not save: %w", t.progress.Step, reason, err)
	}
	return fmt.Errorf("train: stopped after step %d: %w", t.progress.Step, reason)
}

func (t *Trainer) runResult() Result {
	p := t.progress
	return Result{
		Progress: p, Epochs: t.epochOf(p.Step), Stopped: t.lostPatience() && p.Step < t.Steps,
	}
}

// Done returns the number of steps done so far.
func (t *Trainer) Done() int { return t.progress.Step }
