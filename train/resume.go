package train

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"winnow/features"
	"winnow/internal/regular"
	"winnow/train/archive"
)

// Resume restores the checkpoint in Dir and reports whether there is one. A checkpoint with other settings is
// an error that names the first difference.
func (t *Trainer) Resume() (found bool, err error) {
	s, arrays, found, err := ownCheckpoint(t.Dir, t.Identity)
	if err != nil || !found {
		return false, err
	}
	if err := t.restoreTrainer(s, arrays); err != nil {
		return false, &CheckpointError{Path: filepath.Join(t.Dir, CheckpointFile), Err: err}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Lines)) {
		path := filepath.Join(t.Dir, name)
		if err := s.Lines[name].checkLinePrefix(path); err != nil {
			return false, &CheckpointError{Path: path, Err: err}
		}
	}
	return true, nil
}

// SameRun returns an error if dir has a checkpoint of a run with another identity, which Resume would reject.
func SameRun(dir string, identity map[string]string) error {
	_, _, _, err := ownCheckpoint(dir, identity)
	return err
}

// ownCheckpoint reads the checkpoint in dir, if there is one. A checkpoint of a run with another identity is an
// error.
func ownCheckpoint(
	dir string, identity map[string]string,
) (s state, arrays map[string]archive.Array, found bool, err error) {
	path := filepath.Join(dir, CheckpointFile)
	s, arrays, err = readCheckpoint(path)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil, false, nil
	}
	if why := identityDiffers(s.Identity, identity); err == nil && why != "" {
		err = &OtherRunError{Path: path, Why: why}
	}
	return s, arrays, err == nil, err
}

