package review

import (
	"context"
	"net/http"
	"slices"
	"sync"
)

// mostSearches is how many searches may run or wait at the same time. More are refused, because their answers
// would come too late to be useful.
const mostSearches = 16

// searches is the queue of searches for similar images. One search runs at a time, and only the latest of each
// tab is wanted. The queue is separate, so that nothing else waits for searches.
type searches struct {
	turn   chan struct{} // one at a time
	mutex  sync.Mutex
	wanted []*wanted
}

// wanted is a search that runs or waits.
type wanted struct {
	tab  string // "": no tab
	stop context.CancelCauseFunc
}

func newSearches() *searches { return &searches{turn: make(chan struct{}, 1)} }

// enterQueue takes a place in the queue. If the tab has a search already, that one ends. The context ends with the
// request, or when the search is no longer wanted; leave frees the place.
func (s *searches) enterQueue(ctx context.Context, tab string) (_ context.Context, leave func(), err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if at := slices.IndexFunc(s.wanted, func(w *wanted) bool { return tab != "" && w.tab == tab }); at >= 0 {
		s.wanted[at].stop(refuseWith(http.StatusConflict, "the tab has asked for another search since"))
		s.wanted = slices.Delete(s.wanted, at, at+1)
	}
	if len(s.wanted) >= mostSearches {
		return nil, nil, refuseWith(http.StatusServiceUnavailable,
			"%d other searches come first: try again in a moment",
			mostSearches)
	}
	ctx, stop := context.WithCancelCause(ctx)
	w := &wanted{tab, stop}
	s.wanted = append(s.wanted, w)
	return ctx, func() {
		s.mutex.Lock()
		defer s.mutex.Unlock()
		stop(nil)
		s.wanted = slices.DeleteFunc(s.wanted, func(other *wanted) bool { return other == w })
	}, nil
}

// runInTurn runs a search when its turn comes.
func (s *searches) runInTurn(ctx context.Context, look func(context.Context) ([]Found, error)) ([]Found, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, explainEnd(ctx)
	}
	list, err := look(ctx)
	if ctx.Err() != nil {
		return nil, explainEnd(ctx)
	}
	return list, err
}

// explainEnd returns the reason why a context ended.
func explainEnd(ctx context.Context) error {
	err := context.Cause(ctx)
	if isRefusal(err) {
		return err
	}
	return refuseWith(http.StatusServiceUnavailable, "%v", err)
}
