package review

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"

	"winnow/internal/regular"
)

// mostJSON is the maximum size of a JSON request in bytes.
const mostJSON = 1 << 20

// refusal is an error with its HTTP status.
type refusal struct {
	status int
	text   string
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

// refuseWith returns an error with an HTTP status.
func refuseWith(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// statusOf returns the HTTP status of an error: that of a refusal, 503 if too many files are open, otherwise 500.
func statusOf(err error) int {
	if r := (*refusal)(nil); errors.As(err, &r) {
		return r.status
	}
	if regular.Exhausted(err) {
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// isRefusal reports whether an error has an HTTP status.
func isRefusal(err error) bool { return errors.As(err, new(*refusal)) }

// sendJSON sends a value as JSON that must not be cached.
func sendJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // only JSON that is embedded in HTML needs escapes
	if err := e.Encode(v); err != nil {
		status = http.StatusInternalServerError
		b.Reset()
		b.WriteString(`{"error":"the answer cannot be written as JSON"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // the client may be gone
}

// readJSON decodes a request's JSON object. It refuses other content types, unknown names, and data after the object.
func readJSON(req *http.Request, to any) error {
	given := req.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(given); err != nil || kind != "application/json" {
		return refuseWith(http.StatusUnsupportedMediaType, "content type is %.80q, expected application/json", given)
	}
	in := json.NewDecoder(io.LimitReader(req.Body, mostJSON))
	in.DisallowUnknownFields()
	err := in.Decode(to)
	if err == nil {
		if _, err = in.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = errors.New("found data after the object")
		}
	}
	return refuseWith(http.StatusBadRequest, "the request's JSON: %v", err)
}
