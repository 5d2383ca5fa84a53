package review

import (
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// smallSide is the default side length of a thumbnail, in pixels.
const smallSide = 160

// imageAt returns the path of the image whose key follows prefix in the URL.
func (r *Reviewer) imageAt(req *http.Request, prefix string) (path string, err error) {
	key := strings.TrimPrefix(req.URL.Path, prefix)
	id := r.table.findKey(key)
	if id == none {
		return "", refuseWith(http.StatusNotFound, "no image of the manifest has the key %.40q", key)
	}
	return r.table.images[id].Path, nil
}

// getThumb sends a thumbnail. The browser may cache it but must revalidate it, because another server at the same
// address may have sent another image for this URL.
func (r *Reviewer) getThumb(w http.ResponseWriter, req *http.Request) {
	p := &parameters{values: req.URL.Query()}
	size := p.getNumber("size", smallSide, 1, mostSide)
	path, err := r.imageAt(req, thumbs)
	if err == nil {
		err = p.getFirstFailure()
	}
	if err != nil {
		answerError(w, err)
		return
	}
	data, err := r.pictures.makeSmall(req.Context(), path, size)
	if err != nil {
		answerError(w, refuseUnreadable(path, err))
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
	path, err := r.imageAt(req, images)
	if err != nil {
		answerError(w, err)
		return
	}
	f, err := r.pictures.openPicture(path)
	if err != nil {
		answerError(w, refuseUnreadable(path, err))
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

// refuseUnreadable returns status 404 for an image that cannot be read, and status 503 for other errors.
func refuseUnreadable(path string, err error) error {
	if errors.As(err, new(*unreadable)) {
		return refuseWith(http.StatusNotFound, "%s: %v", path, err)
	}
	return refuseWith(http.StatusServiceUnavailable, "%v", err)
}
