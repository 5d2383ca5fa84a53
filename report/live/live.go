// Package live answers a page's requests about trainings, from the files in their folders: which there are, how each
// goes while it runs, and its report. It reads only; a training never waits for it. It draws what package report draws.
//
// [Server.Handler] answers the requests. Put it behind a guard: no path comes from a request, a run is named by a key.
package live

import (
	"context"
	"hash/fnv"
	"net/http"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"winnow/report/chart"
	"winnow/report/reply"
)

// Config says which runs are shown.
type Config struct {
	Search Search
	Report func(ctx context.Context, dir string) ([]byte, error) // makes the page of a run, as winnow report does
	Now    func() time.Time                                      // nil: the system's clock
}

// Server answers requests about runs.
type Server struct {
	c      Config
	ending context.Context // done when the server ends
	end    context.CancelFunc

	mutex   sync.Mutex
	runs    map[string]*watched // by key
	order   []string            // keys, in the order of the list
	found   searched
	scanned time.Time // of the last search

	making   sync.Mutex // one report at a time
	reported string     // the state of the run that report, the last one, is of
	report   []byte
}

// New returns a server. Call [Server.End] when it is no longer needed.
func New(c Config) *Server {
	if c.Now == nil {
		c.Now = time.Now
	}
	s := &Server{c: c, runs: map[string]*watched{}}
	s.ending, s.end = context.WithCancel(context.Background())
	return s
}

// End stops the reports that are being made.
func (s *Server) End() { s.end() }

// keyOf returns the key of a folder in addresses.
func keyOf(dir string) string {
	if at, err := filepath.Abs(dir); err == nil {
		dir = at
	}
	h := fnv.New64a()
	h.Write([]byte(dir)) // never fails
	return strconv.FormatUint(h.Sum64(), 36)
}

// between is how long a search is not repeated.
const between = 10 * time.Second

// searchAgain returns the runs. It searches again if the last search is some time ago, or at once.
func (s *Server) searchAgain(ctx context.Context, now bool) (list []*watched, found searched) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if now || s.scanned.IsZero() || s.c.Now().Sub(s.scanned) > between {
		var dirs []string
		dirs, s.found = s.c.Search.findFolders(ctx)
		s.order, s.scanned = nil, s.c.Now()
		for _, dir := range dirs {
			key := keyOf(dir)
			if s.runs[key] == nil {
				s.runs[key] = &watched{dir: dir, key: key, c: &s.c}
			}
			s.order = append(s.order, key)
		}
	}
	for _, key := range s.order {
		list = append(list, s.runs[key])
	}
	return list, s.found
}

// findWatchedRun returns the run of a key.
func (s *Server) findWatchedRun(key string) (*watched, error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if w := s.runs[key]; w != nil {
		return w, nil
	}
	return nil, reply.Refuse(http.StatusNotFound, "no run has the key %.40q: look at the list again", key)
}

// Handler answers these addresses; all are read only.
//
//	/api/runs?look=1    the runs that were found; look: search again
//	/api/run?run=KEY    how a run goes
//	/report?run=KEY     the page of a run
//	/chart.css          the style of the curves
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/runs", s.getRuns)
	mux.HandleFunc("GET /api/run", s.getRun)
	mux.HandleFunc("GET /report", s.getReport)
	mux.HandleFunc("GET /chart.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write([]byte(chart.Stylesheet())) // the client may be gone
	})
	return mux
}

func (s *Server) getRuns(w http.ResponseWriter, req *http.Request) {
	runs, found := s.searchAgain(req.Context(), req.URL.Query().Has("look"))
	list := []brief{}
	for _, r := range runs {
		list = append(list, r.describeBriefly())
	}
	reply.JSON(w, http.StatusOK, map[string]any{"runs": list, "search": found})
}

func (s *Server) getRun(w http.ResponseWriter, req *http.Request) {
	r, err := s.findWatchedRun(req.URL.Query().Get("run"))
	if err != nil {
		reply.Error(w, err)
		return
	}
	reply.JSON(w, http.StatusOK, r.describeRun())
}

// getReport sends the page of a run. It is made when it is first asked for, also if the client does not wait.
func (s *Server) getReport(w http.ResponseWriter, req *http.Request) {
	page, err := s.makeReport(req.URL.Query().Get("run"))
	if err != nil {
		reply.Error(w, err)
		return
	}
	sendPage(w, page)
}

func (s *Server) makeReport(key string) ([]byte, error) {
	r, err := s.findWatchedRun(key)
	if err != nil {
		return nil, err
	}
	b := r.describeBriefly()
	if b.State != Finished {
		return nil, reply.Refuse(http.StatusConflict, "%s is not finished: its report is made when it is", r.dir)
	}
	s.making.Lock()
	defer s.making.Unlock()
	if s.reported != key+b.Started.String() {
		if s.report, err = s.c.Report(s.ending, r.dir); err != nil {
			return nil, err
		}
		s.reported = key + b.Started.String()
	}
	return s.report, nil
}

// sendPage sends a page that is a file of its own, with style and scripts in it. It is in a sandbox: it can read
// nothing of the server's.
func sendPage(w http.ResponseWriter, page []byte) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; "+
		"style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'")
	_, _ = w.Write(page) // the client may be gone
}
