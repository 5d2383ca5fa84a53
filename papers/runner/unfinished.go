package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"winnow/internal/atomicfile"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/train"
)

// cellDir returns the folder in which a cell that trains a network keeps its checkpoint until it is finished.
func (r *reproduction) cellDir(key string) string { return filepath.Join(r.Dir, "unfinished", key) }

// resolveTraining resolves a cell's training. If the cell trains a network, dir is the folder of its checkpoint.
func (r *reproduction) resolveTraining(ctx context.Context, t training, cell studies.Cell) (
	plan *run.Training, dir string, err error) {
	opts := r.newTrainingOptions()
	opts.Last = r.Study.State == studies.Last
	if t.cfg.Finetune.On() {
		dir, t.cfg.Checkpoint = r.cellDir(cell.Key), t.every
		opts.Dir, opts.Resume = dir, true
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, "", fmt.Errorf("reproduce: %w", err)
		}
	}
	plan, err = run.Resolve(ctx, t.cfg, run.Input{Data: &t.data}, opts)
	if err == nil && plan.Resumed > 0 {
		r.grid.Say("%s: resumes after step %d of %d", r.describeCell(cell), plan.Resumed, plan.Steps)
	}
	if dir != "" && err != nil {
		err = hint.With(err, "if the cell's checkpoint is damaged, remove %s to start the cell again", dir)
	}
	return plan, dir, err
}

// seenAt returns the path of the file, in an unfinished cell's folder, with the values recorded up to a step.
func seenAt(dir string, step int) string {
	return filepath.Join(dir, fmt.Sprintf("seen-%d.json", step))
}

// keepSeen reads the values that an earlier part of a training recorded up to the step resumed. It returns an observer
// that writes the recorded values before each checkpoint, so that the cell's outcome equals that of an uninterrupted
// training. start is the start time of the current part.
func (r *recorder) keepSeen(dir string, resumed int, start time.Time) (save train.Observer, err error) {
	if resumed > 0 {
		text, err := regular.ReadFile(seenAt(dir, resumed), regular.Most)
		if err == nil {
			err = json.Unmarshal(text, &r.seen)
		}
		if err != nil {
			return nil, hint.With(fmt.Errorf("reproduce: %w", err), "remove %s to start the cell again", dir)
		}
		if r.filter != nil {
			r.filter.State = r.seen.Filter
		}
	}
	before, saved := r.seen.Time, resumed // saved is the step of the checkpoint that is on disk
	return func(fact any) error {
		if _, saving := fact.(run.Saving); !saving {
			return nil
		}
		r.seen.Time = before + time.Since(start)
		if r.filter != nil {
			r.seen.Filter = r.filter.State
		}
		step := r.seen.Step
		err := atomicfile.Write(seenAt(dir, step), func(w io.Writer) error { return json.NewEncoder(w).Encode(r.seen) })
		old, _ := filepath.Glob(filepath.Join(dir, "seen-*.json"))
		for _, path := range old {
			if path != seenAt(dir, step) && path != seenAt(dir, saved) {
				err = errors.Join(err, os.Remove(path))
			}
		}
		saved = step
		return err
	}, nil
}

// appendPoint appends a point to a trace. It replaces an earlier point of the same step.
func appendPoint(t *studies.Trace, step int, y float64) {
	if n := len(t.X); n > 0 && t.X[n-1] == float64(step) {
		t.Y[n-1] = y
		return
	}
	t.X, t.Y = append(t.X, float64(step)), append(t.Y, y)
}
