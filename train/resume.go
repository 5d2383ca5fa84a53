package train

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
)

// Resume restores the checkpoint in Dir and reports whether there is one. A checkpoint with other settings is
// an error that names the first difference.
func (t *Trainer) Resume() (found bool, err error) {
	c, found, err := ownCheckpoint(t.Dir, t.Identity)
	if err != nil || !found {
		return false, err
	}
	if err := t.restoreTrainer(c); err != nil {
		return false, &CheckpointError{Path: filepath.Join(t.Dir, CheckpointFile), Err: err}
	}
	return true, nil
}

// SameRun returns an error if dir has a checkpoint that Resume would reject because its identity differs.
func SameRun(dir string, identity map[string]string) error {
	_, _, err := ownCheckpoint(dir, identity)
	return err
}

// ownCheckpoint reads the checkpoint in dir, if there is one. A checkpoint of a run with another identity is an error.
func ownCheckpoint(dir string, identity map[string]string) (c checkpoint, found bool, err error) {
	path := filepath.Join(dir, CheckpointFile)
	c, err = readCheckpoint(path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, false, nil
	}
	if why := identityDiffers(c.Identity, identity); err == nil && why != "" {
		err = &OtherRunError{Path: path, Why: why}
	}
	return c, err == nil, err
}

// CheckpointError reports a checkpoint that cannot be resumed: it is damaged, has another format, or does not fit.
type CheckpointError struct {
	Path string
	Err  error
}

func (e *CheckpointError) Error() string { return fmt.Sprintf("train: %s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *CheckpointError) Unwrap() error { return e.Err }

// OtherRunError reports a checkpoint that belongs to a run with other settings or other data.
type OtherRunError struct {
	Path string
	Why  string // the first difference
}

func (e *OtherRunError) Error() string { return fmt.Sprintf("train: %s: %s", e.Path, e.Why) }

// identityDiffers describes the first setting, in alphabetical order, in which two runs differ. It returns ""
// if all settings are equal.
func identityDiffers(made, asked map[string]string) string {
	both := maps.Clone(asked)
	if both == nil {
		both = map[string]string{}
	}
	maps.Copy(both, made)
	for _, k := range slices.Sorted(maps.Keys(both)) {
		if made[k] != asked[k] {
			return fmt.Sprintf("made with %s = %q, asked for %q", k, made[k], asked[k])
		}
	}
	return ""
}

var errMisfit = errors.New("does not fit this training: other parameters, groups, bank, filter or length")

// restoreTrainer checks the sizes of everything before it changes the first weight.
func (t *Trainer) restoreTrainer(c checkpoint) error {
	params := t.learnedParams()
	now, best := len(params), c.Progress.BestStep >= 0
	if best {
		params = append(params, t.encoderParams()...)
	}
	if len(c.bank) > 0 != (t.Bank != nil) || (c.Filter != nil) != (t.Filter != nil) || c.Progress.Step > t.Steps ||
		(c.SelfPaced != nil) != (t.SelfPaced != nil) || len(c.lists) != len(params) || len(c.solvers) != len(t.groups) {
		return errMisfit
	}
	for i, p := range params {
		if len(c.lists[i]) != len(p.Data) {
			return errMisfit
		}
	}
	for i, s := range c.solvers {
		if err := t.groups[i].Solver.SetState(SolverState{c.Solvers[i].Name, s}, t.groups[i].Params); err != nil {
			return err
		}
	}
	for _, b := range c.bank {
		if err := t.Bank.SetState(b); err != nil {
			return err
		}
	}
	if c.SelfPaced != nil {
		if err := t.SelfPaced.Weights.SetState(*c.SelfPaced); err != nil {
			return err
		}
		t.spreadWeights()
	}
	if c.Filter != nil {
		if err := t.Filter.SetState(*c.Filter); err != nil {
			return err
		}
	}
	for i, p := range params[:now] {
		copy(p.Data, c.lists[i])
	}
	t.best, t.judged, t.progress = nil, c.Judged, c.Progress
	if best {
		t.best = c.lists[now:]
	}
	return nil
}
