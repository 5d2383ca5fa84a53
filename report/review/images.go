package review

import (
	"errors"
	"fmt"
	"hash/crc64"
	"io"
	"net/http"
	"strconv"
	"strings"

	"winnow/report/reply"
	"winnow/report/review/pictures"
)

// smallSide is the default side of a small picture, in pixels.
const smallSide = 160

// imageAt returns the image of the manifest whose key ends an address.
func (r *Reviewer) imageAt(req *http.Request, prefix string) (int32, error) {
	key := strings.TrimPrefix(req.URL.Path, prefix)
	image := r.table.imageOf(key)
	if image == none {
		return none, reply.Refuse(http.StatusNotFound, "no image of the manifest has the key %.40q", key)
	}
	return image, nil
}

// getThumb sends a small picture. The browser may keep it but must revalidate it: another server may have shown
// another picture at the same address.
func (r *Reviewer) getThumb(w http.ResponseWriter, req *http.Request) {
	p := &parameters{values: req.URL.Query()}
	size := p.getNumber("size", smallSide, 1, pictures.MostSide)
	image, err := r.imageAt(req, thumbs)
	if err == nil {
		err = asBadRequest(p.getFirstFailure())
	}
	if err != nil {
		answerError(w, err)
		return
	}
	data, err := r.Pictures.Small(req.Context(), r.table.getImagePath(image), size)
	if err != nil {
		answerError(w, r.refuseUnreadableImage(image, err))
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
	f, err := r.Pictures.Open(r.table.getImagePath(image))
	if err != nil {
		answerError(w, r.refuseUnreadableImage(image, err))
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

// refuseUnreadableImage returns the error for a picture that cannot be shown.
func (r *Reviewer) refuseUnreadableImage(image int32, err error) error {
	if errors.As(err, new(*pictures.Unreadable)) {
		return reply.Refuse(http.StatusNotFound, "%s: %v", r.table.getImagePath(image), err)
	}
	return reply.Refuse(http.StatusServiceUnavailable, "%v", err)
}
