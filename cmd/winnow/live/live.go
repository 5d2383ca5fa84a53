// Package live connects pages in the browser with trainings: the page of one training while it runs (winnow train
// --watch), and what winnow studio shows and starts besides the images.
package live

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/datasets/classnames"
	"winnow/report"
	"winnow/report/live"
	"winnow/report/review"
	"winnow/run/folder"
)

// maxMem limits the memory of a report's similarities, in bytes.
const maxMem = 1 << 30

// Reports returns a function that makes the page of runs, as winnow report does by default.
func Reports(p *term.Program, names string) func(ctx context.Context, dirs []string) ([]byte, error) {
	return func(ctx context.Context, dirs []string) ([]byte, error) {
		made, err := report.Make(ctx, dirs, report.Making{
			Open:  folder.Options{View: "center", For: "report", Host: p.Host()},
			Asked: report.Asked{MaxMem: maxMem},
			Show:  report.Illustration{Pictures: true, Map: true, MaxMap: 10_000, MaxMem: maxMem},
			Names: func(d *datasets.Dataset) (classnames.Names, error) {
				n, _, err := classnames.Choose(names, d)
				return n, err
			},
			Host: report.Host{Winnow: term.Version()},
		})
		return made.File, err
	}
}

// Page says where the page of a training is served.
type Page struct {
	Listen string // HOST:PORT
	Open   bool   // open it in the browser
}

// CheckListen returns an error if an address cannot be listened at, or is every network without saying so.
func CheckListen(at string) error {
	if host, _, err := net.SplitHostPort(at); err != nil {
		return term.Misused("--listen: found %q, expected HOST:PORT, as 127.0.0.1:8080", at)
	} else if host == "" {
		return term.Misused("--listen: found %q, which is every network of this machine: if that is meant, write "+
			"0.0.0.0%s", at, at)
	}
	return nil
}

// Watched is the page of a training while it is served.
type Watched struct {
	Address string

	runs   *live.Server
	stop   context.CancelFunc
	ended  chan error
	remove func() // of the file that opens the page

	mutex   sync.Mutex
	now     func() time.Time
	asked   time.Time     // when a page last asked
	dismiss chan struct{} // closed when a person ends the page
	once    sync.Once
}

// Watch serves the page of the training in dir until [Watched.End]. It reads the training's files, so the training does
// not wait for it.
func Watch(p *term.Program, dir, manifest string, page Page) (*Watched, error) {
	l, err := net.Listen("tcp", page.Listen)
	if err != nil {
		return nil, fmt.Errorf("train: the page: %w", err)
	}
	called := sync.OnceValue(func() classnames.Names {
		d, err := datasets.ReadFile(manifest, datasets.ReadOptions{})
		if err != nil {
			return nil
		}
		n, _, _ := classnames.Choose("", d) // without names classes are called by their labels
		return n
	})
	at := l.Addr().(*net.TCPAddr)
	guard := review.NewGuard(review.NewToken(), at, nil)
	w := &Watched{
		Address: guard.Address(), ended: make(chan error, 1), remove: func() {}, now: time.Now,
		dismiss: make(chan struct{}),
		runs: live.New(live.Config{
			Runs: []string{dir}, Report: Reports(p, ""),
			Called: func(label string) string { return called().Of(label) },
		}),
	}
	ctx, stop := context.WithCancel(context.Background())
	w.stop = stop
	errors := log.New(p.Err, "winnow: train: ", 0)
	go func() { w.ended <- review.Serve(ctx, l, guard.Protect(w.handler()), errors) }()
	if !at.IP.IsLoopback() {
		p.Note("train: listening on %s: those who read this network's traffic see images, labels and the token", at)
	}
	if page.Open {
		if remove, err := guard.OpenPage(filepath.Dir(filepath.Clean(dir)), review.Browse); err != nil {
			p.Note("the browser cannot be opened: %v", err)
		} else {
			w.remove = remove
		}
	}
	return w, nil
}

// handler answers the page's requests.
func (w *Watched) handler() http.Handler {
	mux, files, runs := http.NewServeMux(), review.PageFiles(), w.runs.Handler()
	mux.HandleFunc("GET /{$}", func(to http.ResponseWriter, req *http.Request) {
		req.URL.Path = "/live.html"
		files.ServeHTTP(to, req)
	})
	mux.Handle("GET /", files)
	asked := func(to http.ResponseWriter, req *http.Request) {
		w.mutex.Lock()
		w.asked = w.now()
		w.mutex.Unlock()
		runs.ServeHTTP(to, req)
	}
	for _, path := range []string{"/api/runs", "/api/run", "/api/run/thumb", "/report", "/chart.css"} {
		mux.HandleFunc("GET "+path, asked)
	}
	mux.HandleFunc("POST /api/end", func(to http.ResponseWriter, _ *http.Request) {
		to.WriteHeader(http.StatusNoContent)
		w.once.Do(func() { close(w.dismiss) })
	})
	return mux
}

// patience is how long ago a page that is still open has asked at most: browsers let hidden pages ask once a minute.
const patience = 90 * time.Second

// Open reports whether a page is open somewhere.
func (w *Watched) Open() bool {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return !w.asked.IsZero() && w.now().Sub(w.asked) < patience
}

// Stay goes on serving until a person ends the page or ctx is done.
func (w *Watched) Stay(ctx context.Context) {
	select {
	case <-w.dismiss:
	case <-ctx.Done():
	}
}

// End ends the server.
func (w *Watched) End() error {
	w.runs.End()
	w.remove()
	w.stop()
	if err := <-w.ended; err != nil {
		return fmt.Errorf("train: the page: %w", err)
	}
	return nil
}
