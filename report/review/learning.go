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

// learning ranks the undecided images of an audit again after each batch of decisions ([learn.Review]), in the
// background. It lasts as long as the server: the next one learns from the stored decisions.
type learning struct {
	number map[string]int // classes
	worker sync.WaitGroup

	mutex  sync.Mutex
	waits  []learn.Decision // not learned from yet
	added  int              // decisions in all
	works  chan struct{}    // closed when the worker has learned; nil: it does not work
	review *learn.Review    // only the worker uses it; nil: nothing is learned yet
	order  []int            // ids; nil: the list's order
	failed error
}

const (
	// mostLearned is the largest number of images, the most suspect ones, whose vectors are learned from: those of
	// 300,000 images take up to 2 GB. Others are judged by the audit and by their classes.
	mostLearned = 300_000
	// longestWait is how long a page waits for the learned order; then it shows the one before.
	longestWait = 2 * time.Second
)

// newLearning begins with the decisions made before. It returns nil if there is nothing to learn from or for: no
// vectors, no audit, or a list that keeps its order, such as images drawn at random.
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

// learnSoon learns from what waits, in the background, once a batch of decisions is full.
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

// learnOrder learns from decisions. It returns all images in the new order: what is not decided, the likeliest wrong
// first, then all others; nil if the order stays.
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

// readVectors reads the vectors of images, in the turn of a search. It is an error if none has one.
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

// getLearnedOrder returns all images in the learned order, or nil for the list's order.
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

// isLearning reports whether the order of undecided images follows the decisions.
func (l *learning) isLearning() bool {
	if l == nil {
		return false
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.failed == nil
}
