// Package live answers a page's requests about trainings, from the files in their folders: which there are, how each
// goes while it runs, and its report. It reads only; a training never waits for it. It draws what package report draws.
//
// [Server.Handler] answers the requests. Put it behind a guard: no path comes from a request, a run is named by a key.
package live

import (
	"context"
	"errors"
	"hash/fnv"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"winnow/report"
	"winnow/report/chart"
	"winnow/report/reply"
	"winnow/report/review/pictures"
)

// Config says which runs are shown.
type Config struct {
	Runs   []string                                              // folders of runs that are always shown
	Search *Search                                               // finds more; nil: none
	Called func(label string) string                             // how a class is called; nil: as its label
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
	found   Found
	scanned time.Time // of the last search

	making  sync.Mutex // one report at a time
	reports map[string][]byte
}

// New returns a server. Call [Server.End] when it is no longer needed.
func New(c Config) *Server {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Called == nil {
		c.Called = func(label string) string { return label }
	}
	s := &Server{c: c, runs: map[string]*watched{}, reports: map[string][]byte{}}
	s.ending, s.end = context.WithCancel(context.Background())
	s.listRuns(c.Runs)
	return s
}

// End stops the reports that are being made.
func (s *Server) End() { s.end() }

// Key returns the key of a folder in addresses.
func Key(dir string) string {
	if at, err := filepath.Abs(dir); err == nil {
		dir = at
	}
	h := fnv.New64a()
	h.Write([]byte(dir)) // never fails
	return strconv.FormatUint(h.Sum64(), 36)
}

// listRuns makes runs of the folders the listed ones, in this order. s.mutex is held, or s is new.
func (s *Server) listRuns(dirs []string) {
	s.order = s.order[:0]
	for _, dir := range dirs {
		key := Key(dir)
		if s.runs[key] == nil {
			s.runs[key] = &watched{dir: dir, key: key, c: &s.c, paths: map[int]string{}}
		}
		s.order = append(s.order, key)
	}
}

// between is how long a search is not repeated.
const between = 10 * time.Second

// searchAgain searches again if the last search is some time ago, or at once.
func (s *Server) searchAgain(ctx context.Context, now bool) ([]*watched, Found) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.c.Search != nil && (now || s.scanned.IsZero() || s.c.Now().Sub(s.scanned) > between) {
		s.found, s.scanned = s.c.Search.findFolders(ctx), s.c.Now()
		s.listRuns(append(append([]string{}, s.c.Runs...), s.found.Runs...))
	}
	var list []*watched
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
//	/api/runs?look=1           the runs and audits that were found; look: search again
//	/api/runs/compare?run=KEY&run=KEY  finished runs compared in words
//	/api/run?run=KEY           how a run goes
//	/api/run/thumb?run=KEY&image=ROW  a picture whose label the run's filter dropped
//	/report?run=KEY            the page of a run
//	/audit?audit=KEY           the page of an audit
//	/chart.css                 the style of the curves
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/runs", s.getRuns)
	mux.HandleFunc("GET /api/runs/compare", s.getCompared)
	mux.HandleFunc("GET /api/run", s.getRun)
	mux.HandleFunc("GET /api/run/thumb", s.getThumb)
	mux.HandleFunc("GET /report", s.getReport)
	mux.HandleFunc("GET /audit", s.getAudit)
	mux.HandleFunc("GET /chart.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write([]byte(chart.Stylesheet())) // the client may be gone
	})
	return mux
}

func (s *Server) getRuns(w http.ResponseWriter, req *http.Request) {
	runs, found := s.searchAgain(req.Context(), req.URL.Query().Has("look"))
	list := struct {
		Runs   []brief  `json:"runs"`
		Audits []Audit  `json:"audits"`
		Search searched `json:"search"`
	}{[]brief{}, []Audit{}, found.searched}
	for _, r := range runs {
		list.Runs = append(list.Runs, r.describeBriefly())
	}
	list.Audits = append(list.Audits, found.Audits...)
	reply.JSON(w, http.StatusOK, list)
}

func (s *Server) getCompared(w http.ResponseWriter, req *http.Request) {
	dirs, _, err := s.parseRunNames(req.URL.Query())
	var words []string
	if err == nil {
		words, err = report.InWords(dirs)
	}
	if err != nil {
		reply.Error(w, err)
		return
	}
	reply.JSON(w, http.StatusOK, map[string][]string{"words": words})
}

func (s *Server) getRun(w http.ResponseWriter, req *http.Request) {
	r, err := s.findWatchedRun(req.URL.Query().Get("run"))
	if err != nil {
		reply.Error(w, err)
		return
	}
	reply.JSON(w, http.StatusOK, r.describeRun())
}

// thumbSide is the side of a dropped image's picture, in pixels.
const thumbSide = 160

func (s *Server) getThumb(w http.ResponseWriter, req *http.Request) {
	values := req.URL.Query()
	r, err := s.findWatchedRun(values.Get("run"))
	var data []byte
	if err == nil {
		data, err = r.makeDroppedThumbnail(req.Context(), values.Get("image"))
	}
	if err != nil {
		if errors.As(err, new(*pictures.Unreadable)) {
			err = reply.Refuse(http.StatusNotFound, "%v", err)
		}
		reply.Error(w, err)
		return
	}
	w.Header().Set("Content-Type", "image/jpeg")
	w.Header().Set("Cache-Control", "private, max-age=60")
	_, _ = w.Write(data) // the client may be gone
}

// getReport sends the page of a run. It is made when it is first asked for, also if the client does not wait.
func (s *Server) getReport(w http.ResponseWriter, req *http.Request) {
	dirs, sums, err := s.parseRunNames(req.URL.Query())
	switch {
	case err != nil:
	case len(dirs) > 1:
		err = reply.Refuse(http.StatusBadRequest, "run: found %d runs, expected one", len(dirs))
	case s.c.Report == nil:
		err = reply.Refuse(http.StatusNotFound, "this server makes no reports: run winnow report")
	}
	if err != nil {
		reply.Error(w, err)
		return
	}
	s.making.Lock()
	defer s.making.Unlock()
	page, made := s.reports[sums]
	if !made {
		if page, err = s.c.Report(s.ending, dirs[0]); err != nil {
			reply.Error(w, err)
			return
		}
		if len(s.reports) >= mostReports {
			clear(s.reports)
		}
		s.reports[sums] = page
	}
	sendPage(w, page)
}

// mostReports is how many reports are kept in memory.
const mostReports = 8

// parseRunNames returns the folders of the runs that a request names, and what tells their present state from others.
func (s *Server) parseRunNames(values url.Values) (dirs []string, state string, err error) {
	keys := values["run"]
	if len(keys) < 1 || len(keys) > 6 {
		return nil, "", reply.Refuse(http.StatusBadRequest, "run: found %d runs, expected 1 to 6", len(keys))
	}
	for _, key := range keys {
		r, err := s.findWatchedRun(key)
		if err != nil {
			return nil, "", err
		}
		b := r.describeBriefly()
		if b.State != Finished {
			return nil, "", reply.Refuse(http.StatusConflict, "%s is not finished: its report is made when it is",
				r.dir)
		}
		dirs, state = append(dirs, r.dir), state+key+b.Started.String()+" "
	}
	return dirs, state, nil
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
