package review

import (
	"context"
	"embed"
	"errors"
	"log"
	"net"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"
)

//go:embed page
var embedded embed.FS

// part is a file of the page.
type part struct {
	kind string
	data []byte
}

// kinds are the content types of the page's files by their ending.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// pageParts returns the files of the page by their addresses.
func pageParts() map[string]part {
	parts := map[string]part{}
	entries, _ := embedded.ReadDir("page") // embedded: it is there
	for _, e := range entries {
		data, _ := embedded.ReadFile(path.Join("page", e.Name()))
		if kind, ok := kinds[path.Ext(e.Name())]; ok {
			parts["/"+e.Name()] = part{kind, data}
		}
	}
	parts["/"] = parts["/index.html"]
	return parts
}

// atOnce bounds the requests that are answered at the same time; more wait.
const atOnce = 64

// Handler answers all requests. Put it behind a [Guard].
func (r *Reviewer) Handler() http.Handler {
	gets := map[string]http.HandlerFunc{
		"/api/session": get(r.getSession), "/api/rows": get(r.getRows), "/api/typical": get(r.getTypical), "/api/confusions": get(r.getConfusions),
		"/api/changes": get(r.getChanges), "/api/history": get(r.getHistory), "/api/similar": get(r.getSimilar), "/api/export.csv": r.getExport,
		savingAt: r.getDecisions,
	}
	for path, part := range pageParts() {
		gets[path] = part.get
	}
	posts := map[string]http.HandlerFunc{
		"/api/decide": post(r.postDecide), "/api/undo": post(r.postUndo), "/api/redo": post(r.postRedo), "/api/export": post(r.postExport), "/api/search": r.postSearch,
	}
	slots := make(chan struct{}, atOnce)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
		case <-req.Context().Done():
			return
		}
		path := req.URL.Path
		handle, method := gets[path], http.MethodGet
		switch {
		case strings.HasPrefix(path, "/thumb/"):
			handle = r.getThumb
		case strings.HasPrefix(path, "/image/"):
			handle = r.getImage
		case posts[path] != nil:
			handle, method = posts[path], http.MethodPost
		}
		switch {
		case handle == nil:
			answerError(w, refuse(http.StatusNotFound, "there is nothing at %.100q", path))
		case req.Method != method:
			w.Header().Set("Allow", method)
			answerError(w, refuse(http.StatusMethodNotAllowed, "method is %.20q, expected %s", req.Method, method))
		default:
			handle(w, req)
		}
	})
}

// get sends a part of the page.
func (p part) get(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", p.kind)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(p.data) // the client may be gone
}

// grace is how long requests under way may take when the server ends, and again how long those that are broken off then
// may take to notice.
const grace = 5 * time.Second

// Serve answers at a listener until ctx is done, then lets the requests under way end.
func Serve(ctx context.Context, l net.Listener, h http.Handler, errorLog *log.Logger) error {
	return serve(ctx, l, h, errorLog, grace)
}

func serve(ctx context.Context, l net.Listener, h http.Handler, errorLog *log.Logger, grace time.Duration) error {
	var asked underWay
	server := &http.Server{
		Handler: asked.counted(h), ErrorLog: errorLog,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 5 * time.Minute, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(l) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, stop := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer stop()
	err := server.Shutdown(last)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
		asked.end(time.Second + grace)
	}
	return err
}

// underWay counts requests as readers: the store is closed when none is left.
type underWay struct{ mutex sync.RWMutex }

func (u *underWay) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if !u.mutex.TryRLock() {
			answerError(w, refuse(http.StatusServiceUnavailable, "the server is shutting down"))
			return
		}
		defer u.mutex.RUnlock()
		h.ServeHTTP(w, req)
	})
}

// end waits until none is left, but at most so long.
func (u *underWay) end(most time.Duration) {
	none := make(chan struct{})
	go func() {
		u.mutex.Lock()
		close(none)
	}()
	select {
	case <-none:
	case <-time.After(most):
	}
}
