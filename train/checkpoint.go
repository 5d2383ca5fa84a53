package train

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"winnow/features"
	"winnow/filters"
	"winnow/filters/selfpaced"
	"winnow/internal/atomicfile"
	"winnow/train/archive"
)

// CheckpointFile is the name of the checkpoint in a run's folder.
const CheckpointFile = "checkpoint.winnow"

// state is everything that the next step depends on, apart from Config. It is the header of an archive; long
// lists are empty there and stored as arrays. Random sources have no state (see [Rand]).
type state struct {
	Identity   map[string]string   `json:"identity"`
	Progress   Progress            `json:"progress"`
	Params     []paramShape        `json:"params"`
	State      []paramShape        `json:"state"`
	LossParams []paramShape        `json:"loss_params"`
	HasBest    bool                `json:"has_best"`
	Groups     []groupState        `json:"groups"`
	Bank       *features.BankState `json:"bank"`
	Filter     *filters.State      `json:"filter"`
	Judged     []judged            `json:"judged,omitempty"` // since the last diagnosis
	SelfPaced  *selfpaced.State    `json:"selfpaced,omitempty"`
	Lines      map[string]lineSum  `json:"lines,omitempty"` // of the files of lines in the run's folder
}

// groupState is a group with the memory of its solver.
type groupState struct {
	Name   string      `json:"name"`
	Params []string    `json:"params"`
	Start  int         `json:"start"`
	Stop   int         `json:"stop,omitempty"`
	Solver SolverState `json:"solver"`
}

// sameGroup reports whether both groups step the same parameters in the same steps.
func (g groupState) sameGroup(o groupState) bool {
	return g.Name == o.Name && g.Start == o.Start && g.Stop == o.Stop && slices.Equal(g.Params, o.Params)
}

// describeGroup returns a group without its solver's memory.
func (g *group) describeGroup() groupState {
	s := groupState{Name: g.Name, Start: g.Start, Stop: g.Stop}
	for _, p := range g.Params {
		s.Params = append(s.Params, p.Name)
	}
	return s
}

type paramShape struct {
	Name string `json:"name"`
	Rows int    `json:"rows"`
	Cols int    `json:"cols"`
}

func paramShapes(params []*features.Param) []paramShape {
	list := make([]paramShape, len(params))
	for i, p := range params {
		list[i] = paramShape{p.Name, p.Rows, p.Cols}
	}
	return list
}

// writeCheckpoint replaces the checkpoint. The old one stays until the new one is complete.
func (t *Trainer) writeCheckpoint(lines map[string]lineSum) error {
	s, arrays := t.captureState()
	for i := range t.groups {
		if p := t.groups[i].placed; p != nil && p.err != nil {
			return fmt.Errorf("train: %s: step %d: %w", CheckpointFile, t.progress.Step, p.err)
		}
	}
	s.Lines = lines
	path := filepath.Join(t.Dir, CheckpointFile)
	err := atomicfile.Write(path, func(w io.Writer) error { return archive.Write(w, s, arrays) })
	if err != nil {
		return fmt.Errorf("train: %s: step %d: %w", CheckpointFile, t.progress.Step, err)
	}
	return nil
}

// captureState returns the state. The arrays are views, including the solvers' memory: nothing of the size of the
// weights is copied, and everything must be written before the next step.
func (t *Trainer) captureState() (state, []archive.Array) {
	s := state{Identity: t.Identity, Progress: t.progress, Params: paramShapes(t.params), State: paramShapes(t.state),
		LossParams: paramShapes(t.objective.params), HasBest: t.best != nil}
	var arrays []archive.Array
	for _, part := range []struct {
		name   string
		params []*features.Param
	}{{"param", t.params}, {"state", t.state}, {"loss_param", t.objective.params}} {
		for i, p := range part.params {
			arrays = append(arrays, archive.Float32s(fmt.Sprintf("%s/%d", part.name, i), p.Data))
		}
	}
	for i, v := range t.best {
		arrays = append(arrays, archive.Float32s(fmt.Sprintf("best/%d", i), v))
	}
	for i := range t.groups {
		g := t.groups[i].describeGroup()
		g.Solver, arrays = detachBuffers("solver/"+g.Name, t.groups[i].Solver.State(), arrays)
		s.Groups = append(s.Groups, g)
	}
	s.Bank, arrays = detachBank("bank", t.Bank, arrays)
	if t.Filter != nil {
		f := t.Filter.State()
		s.Filter = &f
		s.Judged = t.judged
	}
	if t.SelfPaced != nil {
		w := t.SelfPaced.Weights.State()
		arrays = append(arrays, archive.Float64s("selfpaced/weights", w.Weights))
		w.Weights = nil
		s.SelfPaced = &w
	}
	return s, arrays
}

// detachBank moves a bank's members and sums into arrays named after it; nil stays nil.
func detachBank(name string, bank *features.Bank, arrays []archive.Array) (*features.BankState, []archive.Array) {
	if bank == nil {
		return nil, arrays
	}
	b := bank.State()
	arrays = append(arrays, archive.Ints(name+"/labels", b.Labels), archive.Ints(name+"/ids", b.IDs),
		archive.Float32s(name+"/x", b.X),
		archive.Float64s(name+"/sums", b.Sums), archive.Ints(name+"/changes", b.Changes))
	b.Labels, b.IDs, b.X, b.Sums, b.Changes = nil, nil, nil, nil, nil
	return &b, arrays
}

// attachBank undoes detachBank.
func attachBank(name string, bank *features.Bank, s *features.BankState, arrays map[string]archive.Array) error {
	if s == nil {
		return nil
	}
	b := *s
	b.Labels, b.IDs, b.X = arrays[name+"/labels"].Ints, arrays[name+"/ids"].Ints, arrays[name+"/x"].F32
	b.Sums, b.Changes = arrays[name+"/sums"].F64, arrays[name+"/changes"].Ints
	return bank.SetState(b)
}

// detachBuffers moves a solver's buffers into arrays named after their position.
func detachBuffers(name string, s SolverState, arrays []archive.Array) (SolverState, []archive.Array) {
	params := slices.Clone(s.Params)
	for i := range params {
		for j, b := range params[i].Buffers {
			arrays = append(arrays, archive.Float32s(fmt.Sprintf("%s/%d/%d", name, i, j), b))
		}
		params[i].Buffers = nil
	}
	s.Params = params
	return s, arrays
}

// attachBuffers undoes detach.
func attachBuffers(name string, s SolverState, arrays map[string]archive.Array) SolverState {
	for i := range s.Params {
		for j := 0; ; j++ {
			a, ok := arrays[fmt.Sprintf("%s/%d/%d", name, i, j)]
			if !ok {
				break
			}
			s.Params[i].Buffers = append(s.Params[i].Buffers, a.F32)
		}
	}
	return s
}
