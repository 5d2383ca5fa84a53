package review

import (
	"context"
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"winnow/report/review/pictures"
)

// mostUpload is the largest size of an uploaded image, in bytes.
const mostUpload = 32 << 20

// uploads is how many uploaded images are in memory at once; further uploads wait.
const uploads = 4

// smallSide is the default side of a small picture, in pixels.
const smallSide = 160

// imageAt returns the image of the manifest whose key ends an address.
func (r *Reviewer) imageAt(req *http.Request, prefix string) (int32, error) {
	key := strings.TrimPrefix(req.URL.Path, prefix)
	image := r.table.imageOf(key)
	if image == none {
		return none, refuse(http.StatusNotFound, "no image of the manifest has the key %.40q", key)
	}
	return image, nil
}

// getThumb sends a small picture. The browser may keep it but must revalidate it: another server may have shown
// another picture at the same address.
func (r *Reviewer) getThumb(w http.ResponseWriter, req *http.Request) {
	p := &parameters{values: req.URL.Query()}
	size := p.number("size", smallSide, 1, pictures.MostSide)
	image, err := r.imageAt(req, thumbs)
	if err == nil {
		err = bad(p.done())
	}
	if err != nil {
		answerError(w, err)
		return
	}
	data, err := r.Pictures.Small(req.Context(), r.table.path(image), size)
	if err != nil {
		answerError(w, r.unreadable(image, err))
		return
	}
	h := w.Header()
	tag := fmt.Sprintf(`"%016x"`, crc64.Checksum(data, crc64.MakeTable(crc64.ECMA)))
	h.Set("ETag", tag)
	h.Set("Cache-Control", "private, no-cache")
	if req.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "image/jpeg")
	h.Set("Content-Length", strconv.Itoa(len(data)))
	_, _ = w.Write(data) // the client may be gone
}

// getImage sends the image file.
func (r *Reviewer) getImage(w http.ResponseWriter, req *http.Request) {
	image, err := r.imageAt(req, images)
	if err != nil {
		answerError(w, err)
		return
	}
	f, err := r.Pictures.Open(r.table.path(image))
	if err != nil {
		answerError(w, r.unreadable(image, err))
		return
	}
	defer f.Close()
	h := w.Header()
	h.Set("Content-Type", f.Type)
	h.Set("Content-Length", strconv.FormatInt(f.Size, 10))
	h.Set("Cache-Control", "private, no-cache")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	_, _ = io.Copy(w, io.LimitReader(f, f.Size))
}

// unreadable returns the error for a picture that cannot be shown.
func (r *Reviewer) unreadable(image int32, err error) error {
	if errors.As(err, new(*pictures.Unreadable)) {
		return refuse(http.StatusNotFound, "%s: %v", r.table.path(image), err)
	}
	return refuse(http.StatusServiceUnavailable, "%v", err)
}

// similar is a found image.
type similar struct {
	pic
	Similarity float64 `json:"similarity"`
	ID         int32   `json:"id"`
}

// ErrNoVector is the error when a Finder has no vector of an image.
var ErrNoVector = errors.New("there is no vector of this image")

// ErrNotImage is the error when an uploaded file cannot be read.
var ErrNotImage = errors.New("the file cannot be read as an image")

func (r *Reviewer) getSimilar(req *http.Request, values url.Values) (any, error) {
	p := &parameters{values: values}
	key, n, tab := p.get("key"), p.number("n", 24, 1, mostSimilar), p.get("tab")
	if err := p.done(); err != nil {
		return nil, bad(err)
	}
	image := r.table.imageOf(key)
	switch {
	case r.Finder == nil:
		return nil, refuse(http.StatusNotFound,
			"the server has no vectors to search: start it with features or a run")
	case image == none:
		return nil, refuse(http.StatusNotFound, "no image of the manifest has the key %.40q", key)
	}
	ctx, leave, err := r.searches.enter(req.Context(), tab)
	if err != nil {
		return nil, err
	}
	defer leave()
	return r.found(ctx, func(ctx context.Context) ([]Found, error) {
		return r.Finder.Similar(ctx, r.table.path(image), n)
	})
}

// postSearch searches for an uploaded image.
func (r *Reviewer) postSearch(w http.ResponseWriter, req *http.Request) {
	v, err := r.search(w, req)
	if err != nil {
		answerError(w, err)
		return
	}
	answer(w, http.StatusOK, v)
}

func (r *Reviewer) search(w http.ResponseWriter, req *http.Request) (any, error) {
	p := &parameters{values: req.URL.Query()}
	n, tab := p.number("n", 24, 1, mostSimilar), p.get("tab")
	if err := p.done(); err != nil {
		return nil, bad(err)
	}
	if r.Finder == nil || !r.Finder.Uploads() {
		return nil, refuse(http.StatusNotFound,
			"the server has no model to embed images: start it with a run, or with features and their model")
	}
	given := req.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(given); err != nil || !strings.HasPrefix(kind, "image/") {
		return nil, refuse(http.StatusUnsupportedMediaType,
			"content type is %.80q, expected image/jpeg or another image", given)
	}
	select {
	case r.uploading <- struct{}{}:
		defer func() { <-r.uploading }()
	case <-req.Context().Done():
		return nil, unwanted(req.Context())
	}
	data, err := io.ReadAll(http.MaxBytesReader(w, req.Body, mostUpload))
	if large := (*http.MaxBytesError)(nil); errors.As(err, &large) {
		return nil, refuse(http.StatusRequestEntityTooLarge, "the image has more than %d bytes", large.Limit)
	}
	if err != nil {
		return nil, bad(err)
	}
	ctx, leave, err := r.searches.enter(req.Context(), tab) // with its body: a slow one takes no place in the queue
	if err != nil {
		return nil, err
	}
	defer leave()
	return r.found(ctx, func(ctx context.Context) ([]Found, error) { return r.Finder.Search(ctx, data, n) })
}

// found runs a search and returns its results.
func (r *Reviewer) found(ctx context.Context, look func(context.Context) ([]Found, error)) (any, error) {
	list, err := r.searches.run(ctx, look)
	switch {
	case errors.Is(err, ErrNoVector):
		return nil, refuse(http.StatusNotFound, "%v", err)
	case errors.Is(err, ErrNotImage):
		return nil, bad(err)
	case err != nil:
		return nil, err
	}
	r.mutex.RLock() // guards the names of classes
	defer r.mutex.RUnlock()
	out := []similar{}
	for _, f := range list {
		image, ok := r.table.find(f.Path)
		if !ok {
			continue // in the store, but not in the manifest
		}
		out = append(out, similar{pic: r.table.pic(image), Similarity: f.Similarity, ID: r.table.place[image]})
	}
	return map[string]any{"pictures": out}, nil
}
