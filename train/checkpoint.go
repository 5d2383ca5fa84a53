package train

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"winnow/features"
	"winnow/filters"
	"winnow/internal/atomicfile"
)

// CheckpointFile is the name of the checkpoint in a run's folder.
const CheckpointFile = "checkpoint.winnow"

// state is everything that the next step depends on, apart from what Config says: an archive's header,
// with the long lists left empty and stored as arrays. Random sources have no state (see [Rand]).
type state struct {
	Identity   map[string]string   `json:"identity"`
	Progress   Progress            `json:"progress"`
	Params     []paramShape        `json:"params"`
	LossParams []paramShape        `json:"loss_params"`
	HasBest    bool                `json:"has_best"`
	Solver     SolverState         `json:"solver"`
	LossSolver *SolverState        `json:"loss_solver"`
	Bank       *features.BankState `json:"bank"`
	Filter     *filters.State      `json:"filter"`
}

type paramShape struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Cols int    `json:"cols"`
}

func shapes(params []*features.Param) []paramShape {
	list := make([]paramShape, len(params))
	for i, p := range params {
		list[i] = paramShape{p.Name, p.Rows, p.Cols}
	}
	return list
}

// writeCheckpoint replaces the checkpoint; until the new one is whole and in place the old one stays.
func (t *Trainer) writeCheckpoint() error {
	s, arrays := t.capture()
	path := filepath.Join(t.Dir, CheckpointFile)
	err := atomicfile.Write(path, func(w io.Writer) error { return writeArchive(w, s, arrays) })
	if err != nil {
		return fmt.Errorf("train: %s: step %d: %w", CheckpointFile, t.progress.Step, err)
	}
	return nil
}

// capture describes the state; the arrays are views and must be written before the next step.
func (t *Trainer) capture() (state, []array) {
	s := state{Identity: t.Identity, Progress: t.progress, Params: shapes(t.params), LossParams: shapes(t.objective.params), HasBest: t.best != nil}
	var arrays []array
	for i, p := range t.params {
		arrays = append(arrays, float32s(fmt.Sprintf("param/%d", i), p.Data))
	}
	for i, p := range t.objective.params {
		arrays = append(arrays, float32s(fmt.Sprintf("loss_param/%d", i), p.Data))
	}
	for i, v := range t.best {
		arrays = append(arrays, float32s(fmt.Sprintf("best/%d", i), v))
	}
	s.Solver, arrays = detach("solver", t.Solver.State(), arrays)
	if t.LossSolver != nil {
		var ls SolverState
		ls, arrays = detach("loss_solver", t.LossSolver.State(), arrays)
		s.LossSolver = &ls
	}
	if t.Bank != nil {
		b := t.Bank.State()
		arrays = append(arrays, integers("bank/labels", b.Labels), integers("bank/ids", b.IDs), float32s("bank/x", b.X),
			float64s("bank/sums", b.Sums), integers("bank/changes", b.Changes))
		b.Labels, b.IDs, b.X, b.Sums, b.Changes = nil, nil, nil, nil, nil
		s.Bank = &b
	}
	if t.Filter != nil {
		f := t.Filter.State()
		s.Filter = &f
	}
	return s, arrays
}

// detach moves a solver's buffers into arrays named after their place.
func detach(name string, s SolverState, arrays []array) (SolverState, []array) {
	params := slices.Clone(s.Params)
	for i := range params {
		for j, b := range params[i].Buffers {
			arrays = append(arrays, float32s(fmt.Sprintf("%s/%d/%d", name, i, j), b))
		}
		params[i].Buffers = nil
	}
	s.Params = params
	return s, arrays
}

// attach is detach undone.
func attach(name string, s SolverState, arrays map[string]array) SolverState {
	for i := range s.Params {
		for j := 0; ; j++ {
			a, ok := arrays[fmt.Sprintf("%s/%d/%d", name, i, j)]
			if !ok {
				break
			}
			s.Params[i].Buffers = append(s.Params[i].Buffers, a.f32)
		}
	}
	return s
}

