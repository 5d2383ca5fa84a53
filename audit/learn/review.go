package learn

import (
	"cmp"
	"slices"
)

// Batch is the number of decisions after which a [Review] learns again.
const Batch = 20

// Review learns from decisions in the order in which they are made, one [Batch] at a time. The experts are judged by
// what they predicted before each batch, so that the same decisions in the same order give the same state, however they
// are divided over calls.
type Review struct {
	learner *Learner
	log     []Decision
	learnt  int // decisions of log that the state knows
	state   *State
}

// NewReview begins a review without decisions.
func NewReview(l *Learner) *Review { return &Review{learner: l, state: l.Learn(nil)} }

// Add adds decisions and learns from each full batch. It reports whether there was one.
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

// Order returns the images that are not settled in the order in which to show them: first what is chosen for a batch,
// then the others, those likeliest wrong first.
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
