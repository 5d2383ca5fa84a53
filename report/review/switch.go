package review

import (
	"net/http"
	"sync"
)

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
