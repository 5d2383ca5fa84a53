package samples

import "fmt"

// State is a record as plain data, for a checkpoint. The lists, by name, are views of the record and must be
// written before its next step.
type State struct {
	Judge  string
	Pushed int // number of vectors pushed into the bank so far
	Counts map[string][]uint32
	Sums   map[string][]float64
}

// State returns the state of the record.
func (r *Record) State() State {
	s := State{Judge: r.judge, Counts: map[string][]uint32{}, Sums: map[string][]float64{}}
	if r.members != nil {
		s.Pushed = r.members.pushed
	}
	for _, list := range r.listCounts() {
		s.Counts[list.name] = *list.of
	}
	for _, list := range r.listSums() {
		s.Sums[list.name] = *list.of
	}
	return s
}

// SetState makes the record continue from a saved state, whose lists it keeps. If there is a bank, call
// [Record.Follow] afterwards. A state of other rows is an error and changes nothing.
func (r *Record) SetState(s State) error {
	n := len(r.cfg.IDs)
	for _, list := range r.listCounts() {
		if got := len(s.Counts[list.name]); got != n {
			return fmt.Errorf("samples: state: %s of %d rows, expected %d", list.name, got, n)
		}
	}
	for _, list := range r.listSums() {
		if got := len(s.Sums[list.name]); got != n {
			return fmt.Errorf("samples: state: %s of %d rows, expected %d", list.name, got, n)
		}
	}
	if s.Pushed < 0 {
		return fmt.Errorf("samples: state: %d vectors pushed, expected 0 or more", s.Pushed)
	}
	for _, list := range r.listCounts() {
		*list.of = s.Counts[list.name]
	}
	for _, list := range r.listSums() {
		*list.of = s.Sums[list.name]
	}
	r.judge, r.members = s.Judge, &members{pushed: s.Pushed}
	return nil
}

// CountNames returns the names of the uint32 lists in every state.
func CountNames() (names []string) {
	for _, list := range new(Record).listCounts() {
		names = append(names, list.name)
	}
	return names
}

// SumNames returns the names of the float64 lists.
func SumNames() (names []string) {
	for _, list := range new(Record).listSums() {
		names = append(names, list.name)
	}
	return names
}
