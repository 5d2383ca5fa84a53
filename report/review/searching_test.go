package review

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"testing"
	"time"
)

// heldFinder searches until it is let go or no longer wanted.
type heldFinder struct {
	fakeFinder
	begun chan string   // paths
	held  chan struct{} // closed: let go
}

func newHeldFinder() *heldFinder {
	return &heldFinder{begun: make(chan string, 1000), held: make(chan struct{})}
}

func (f *heldFinder) Similar(ctx context.Context, paths []string, n int) ([]Found, error) {
	f.begun <- paths[0]
	select {
	case <-f.held:
		return f.fakeFinder.Similar(ctx, paths, n)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// newHeldWorld is a world whose searches are held. What hangs for minutes fails.
func newHeldWorld(t *testing.T) (*world, *heldFinder) {
	t.Helper()
	w := newWorld(t, 200)
	f := newHeldFinder()
	w.close()
	w.open(func(c *Config) { c.Finder = f })
	w.server.Client().Timeout = 2 * time.Minute
	return w, f
}

// similar asks for what is like an image, and answers with the status.
func (w *world) similar(key int, tab string) <-chan int {
	answer := make(chan int, 1)
	go func() {
		defer close(answer)
		req, err := http.NewRequest("GET", fmt.Sprintf("%s/api/similar?key=%d&n=2&tab=%s", w.server.URL, key, tab), nil)
		if err != nil {
			w.t.Error(err)
			return
		}
		req.Header.Set("Authorization", "Bearer "+testToken)
		a, err := w.server.Client().Do(req)
		if err != nil {
			w.t.Error(err)
			return
		}
		a.Body.Close()
		answer <- a.StatusCode
	}()
	return answer
}

// TestSearchesHoldNothing: a hundred searches do not slow other requests; those that the queue has no place for
// are refused at once.
func TestSearchesHoldNothing(t *testing.T) {
	const clients = 100
	w, f := newHeldWorld(t)
	answers := make(chan int, clients)
	for i := range clients {
		go func() { answers <- <-w.similar(10+i%8, fmt.Sprint("tab", i)) }()
	}
	for range clients - mostSearches {
		if status := <-answers; status != http.StatusServiceUnavailable {
			t.Fatalf("one search too many: %d", status)
		}
	}
	<-f.begun
	w.must("GET", "/api/rows?limit=5", "", nil)
	w.must("GET", "/thumb/1", "", nil)
	w.decide("t", http.StatusOK, on(0, "drop", "", 0))
	select {
	case <-f.begun:
		t.Error("two searches run at the same time")
	default:
	}
	close(f.held)
	for range mostSearches {
		if status := <-answers; status != http.StatusOK {
			t.Errorf("one that waited: %d", status)
		}
	}
}

// TestLastSearchWins: a tab's search ends when the tab starts another one, whether it runs or waits; other
// tabs' searches go on.
func TestLastSearchWins(t *testing.T) {
	w, f := newHeldWorld(t)
	first := w.similar(10, "one")
	if path := <-f.begun; path != pathOf(10) {
		t.Fatalf("searched for %s", path)
	}
	other := w.similar(11, "two")
	for len(w.review.searches.list()) < 2 {
		runtime.Gosched()
	}
	waiting := w.similar(12, "one")
	if status := <-first; status != http.StatusConflict {
		t.Errorf("the one that ran: %d", status)
	}
	last := w.similar(13, "one") // whether the one before it waits or, the first to take the turn, runs
	if status := <-waiting; status != http.StatusConflict {
		t.Errorf("the one that waited: %d", status)
	}
	close(f.held)
	for _, answer := range []<-chan int{other, last} {
		if status := <-answer; status != http.StatusOK {
			t.Errorf("wanted, and got %d", status)
		}
	}
	begun := map[string]int{}
	for len(f.begun) > 0 {
		begun[<-f.begun]++
	}
	if delete(begun, pathOf(12)); len(begun) != 2 || begun[pathOf(11)] != 1 || begun[pathOf(13)] != 1 {
		t.Errorf("then searched for %v, expected the other tab's and the last one", begun)
	}
}

// TestSearchGivenUp: a search whose client has gone ends and frees its place.
func TestSearchGivenUp(t *testing.T) {
	s := newSearches()
	var leave []func()
	for i := range mostSearches {
		_, back, err := s.enterQueue(t.Context(), fmt.Sprint(i))
		if err != nil {
			t.Fatal(err)
		}
		leave = append(leave, back)
	}
	if _, _, err := s.enterQueue(t.Context(), ""); err == nil {
		t.Error("there is no end of places")
	}
	_, again, err := s.enterQueue(t.Context(), "3")
	if err != nil {
		t.Fatalf("a tab that has a place: %v", err)
	}
	leave[3]() // of the search before: its place is taken
	if _, _, err := s.enterQueue(t.Context(), ""); err == nil {
		t.Error("a place was given back twice")
	}
	again()
	gone, stop := context.WithCancel(t.Context())
	ctx, back, err := s.enterQueue(gone, "")
	if err != nil {
		t.Fatal(err)
	}
	s.turn <- struct{}{}
	stop()
	if _, err := s.runInTurn(ctx, nil); err == nil {
		t.Error("it searched for a client that has gone")
	}
	back()
	for _, back := range leave {
		back()
	}
	if left := s.list(); len(left) > 0 {
		t.Errorf("%d places are taken", len(left))
	}
}

// list returns the tabs that have a place.
func (s *searches) list() (tabs []string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	for _, w := range s.wanted {
		tabs = append(tabs, w.tab)
	}
	return tabs
}
