package review

import (
	"io"
	"mime"
	"net/http"
	"os"
	"path/filepath"
)

// savingAt is the address at which the decisions can be downloaded.
const savingAt = "/api/decisions.db"

// getDecisions sends a copy of the decisions with their history, as a file of decisions.
func (r *Reviewer) getDecisions(w http.ResponseWriter, _ *http.Request) {
	f, err := os.CreateTemp("", "winnow-decisions-*.db")
	if err != nil {
		answerError(w, err)
		return
	}
	defer os.Remove(f.Name())
	defer f.Close()
	if err := r.Decisions.Copy(f.Name()); err != nil {
		answerError(w, err)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "application/vnd.sqlite3")
	name := map[string]string{"filename": filepath.Base(r.Decisions.Path)}
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", name))
	h.Set("Cache-Control", "no-store")
	_, _ = io.Copy(w, f) // the client may be gone
}