// Resume takes over the checkpoint in Dir and reports whether there is one. A checkpoint of other settings
// is refused, naming the first that differs.
func (t *Trainer) Resume() (found bool, err error) {
	path := filepath.Join(t.Dir, CheckpointFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("train: %w", err)
	}
	s, arrays, err := readArchive[state](data)
	if err != nil {
		return false, fmt.Errorf("train: %s: %w", path, err)
	}
	if err := sameIdentity(s.Identity, t.Identity); err != nil {
		return false, fmt.Errorf("train: %s: %w", path, err)
	}
	if err := t.restore(s, arrays); err != nil {
		return false, fmt.Errorf("train: %s: %w", path, err)
	}
	return true, nil
}

// sameIdentity names the first setting, in the order of the alphabet, that two runs do not share.
func sameIdentity(made, asked map[string]string) error {
	keys := map[string]bool{}
	for k := range made {
		keys[k] = true
	}
	for k := range asked {
		keys[k] = true
	}
	sorted := make([]string, 0, len(keys))
	for k := range keys {
		sorted = append(sorted, k)
	}
	slices.Sort(sorted)
	for _, k := range sorted {
		was, hadIt := made[k]
		is, hasIt := asked[k]
		switch {
		case !hadIt:
			return fmt.Errorf("made without %s, which is now %q", k, is)
		case !hasIt:
			return fmt.Errorf("made with %s = %q, which is not set now", k, was)
		case was != is:
			return fmt.Errorf("made with %s = %q, asked for %q", k, was, is)
		}
	}
	return nil
}

// restore checks everything against this trainer before it changes the first number.
func (t *Trainer) restore(s state, arrays map[string]array) error {
	if !slices.Equal(s.Params, shapes(t.params)) || !slices.Equal(s.LossParams, shapes(t.objective.params)) {
		return fmt.Errorf("parameters are %v and %v, expected %v and %v", s.Params, s.LossParams, shapes(t.params), shapes(t.objective.params))
	}
	if (s.Bank != nil) != (t.Bank != nil) || (s.Filter != nil) != (t.Filter != nil) || (s.LossSolver != nil) != (t.LossSolver != nil) {
		return fmt.Errorf("bank, filter or loss solver is there in one of checkpoint and run only")
	}
	p := s.Progress
	if p.Step < 0 || p.Step > t.Steps || p.Validated < -1 || p.Validated > p.Step || p.BestStep > p.Validated || s.HasBest != (p.BestStep >= 0) {
		return fmt.Errorf("progress %+v contradicts itself or the length of %d steps", p, t.Steps)
	}
	groups := []struct {
		name   string
		params []*features.Param
	}{{"param", t.params}, {"loss_param", t.objective.params}, {"best", nil}}
	if s.HasBest {
		groups[2].params = t.params
	}
	for _, g := range groups {
		for i, p := range g.params {
			if a := arrays[fmt.Sprintf("%s/%d", g.name, i)]; len(a.f32) != len(p.Data) {
				return fmt.Errorf("%s %q has %d numbers, expected %d", g.name, p.Name, len(a.f32), len(p.Data))
			}
		}
	}
	if err := t.restoreStates(s, arrays); err != nil {
		return err
	}
	for i, p := range t.params {
		copy(p.Data, arrays[fmt.Sprintf("param/%d", i)].f32)
	}
	for i, p := range t.objective.params {
		copy(p.Data, arrays[fmt.Sprintf("loss_param/%d", i)].f32)
	}
	t.best = nil
	if s.HasBest {
		for i := range t.params {
			t.best = append(t.best, arrays[fmt.Sprintf("best/%d", i)].f32)
		}
	}
	t.progress = s.Progress
	return nil
}

// restoreStates hands each part its own state; each checks it.
func (t *Trainer) restoreStates(s state, arrays map[string]array) error {
	if err := t.Solver.SetState(attach("solver", s.Solver, arrays), t.params); err != nil {
		return err
	}
	if s.LossSolver != nil {
		if err := t.LossSolver.SetState(attach("loss_solver", *s.LossSolver, arrays), t.objective.params); err != nil {
			return err
		}
	}
	if s.Bank != nil {
		b := *s.Bank
		b.Labels, b.IDs, b.X = arrays["bank/labels"].ints, arrays["bank/ids"].ints, arrays["bank/x"].f32
		b.Sums, b.Changes = arrays["bank/sums"].f64, arrays["bank/changes"].ints
		if err := t.Bank.SetState(b); err != nil {
			return err
		}
	}
	if s.Filter != nil {
		return t.Filter.SetState(*s.Filter)
	}
	return nil
}
