package review

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/audit/learn"
	"winnow/audit/suspects"
)

// learning reranks the undecided images of an audit in the background after each batch of decisions ([learn.Review]).
// It is kept in memory; a restarted server learns again from the stored decisions.
type learning struct {
	number map[string]int // class name → number
	worker sync.WaitGroup

	mutex  sync.Mutex
	waits  []learn.Decision // decisions to learn from
	added  int              // total number of decisions
	works  chan struct{}    // closed when the worker is idle again; nil: idle
	review *learn.Review    // used only by the worker; nil before the first batch
	order  []int            // ids; nil: the order of the audit
	failed error
}

const (
	// mostLearned is the maximum number of images whose vectors are used, most suspect first; 300,000 vectors take
	// up to 2 GB. The other images are ranked by the audit's scores and by their classes.
	mostLearned = 300_000
	// longestWait is the maximum time that a page waits for the new order before it uses the previous order.
	longestWait = 2 * time.Second
)

// newLearning returns a learning with the stored decisions. It returns nil if reranking is not possible or not wanted:
// without vectors, without an audit, or for a list that keeps its order, such as images drawn at random.
func (r *Reviewer) newLearning() *learning {
	t := r.table
	if _, ok := r.Finder.(Vectors); !ok || t.audited == 0 || t.drawn || r.KeepOrder {
		return nil
	}
	l := &learning{number: map[string]int{}}
	for i, name := range t.classes {
		l.number[name] = i
	}
	type made struct {
		id int
		vote
	}
	var before []made
	for id, votes := range r.decided.votes[:t.audited] {
		for _, v := range votes {
			if v.Action != undecided {
				before = append(before, made{id, v})
			}
		}
	}
	slices.SortStableFunc(before, func(a, b made) int { return cmp.Compare(a.Change, b.Change) })
	for _, v := range before {
		l.addVote(v.id, v.vote)
	}
	return l
}

// addVote adds a vote about an image of the audit.
func (l *learning) addVote(id int, v vote) {
	d := learn.Decision{Image: id, Reviewer: v.Reviewer, Label: learn.None}
	switch v.Action {
	case keep:
		d.Verdict = learn.Right
	case drop:
		d.Verdict = learn.Wrong
	case relabel:
		d.Verdict = learn.Wrong
		if number, ok := l.number[v.Label]; ok {
			d.Label = number
		}
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.waits, l.added = append(l.waits, d), l.added+1
}

// learnSoon starts the worker if it is idle, decisions are waiting, and the first batch of decisions is complete.
func (r *Reviewer) learnSoon() {
	l := r.learning
	if l == nil {
		return
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if l.works != nil || l.failed != nil || r.ending.Err() != nil || len(l.waits) == 0 || l.added < learn.Batch {
		return
	}
	l.works = make(chan struct{})
	l.worker.Go(func() {
		for {
			l.mutex.Lock()
			waits := l.waits
			if l.waits = nil; len(waits) == 0 || l.failed != nil || r.ending.Err() != nil {
				close(l.works)
				l.works = nil
				l.mutex.Unlock()
				return
			}
			l.mutex.Unlock()
			order, err := r.learnOrder(waits)
			l.mutex.Lock()
			if l.failed = err; order != nil {
				l.order = order
			}
			l.mutex.Unlock()
		}
	})
}

// learnOrder learns from decisions and returns all images in the new order: the undecided images, the most likely wrong
// first, then the others. It returns nil if the order does not change.
func (r *Reviewer) learnOrder(made []learn.Decision) ([]int, error) {
	l, t := r.learning, r.table
	if l.review == nil {
		var paths []string
		e := make([]suspects.Suspect, t.audited)
		for id := range e {
			if e[id] = t.images[id].Suspect; id < mostLearned {
				paths = append(paths, e[id].Path)
			}
		}
		x, err := r.readVectors(paths)
		if err != nil {
			return nil, err
		}
		learner, err := learn.New(r.ending, learn.EvidenceOf(e, l.number, x))
		if err != nil {
			return nil, err
		}
		l.review = learn.NewReview(learner)
	}
	if !l.review.Add(made...) {
		return nil, nil
	}
	order := l.review.Order()
	ahead := make([]bool, len(t.images))
	for _, id := range order {
		ahead[id] = true
	}
	for id := range t.images {
		if !ahead[id] {
			order = append(order, id)
		}
	}
	return order, nil
}

// readVectors waits for the finder and returns the vectors of images. It is an error if no image has a vector.
func (r *Reviewer) readVectors(paths []string) (x blas32.General, err error) {
	if err := r.takeTurn(r.ending); err != nil {
		return x, err
	}
	defer func() { <-r.turn }()
	x, absent, err := r.Finder.(Vectors).Rows(paths)
	if err == nil && absent == len(paths) {
		err = ErrNoVector
	}
	return x, err
}

// getLearnedOrder returns all images in the learned order, or nil for the audit's order.
func (r *Reviewer) getLearnedOrder() []int {
	l := r.learning
	if l == nil {
		return nil
	}
	l.mutex.Lock()
	works := l.works
	l.mutex.Unlock()
	if works != nil {
		select {
		case <-works:
		case <-time.After(longestWait):
		}
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.order
}

// isLearning reports whether the undecided images are reranked after decisions.
func (l *learning) isLearning() bool {
	if l == nil {
		return false
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.failed == nil
}
