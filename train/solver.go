package train

import (
	"fmt"
	"slices"
	"strings"

	"winnow/features"
)

// Solver updates parameters from their gradients. Only one goroutine may use it at a time.
type Solver interface {
	// Step updates the data of every parameter with learning rate lr. It does not change the gradients.
	// Parameters are identified by name: names must be unique, and the shape under a name must stay the same.
	Step(params []*features.Param, lr float64)
	// State returns the state with which another solver would continue exactly like this one. It is a view, valid
	// until the next Step: a copy for a large network would take twice the network's memory.
	State() SolverState
	// SetState copies a state from a solver of the same kind and settings, for the given parameters.
	SetState(state SolverState, params []*features.Param) error
}

// SolverState is the memory of a solver as plain data for checkpoints, sorted by parameter name.
type SolverState struct {
	Solver string       `json:"solver"`
	Params []ParamState `json:"params"`
}

// ParamState is a solver's memory for one parameter: the number of steps taken and the solver's buffers (named
// by [SolverConfig.bufferNames]), each as long as the parameter's data.
type ParamState struct {
	Name    string      `json:"name"`
	Steps   int         `json:"steps"`
	Buffers [][]float32 `json:"buffers"`
}

// NewSolver returns a solver for validated settings.
func NewSolver(cfg SolverConfig) (Solver, error) {
	if err := cfg.validateSolver(); err != nil {
		return nil, err
	}
	return &solver{cfg: cfg, fast: cfg.isVectorised(), slots: map[string]*solverSlot{}}, nil
}

type solver struct {
	cfg   SolverConfig
	fast  bool
	slots map[string]*solverSlot
}

// solverSlot is the memory of one parameter.
type solverSlot struct {
	steps   int
	buffers [][]float32
}

func (s *solver) Step(params []*features.Param, lr float64) {
	for _, p := range params {
		mem := s.slots[p.Name]
		if mem == nil {
			mem = newSolverSlot(len(s.cfg.bufferNames()), len(p.Data))
			s.slots[p.Name] = mem
		}
		if len(mem.buffers) > 0 && len(mem.buffers[0]) != len(p.Data) {
			panic(fmt.Sprintf("train: solver: parameter %s has %d weights, expected %d as before", p.Name, len(p.Data),
				len(mem.buffers[0])))
		}
		mem.steps++
		u := s.cfg.prepareUpdate(lr, mem.steps, p.NoDecay)
		updateOnAllCores(u, s.fast, p.Data, p.Grad, mem.buffers)
	}
}

// setBeta1 changes β₁ from the next step on. As in torch, the bias correction of the mean then uses the new β₁ as if
// all earlier steps had used it.
func (s *solver) setBeta1(beta1 float64) { s.cfg.Beta1 = beta1 }

// beta1Solver is a solver with a β₁ that can be changed.
type beta1Solver interface{ setBeta1(beta1 float64) }

// hasBeta1 reports whether a solver has a β₁ to change.
func hasBeta1(s Solver) bool {
	own, ok := s.(*solver)
	return ok && own.cfg.HasBeta1()
}

func newSolverSlot(buffers, size int) *solverSlot {
	mem := &solverSlot{buffers: make([][]float32, buffers)}
	for i := range mem.buffers {
		mem.buffers[i] = make([]float32, size)
	}
	return mem
}

func (s *solver) State() SolverState {
	out := SolverState{Solver: s.cfg.Name, Params: make([]ParamState, 0, len(s.slots))}
	for name, mem := range s.slots {
		out.Params = append(out.Params, ParamState{Name: name, Steps: mem.steps, Buffers: slices.Clone(mem.buffers)})
	}
	slices.SortFunc(out.Params, func(a, b ParamState) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// SetState copies a state. If the state does not fit the solver or params, it returns an error and changes nothing.
func (s *solver) SetState(state SolverState, params []*features.Param) error {
	slots := make(map[string]*solverSlot, len(state.Params))
	for _, p := range state.Params {
		at := slices.IndexFunc(params, func(q *features.Param) bool { return q.Name == p.Name })
		if at < 0 || state.Solver != s.cfg.Name || len(p.Buffers) != len(s.cfg.bufferNames()) {
			return errMisfit
		}
		slot := newSolverSlot(len(p.Buffers), len(params[at].Data))
		slot.steps = p.Steps
		for i, b := range p.Buffers {
			if copy(slot.buffers[i], b); len(b) != len(params[at].Data) {
				return errMisfit
			}
		}
		slots[p.Name] = slot
	}
	s.slots = slots
	return nil
}
