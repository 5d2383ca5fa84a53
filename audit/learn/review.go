package learn

import (
	"cmp"
	"slices"
)

// Batch is the number of decisions after which a [Review] learns again.
const Batch = 20

// Review learns from decisions in the order in which they are made, one [Batch] at a time. The experts are weighed by
// their predictions before each batch. So the same decisions in the same order give the same state, however they are
// divided among calls of Add.
type Review struct {
	learner *Learner
	log     []Decision
	learnt  int // number of decisions in log that state includes
	state   *State
}

// NewReview returns a review without decisions.
func NewReview(l *Learner) *Review { return &Review{learner: l, state: l.Learn(nil)} }

// Add adds decisions and learns from each full batch. It reports whether a batch was full.
func (r *Review) Add(decisions ...Decision) (learned bool) {
	r.log = append(r.log, decisions...)
	for len(r.log) >= r.learnt+Batch {
		for i := r.learnt; i < r.learnt+Batch; i++ {
			d := &r.log[i]
			d.audited, d.learned = r.state.audited[d.Image], r.state.learned[d.Image]
		}
		r.learnt += Batch
		r.state, learned = r.learner.Learn(r.log[:r.learnt]), true
	}
	return learned
}

// Order returns the open images in the order in which to show them: first the images chosen for the next batch, then
// the others, most likely wrong first.
func (r *Review) Order() []int {
	s := r.state
	var order []int
	for i, v := range s.Settled {
		if v == Unsure {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(s.Wrong[j], s.Wrong[i]), cmp.Compare(s.base.Rank[i], s.base.Rank[j]))
	})
	chosen := s.chooseBatch(order)
	rest := slices.DeleteFunc(order, func(i int) bool { return slices.Contains(chosen, i) })
	return append(chosen, rest...)
}
