package review

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"path"
	"strings"
	"time"

	"winnow/internal/pagestyle"
)

//go:embed page
var embedded embed.FS

// part is a file of the page with its content type.
type part struct {
	kind string
	data []byte
}

// kinds maps the extensions of the page's files to content types.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml",
}

// pageParts returns the files of the page by URL path.
func pageParts() map[string]part {
	parts := map[string]part{}
	entries, _ := embedded.ReadDir("page") // embedded, so it exists
	for _, e := range entries {
		data, _ := embedded.ReadFile(path.Join("page", e.Name()))
		if kind, ok := kinds[path.Ext(e.Name())]; ok {
			parts["/"+e.Name()] = part{kind, data}
		}
	}
	parts["/style.css"] = part{kinds[".css"], []byte(pagestyle.CSS)}
	parts["/icon.svg"] = part{kinds[".svg"], pagestyle.Icon}
	parts["/"] = parts["/index.html"]
	return parts
}

// lane is a semaphore that limits how many requests of a kind run at the same time. A nil lane has no limit.
type lane chan struct{}

// Requests answered from memory have their own lane, so that they do not wait for requests that access files.
const (
	quickAtOnce = 64
	slowAtOnce  = 32
)

// route holds the method, the lane and the handler of a URL path.
type route struct {
	method string
	lane   lane
	handle http.HandlerFunc
}

// listRoutes returns the routes by URL path. The last two paths are prefixes.
func (r *Reviewer) listRoutes() map[string]route {
	const read = http.MethodGet
	quick, slow := make(lane, quickAtOnce), make(lane, slowAtOnce)
	routes := map[string]route{
		"/api/session":    {read, quick, handleGet(r.getSession)},
		"/api/rows":       {read, quick, handleGet(r.getRows)},
		"/api/typical":    {read, quick, handleGet(r.getTypical)},
		"/api/findings":   {read, quick, handleGet(r.getFindings)},
		"/api/plane":      {read, quick, handleGet(r.getPlane)},
		"/api/places":     {read, slow, r.getPlaces},
		"/api/arrange":    {change, quick, handlePost(r.postPlane)},
		"/api/confusions": {read, quick, handleGet(r.getConfusions)},
		"/api/changes":    {read, quick, handleGet(r.getChanges)},

		"/api/decide": {change, quick, handlePost(r.postDecide)},
		"/api/undo":   {change, quick, handlePost(r.postUndo)},
		"/api/redo":   {change, quick, handlePost(r.postRedo)},

		// Searches need no lane: Reviewer.turn admits one at a time.
		"/api/similar": {read, nil, handleGet(r.getSimilar)},
		"/api/search":  {change, nil, r.postSearch},

		"/api/export":      {change, slow, handlePost(r.postExport)},
		"/api/export.csv":  {read, slow, r.getExport},
		savingAt:           {read, slow, r.getDecisions},
		"/api/decided.csv": {read, slow, r.getList},

		thumbs: {read, slow, r.getThumb},
		images: {read, slow, r.getImage},
	}
	if r.Work != nil {
		routes["/api/job"] = route{read, quick, handleGet(r.Work.getJob)}
		routes["/api/job/change"] = route{change, quick, handlePost(r.Work.postJob)}
	}
	for path, part := range pageParts() {
		routes[path] = route{read, quick, part.sendPart}
	}
	return routes
}

// Prefixes of the URL paths of thumbnails and image files.
const thumbs, images = "/thumb/", "/image/"

// Handler returns a handler for all requests. It must be protected by a [Guard].
func (r *Reviewer) Handler() http.Handler {
	routes := r.listRoutes()
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		path := req.URL.Path
		for _, prefix := range []string{thumbs, images} {
			if strings.HasPrefix(path, prefix) {
				path = prefix
			}
		}
		to, ok := routes[path]
		switch {
		case !ok:
			answerError(w, refuseWith(http.StatusNotFound, "%.100q does not exist", path))
			return
		case req.Method != to.method:
			w.Header().Set("Allow", to.method)
			answerError(w, refuseWith(http.StatusMethodNotAllowed, "method is %.20q, expected %s", req.Method,
				to.method))
			return
		}
		if to.lane != nil && req.Method == change {
			body, err := readWholeBody(w, req)
			if err != nil {
				answerError(w, err)
				return
			}
			req.Body = body
		}
		if to.lane != nil {
			select {
			case to.lane <- struct{}{}:
				defer func() { <-to.lane }()
			case <-req.Context().Done():
				return
			}
		}
		to.handle(w, req)
	})
}

// change is the HTTP method of requests that change state.
const change = http.MethodPost

// readWholeBody reads a request's body before the request enters a lane, so that slow clients do not block others.
func readWholeBody(w http.ResponseWriter, req *http.Request) (io.ReadCloser, error) {
	data, err := readBody(http.MaxBytesReader(w, req.Body, mostJSON))
	return io.NopCloser(bytes.NewReader(data)), err
}

// readBody reads a request body to its end.
func readBody(body io.Reader) ([]byte, error) {
	data, err := io.ReadAll(body)
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return nil, refuseWith(http.StatusRequestEntityTooLarge, "the request has more than %d bytes", large.Limit)
	}
	if err != nil && !isRefusal(err) {
		err = refuseWith(http.StatusBadRequest, "the request's body could not be read: %v", err)
	}
	return data, err
}

// sendPart sends a file of the page.
func (p part) sendPart(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", p.kind)
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(p.data) // the client may be gone
}

// grace is the time that running requests have to finish when the server shuts down.
const grace = 5 * time.Second

// Serve serves requests from a listener until ctx is done. It then waits up to [grace] for running requests.
func Serve(ctx context.Context, l net.Listener, h http.Handler, errorLog *log.Logger) error {
	server := &http.Server{
		Handler: h, ErrorLog: errorLog,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 5 * time.Minute,
		IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
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
	}
	return err
}
