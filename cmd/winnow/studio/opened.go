package studio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"winnow/cmd/winnow/term"
	"winnow/models"
	"winnow/report/review"
	"winnow/run/extraction"
)

// opened is the set that the server shows. When an audit is done that the page started, the set is opened again with
// its list, while the requests wait.
type opened struct {
	p   *term.Program
	end context.CancelFunc // ends the server

	mutex  sync.RWMutex // requests hold it for reading
	o      Options
	r      *review.Reviewer
	page   http.Handler
	closes func() error
	list   string // that the audit writes
	failed error  // the set can no longer be opened
}

// openSet opens the set as o says, with what the page can start. s.mutex is held, or s is new.
func (s *opened) openSet(o Options) error {
	o.Missing = listMissingCommands(o)
	r, closes, err := review.Open(o.Files, s.p.Host())
	if err != nil {
		return err
	}
	r.Next = listNextCommands(o, r.Out, r.Out != "")
	s.o, s.r, s.page, s.closes = o, r, r.Handler(), closes
	return nil
}

// ServeHTTP implements [http.Handler].
func (s *opened) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	s.page.ServeHTTP(w, req)
}

// listWords returns the arguments of a job. A request holds s.mutex.
func (s *opened) listWords(kind string) ([]string, error) {
	network := s.findNetwork()
	switch {
	case kind == review.NetworkJob && network.Name != "":
		return append([]string{"models", "get", network.Name}, s.o.Global...), nil
	case kind == review.AuditJob && s.r.Missing.Audit != "" && network.Name == "":
		if s.list = nameNewList(s.o.Manifest); s.list == "" {
			return nil, fmt.Errorf("%s and %s exist already: move one of them away", usualList,
				nameOwnList(s.o.Manifest))
		}
		words := append(listAuditWords(s.o), s.o.Global...)
		if s.o.Names != "" {
			words = append(words, "--names", s.o.Names)
		}
		return words, nil
	}
	return nil, fmt.Errorf("%.40q cannot be started now: reload the page", kind)
}

// findNetwork returns the network to download if none that is installed fits these images.
func (s *opened) findNetwork() (n review.Network) {
	if _, _, err := extraction.Choose(s.r.Manifest.Classes); err != nil {
		n.Name, n.Bytes = models.Small()
	}
	return n
}

// finish opens the set again with the list of an audit that is done. If that fails, the page stays as it was.
func (s *opened) finish(kind string) error {
	if kind != review.AuditJob {
		return nil
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	was, o := s.o, s.o
	o.Audit, o.Guessed = s.list, false
	o.Features = featuresOf(o.Audit)
	err := s.closes()
	if err == nil {
		err = s.openSet(o)
	}
	if err == nil {
		return nil
	}
	if again := s.openSet(was); again != nil {
		s.closes = func() error { return nil }
		s.failed = errors.Join(err, again)
		s.end()
	}
	return err
}
