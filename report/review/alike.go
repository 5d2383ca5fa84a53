package review

import (
	"cmp"
	"context"
	"errors"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"winnow/internal/hint"
)

// mostUpload is the largest size of an uploaded image, in bytes. uploadsAtOnce limits the uploads held in memory.
const (
	mostUpload    = 32 << 20
	uploadsAtOnce = 16
)

// alike is an image found by a search.
type alike struct {
	row
	Similarity float64 `json:"similarity"`
}

// foundAlike is the response to a search, most similar image first.
type foundAlike struct {
	Total int     `json:"total"`
	Query []pic   `json:"query,omitempty"` // the images of the manifest that are the query
	Rows  []alike `json:"rows"`
}

// ErrNoVector is the error if a Finder has no vector of an image.
var ErrNoVector = errors.New("found no vector of this image")

// ErrNotImage is the error if an uploaded file cannot be decoded.
var ErrNotImage = errors.New("the file cannot be read as an image")

// getSimilar finds the images most similar to an image of the manifest, or to the mean of several images.
func (r *Reviewer) getSimilar(req *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	keys := strings.Split(p.getValue("key"), ",")
	n, reviewer := p.getNumber("n", 24, 1, mostSimilar), p.getReviewer()
	if len(keys) > mostCentre {
		p.failWith("key: found %d images, expected at most %d", len(keys), mostCentre)
	}
	if err := cmp.Or(p.getFirstFailure(), r.checkFinder()); err != nil {
		return nil, err
	}
	var out foundAlike
	var paths []string
	for _, key := range keys {
		id := r.table.findKey(key)
		if id == none {
			return nil, refuseWith(http.StatusNotFound, "no image of the manifest has the key %.40q", key)
		}
		out.Query, paths = append(out.Query, r.table.newPic(id)), append(paths, r.table.images[id].Path)
	}
	err := r.findAlike(req.Context(), reviewer, &out, func(ctx context.Context) ([]Found, error) {
		return r.Finder.Similar(ctx, paths, n)
	})
	return out, err
}

func (r *Reviewer) checkFinder() error {
	if r.Finder == nil {
		return refuseWith(http.StatusNotFound, "the server has no vectors to search: start it with features or a run")
	}
	return nil
}

// postSearch searches for an uploaded image.
func (r *Reviewer) postSearch(w http.ResponseWriter, req *http.Request) {
	v, err := r.searchSimilar(w, req)
	if err != nil {
		answerError(w, err)
		return
	}
	sendJSON(w, http.StatusOK, v)
}

func (r *Reviewer) searchSimilar(w http.ResponseWriter, req *http.Request) (any, error) {
	p := &parameters{values: req.URL.Query()}
	n, reviewer := p.getNumber("n", 24, 1, mostSimilar), p.getReviewer()
	if err := cmp.Or(p.getFirstFailure(), r.checkFinder()); err != nil {
		return nil, err
	}
	if err := r.Finder.Uploads(); err != nil {
		return nil, refuseWith(http.StatusNotFound, "%s", noUploads(err))
	}
	given := req.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(given); err != nil || !strings.HasPrefix(kind, "image/") {
		return nil, refuseWith(http.StatusUnsupportedMediaType,
			"content type is %.80q, expected image/jpeg or another image", given)
	}
	defer r.uploads.Add(-1)
	if r.uploads.Add(1) > uploadsAtOnce {
		return nil, refuseWith(http.StatusServiceUnavailable, "too many uploads at once: try again in a moment")
	}
	data, err := readBody(http.MaxBytesReader(w, req.Body, mostUpload))
	if err != nil {
		return nil, err
	}
	var out foundAlike
	err = r.findAlike(req.Context(), reviewer, &out, func(ctx context.Context) ([]Found, error) {
		return r.Finder.Search(ctx, data, n)
	})
	return out, err
}

// noUploads explains in one line why uploaded images cannot be searched for.
func noUploads(err error) string {
	said := "you cannot search with a file, because the network that made the features is required to embed it: " +
		err.Error()
	if how := hint.Of(err); how != "" {
		said += "; " + how
	}
	return said
}

// findAlike waits until the finder is free, runs a search, and adds the results to out as this reviewer sees them.
func (r *Reviewer) findAlike(ctx context.Context, reviewer string, out *foundAlike,
	find func(context.Context) ([]Found, error)) error {
	if err := r.takeTurn(ctx); err != nil {
		return refuseWith(http.StatusServiceUnavailable, "%v", err)
	}
	defer func() { <-r.turn }()
	list, err := find(ctx)
	switch {
	case ctx.Err() != nil:
		return refuseWith(http.StatusServiceUnavailable, "%v", ctx.Err())
	case errors.Is(err, ErrNoVector):
		return refuseWith(http.StatusNotFound, "%v", err)
	case errors.Is(err, ErrNotImage):
		return asBadRequest(err)
	case err != nil:
		return err
	}
	r.mutex.RLock()
	defer r.mutex.RUnlock()
	out.Rows = []alike{}
	for _, f := range list {
		if id, ok := r.table.id[f.Path]; ok { // skip images of the store that are not in the manifest
			out.Rows = append(out.Rows, alike{r.decided.newRow(id, reviewer), f.Similarity})
		}
	}
	out.Total = len(out.Rows)
	return nil
}

// takeTurn waits until the finder is free and reserves it. The caller releases it by receiving from r.turn.
func (r *Reviewer) takeTurn(ctx context.Context) error {
	select {
	case r.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
