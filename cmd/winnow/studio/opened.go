package studio

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"

	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/train"
	"winnow/datasets"
	"winnow/models"
	"winnow/report/review"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
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
	failed error // the set can no longer be opened
}

// openSet opens the set as o says, with what the page can start. s.mutex is held, or s is new.
func (s *opened) openSet(o Options) error {
	o.Missing = listMissingCommands(o)
	r, closes, err := review.Open(o.Files, s.p.Host())
	if err != nil {
		return err
	}
	s.o, s.r, s.page, s.closes = o, r, r.Handler(), closes
	s.nameTraining()
	return nil
}

// ServeHTTP implements [http.Handler].
func (s *opened) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	s.mutex.RLock()
	defer s.mutex.RUnlock()
	s.page.ServeHTTP(w, req)
}

// nameTraining sets the command on the page that trains. s.mutex is held, or s is new.
func (s *opened) nameTraining() {
	words, _ := listTrainWords(s.o, s.r.Decisions.Path)
	s.r.Train = term.Quoted(append([]string{"winnow"}, words...))
}

// listWords returns the arguments of a job and what it writes. A request holds s.mutex.
func (s *opened) listWords(kind string) (words []string, out string, err error) {
	network := s.findNetwork()
	switch {
	case kind == review.NetworkJob && network.Name != "":
		words = []string{"models", "get", network.Name}
	case kind == review.TrainJob && s.o.Columns != datasets.Names{}:
		return nil, "", errors.New("a training reads only columns with the usual names (path, label, split): rename " +
			"those that the studio was started with")
	case kind == review.TrainJob:
		words, out = listTrainWords(s.o, s.r.Decisions.Path)
	case kind == review.AuditJob && s.r.Missing.Audit != "" && network.Name == "":
		if out = nameNewList(s.o.Manifest); out == "" {
			return nil, "", fmt.Errorf("%s and %s exist already: move one of them away", usualList,
				nameOwnList(s.o.Manifest))
		}
		words = listAuditWords(s.o)
		if s.o.Names != "" {
			words = append(words, "--names", s.o.Names)
		}
	default:
		return nil, "", fmt.Errorf("%.40q cannot be started now: reload the page", kind)
	}
	return append(words, s.o.Global...), out, nil
}

// findNetwork returns the network to download if none that is installed fits these images.
func (s *opened) findNetwork() (n review.Network) {
	if _, _, err := extraction.Choose(s.r.Manifest.Classes); err != nil {
		n.Name, n.Bytes = models.Small()
	}
	return n
}

// trained is what the page shows of a training that is done, as winnow train prints it.
type trained struct {
	Images  int          `json:"images"` // held out from the training, and compared in Rows
	Rows    []folder.Row `json:"rows"`   // empty without images held out
	Verdict string       `json:"verdict"`
	Next    []string     `json:"next"` // commands that use the run
}

// finish returns the result of a training that is done, and opens the list of an audit that is done.
func (s *opened) finish(kind, out string) (any, error) {
	switch kind {
	case review.AuditJob:
		return nil, s.openList(out)
	case review.TrainJob:
		result, err := folder.ReadResult(out)
		if err != nil {
			return nil, err
		}
		s.mutex.Lock()
		defer s.mutex.Unlock()
		s.nameTraining() // the next one gets another folder
		t := trained{Verdict: result.Verdict, Rows: []folder.Row{}, Next: train.ListNext(out,
			config.Data{Manifest: s.o.Manifest.String(), Root: s.o.Root.String()})}
		if v := result.Validation; v != nil {
			t.Images, t.Rows = v.Trained.N, v.Rows
		}
		return t, nil
	}
	return nil, nil
}

// openList opens the set again with the list of an audit. If that fails, the page stays as it was.
func (s *opened) openList(list string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	was, o := s.o, s.o
	o.Audit, o.Guessed = list, false
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
