package review

import (
	"net/http"
	"sync"

	"winnow/report/reply"
)

// PageFiles answers requests for the files of the page: "/live.html", "/dom.js", "/page.css", and so on.
func PageFiles() http.Handler {
	parts := pageParts()
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		p, ok := parts[req.URL.Path]
		if !ok || req.Method != http.MethodGet {
			answerError(w, reply.Refuse(http.StatusNotFound, "there is nothing at %.100q", req.URL.Path))
			return
		}
		p.get(w, req)
	})
}

// Switch passes requests to a handler that can be changed while it serves.
type Switch struct {
	mutex   sync.RWMutex
	handler http.Handler
}

// ServeHTTP implements [http.Handler].
func (s *Switch) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	s.handler.ServeHTTP(w, req)
}

// Change lets the present requests end, keeps later ones waiting, and puts in place what next returns.
func (s *Switch) Change(next func() http.Handler) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.handler = next()
}
