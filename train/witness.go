package train

import (
	"winnow/features"
	"winnow/filters"
	"winnow/losses"
	"winnow/train/archive"
	"winnow/train/samples"
)

// witness is what a trainer needs to pass a step to [samples.Record]. It does not change the training: the
// filter decides as in a run without a record.
type witness struct {
	judge    *filters.Filter // whose verdicts are recorded; nil: none are
	verdicts []filters.Verdict
	own      []int // positions in the bank of one row's members
	pushed   []int // training rows pushed into the bank
}

// openSamples determines what can be recorded.
func (t *Trainer) openSamples() error {
	if t.Samples == nil {
		return nil
	}
	if t.SelfPaced == nil { // terms of weighted samples would show how little a suspect counts, not how badly it fits
		t.objective.noteTerms()
	}
	switch {
	case t.Watch != nil:
		t.witness.judge = t.Watch
	case t.Bank != nil:
		t.witness.judge = t.Filter
	}
	if j := t.witness.judge; j != nil && !j.Observe() {
		t.witness.judge = nil
	}
	if t.witness.judge != nil {
		return t.Samples.Follow(t.Bank)
	}
	return nil
}

// witnessStep passes a step to the record, after the losses and before the bank changes.
func (t *Trainer) witnessStep(rows []int, known features.Set) {
	if t.Samples == nil {
		return
	}
	f, w := &t.fact, &t.witness
	v := samples.Visit{Step: f.Number, Rows: rows[:known.Len()], Labels: known.Labels, Kept: f.Kept}
	if t.objective.noting {
		v.Losses, v.Lossed = t.objective.rows, f.Kept
		if t.chooser != nil { // the loss receives all rows
			v.Lossed = t.all
		}
	}
	if w.judge != nil {
		if t.Watch != nil {
			t.Watch.Keep(known, t.Bank)
		}
		v.Judge = w.judge.Judge()
		w.verdicts = w.judge.LeaveOut(w.verdicts, known, t.Bank, func(i int) []int {
			w.own = t.Samples.Members(w.own[:0], rows[i])
			return w.own
		})
		v.Verdicts = w.verdicts
	}
	t.Samples.Add(v)
	if w.judge == nil {
		return
	}
	w.pushed = w.pushed[:0]
	for _, at := range f.Kept {
		w.pushed = append(w.pushed, rows[at])
	}
	t.Samples.Pushed(w.pushed)
}

// withoutTerms returns the name of the first term whose loss is not a sum of terms of rows, so that samples
// have no loss of their own, or "" if there is none.
func withoutTerms(terms []Term) string {
	for _, t := range terms {
		if l, ok := t.Loss.(losses.RowWise); !ok || !l.NoteTerms() {
			return t.Name
		}
	}
	return ""
}

// noteTerms makes every eval add up the rows' terms, if all losses have terms.
func (o *objective) noteTerms() { o.noting = withoutTerms(o.terms) == "" }

// startTerms starts a batch.
func (o *objective) startTerms(rows int) {
	if !o.noting {
		return
	}
	o.rows = features.Grow(o.rows, rows)
	clear(o.rows)
}

// addTerms adds the terms of the loss evaluated last.
func (o *objective) addTerms(t Term) {
	if !o.noting {
		return
	}
	for i, v := range t.Loss.(losses.RowWise).Terms() {
		o.rows[i] += t.Weight * v
	}
}

// witnessState is the record's part of a checkpoint's header.
type witnessState struct {
	Judge  string         `json:"judge,omitempty"`
	Pushed int            `json:"pushed,omitempty"`
	Watch  *filters.State `json:"watch,omitempty"`
}

// captureSamples adds the record's lists to the arrays.
func (t *Trainer) captureSamples(arrays []archive.Array) (*witnessState, []archive.Array) {
	s := t.Samples.State()
	for _, name := range samples.CountNames() {
		arrays = append(arrays, archive.Uint32s("samples/"+name, s.Counts[name]))
	}
	for _, name := range samples.SumNames() {
		arrays = append(arrays, archive.Float64s("samples/"+name, s.Sums[name]))
	}
	w := &witnessState{Judge: s.Judge, Pushed: s.Pushed}
	if t.Watch != nil {
		f := t.Watch.State()
		w.Watch = &f
	}
	return w, arrays
}

// restoreSamples is the inverse of captureSamples; the bank must have been restored.
func (t *Trainer) restoreSamples(w *witnessState, arrays map[string]archive.Array) error {
	s := samples.State{Judge: w.Judge, Pushed: w.Pushed, Counts: map[string][]uint32{}, Sums: map[string][]float64{}}
	for _, name := range samples.CountNames() {
		s.Counts[name] = arrays["samples/"+name].U32
	}
	for _, name := range samples.SumNames() {
		s.Sums[name] = arrays["samples/"+name].F64
	}
	if err := t.Samples.SetState(s); err != nil {
		return err
	}
	if t.witness.judge != nil {
		if err := t.Samples.Follow(t.Bank); err != nil {
			return err
		}
	}
	if t.Watch != nil {
		return t.Watch.SetState(*w.Watch)
	}
	return nil
}
