// Package reply answers the requests of winnow's pages in JSON, and errors with a status of HTTP.
package reply

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

// MostJSON is the largest request in bytes.
const MostJSON = 1 << 20

// refusal is an error with its HTTP status.
type refusal struct {
	status int
	text   string
}

// Error implements error.
func (r *refusal) Error() string { return r.text }

// Refuse returns an error with a status.
func Refuse(status int, format string, args ...any) error {
	return &refusal{status, fmt.Sprintf(format, args...)}
}

// Status returns the status of an error: 500 unless it was refused with another, or too many files are open.
func Status(err error) int {
	if r := (*refusal)(nil); errors.As(err, &r) {
		return r.status
	}
	if regular.Exhausted(err) {
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// Refused reports whether an error has a status.
func Refused(err error) bool { return errors.As(err, new(*refusal)) }

// Error answers with an error.
func Error(w http.ResponseWriter, err error) {
	JSON(w, Status(err), map[string]string{"error": err.Error()})
}

// JSON answers with a value. Nobody keeps the answer.
func JSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // the content type is JSON
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

// Read reads the JSON object that a request sends as such, and refuses unknown names and anything after it.
func Read(req *http.Request, to any) error {
	given := req.Header.Get("Content-Type")
	if kind, _, err := mime.ParseMediaType(given); err != nil || kind != "application/json" {
		return Refuse(http.StatusUnsupportedMediaType, "content type is %.80q, expected application/json", given)
	}
	in := json.NewDecoder(io.LimitReader(req.Body, MostJSON))
	in.DisallowUnknownFields()
	err := in.Decode(to)
	if err == nil {
		if _, err = in.Token(); errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = errors.New("there is more after the object")
		}
	}
	return Refuse(http.StatusBadRequest, "the request's JSON: %v", err)
}