// readCheckpoint reads a checkpoint file.
func readCheckpoint(path string) (state, map[string]archive.Array, error) {
	f, err := regular.Open(path)
	if err != nil {
		return state{}, nil, fmt.Errorf("train: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return state{}, nil, fmt.Errorf("train: %w", err)
	}
	s, arrays, err := archive.Read[state](f, info.Size())
	if err != nil {
		return s, nil, &CheckpointError{Path: path, Err: err}
	}
	return s, arrays, nil
}

// CheckpointError is an error: a checkpoint, or a file that it continues, is damaged, of another version, or
// inconsistent, so that no run can continue it.
type CheckpointError struct {
	Path string
	Err  error
}

func (e *CheckpointError) Error() string { return fmt.Sprintf("train: %s: %v", e.Path, e.Err) }

// Unwrap returns the cause.
func (e *CheckpointError) Unwrap() error { return e.Err }

// ReadLossParams reads the losses' own parameters, such as proxies, from the checkpoint in dir. They belong to
// the run's last state, not its best.
func ReadLossParams(dir string) ([]*features.Param, error) {
	path := filepath.Join(dir, CheckpointFile)
	s, arrays, err := readCheckpoint(path)
	if err != nil {
		return nil, err
	}
	list := make([]*features.Param, len(s.LossParams))
	for i, shape := range s.LossParams {
		values := arrays[fmt.Sprintf("loss_param/%d", i)].F32
		if shape.Rows < 1 || shape.Cols < 1 || len(values)/shape.Rows != shape.Cols || len(values)%shape.Rows != 0 {
			return nil, &CheckpointError{Path: path, Err: fmt.Errorf("loss parameter %q has %d numbers, expected %d×%d",
				shape.Name, len(values), shape.Rows, shape.Cols)}
		}
		list[i] = &features.Param{Name: shape.Name, Rows: shape.Rows, Cols: shape.Cols, Data: values}
	}
	return list, nil
}

// OtherRunError is an error: a checkpoint belongs to a run with other settings or data.
type OtherRunError struct {
	Path string
	Why  string // the first difference
}

func (e *OtherRunError) Error() string { return fmt.Sprintf("train: %s: %s", e.Path, e.Why) }

// identityDiffers describes the first setting, in alphabetical order, in which two runs differ, or returns ""
// if there is none.
func identityDiffers(made, asked map[string]string) string {
	both := map[string]string{}
	maps.Copy(both, made)
	maps.Copy(both, asked)
	for _, k := range slices.Sorted(maps.Keys(both)) {
		was, hadIt := made[k]
		is, hasIt := asked[k]
		switch {
		case !hadIt:
			return fmt.Sprintf("made without %s, which is now %q", k, is)
		case !hasIt:
			return fmt.Sprintf("made with %s = %q, which is not set now", k, was)
		case was != is:
			return fmt.Sprintf("made with %s = %q, asked for %q", k, was, is)
		}
	}
	return ""
}

// restoreTrainer validates everything against this trainer before it changes the first weight.
func (t *Trainer) restoreTrainer(s state, arrays map[string]archive.Array) error {
	if err := t.sameShapes(s); err != nil {
		return err
	}
	if (s.Bank != nil) != (t.Bank != nil) || (s.Filter != nil) != (t.Filter != nil) {
		return fmt.Errorf("only one of checkpoint and run has a bank or a filter")
	}
	if (s.SelfPaced != nil) != (t.SelfPaced != nil) {
		return fmt.Errorf("only one of checkpoint and run has self-paced weights")
	}
	p := s.Progress
	if p.Step < 0 || p.Step > t.Steps || p.Validated < -1 || p.Validated > p.Step || p.BestStep > p.Validated ||
		p.Weighed < 0 || p.Weighed > p.Step || s.HasBest != (p.BestStep >= 0) {
		return fmt.Errorf("progress %+v contradicts itself or the length of %d steps", p, t.Steps)
	}
	type part struct {
		name   string
		params []*features.Param
	}
	now, best := []part{{"param", t.params}, {"state", t.state}, {"loss_param", t.objective.params}}, part{name: "best"}
	if s.HasBest {
		best.params = t.encoderParams()
	}
	for _, g := range append(now, best) {
		for i, p := range g.params {
			if a := arrays[fmt.Sprintf("%s/%d", g.name, i)]; len(a.F32) != len(p.Data) {
				return fmt.Errorf("%s %q has %d numbers, expected %d", g.name, p.Name, len(a.F32), len(p.Data))
			}
		}
	}
	if err := t.restoreStates(s, arrays); err != nil {
		return err
	}
	for _, g := range now {
		for i, p := range g.params {
			copy(p.Data, arrays[fmt.Sprintf("%s/%d", g.name, i)].F32)
		}
	}
	t.best = nil
	for i := range best.params {
		t.best = append(t.best, arrays[fmt.Sprintf("best/%d", i)].F32)
	}
	t.progress = s.Progress
	return nil
}

// sameShapes returns an error for a state with other parameters or other groups of parameters.
func (t *Trainer) sameShapes(s state) error {
	for _, part := range []struct {
		what   string
		found  []paramShape
		wanted []*features.Param
	}{{"parameters", s.Params, t.params}, {"the encoder's state", s.State, t.state},
		{"the losses' parameters", s.LossParams, t.objective.params}} {
		if want := paramShapes(part.wanted); !slices.Equal(part.found, want) {
			return fmt.Errorf("%s: found %v, expected %v", part.what, part.found, want)
		}
	}
	for i := range max(len(s.Groups), len(t.groups)) {
		var found, want groupState
		if i < len(s.Groups) {
			found = s.Groups[i]
		}
		if i < len(t.groups) {
			want = t.groups[i].describeGroup()
		}
		if !found.sameGroup(want) {
			return fmt.Errorf("group %d is %q of %d parameters from step %d, expected %q of %d from step %d",
				i, found.Name, len(found.Params), found.Start, want.Name, len(want.Params), want.Start)
		}
	}
	return nil
}

// restoreStates passes each part its own state, which the part validates.
func (t *Trainer) restoreStates(s state, arrays map[string]archive.Array) error {
	for i := range t.groups {
		g := &t.groups[i]
		if err := g.Solver.SetState(attachBuffers("solver/"+g.Name, s.Groups[i].Solver, arrays), g.Params); err != nil {
			return err
		}
	}
	if err := attachBank("bank", t.Bank, s.Bank, arrays); err != nil {
		return err
	}
	if s.SelfPaced != nil {
		w := *s.SelfPaced
		w.Weights = arrays["selfpaced/weights"].F64
		if err := t.SelfPaced.Weights.SetState(w); err != nil {
			return err
		}
		t.spreadWeights()
	}
	if s.Filter != nil {
		t.judged = s.Judged
		return t.Filter.SetState(*s.Filter)
	}
	return nil
}
