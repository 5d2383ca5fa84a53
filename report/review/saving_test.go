package review

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/report/review/decisions"
)

// TestDeletedDecisions removes the decisions file of a running server. Further decisions must be refused, and the
// earlier decisions can be downloaded; a server continues with the downloaded file.
func TestDeletedDecisions(t *testing.T) {
	w := newWorld(t, 60)
	file := filepath.Join(w.dir, "m.decisions.db")
	w.decide("t", http.StatusOK, on(0, "drop", "", 0))
	w.decide("t", http.StatusOK, on(1, "keep", "", 0))
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	var a struct{ Error, Save string }
	status, _ := w.ask("POST", "/api/decide", `{"tab":"t","decisions":[{"id":2,"action":"drop","version":0}]}`, &a)
	if status != http.StatusServiceUnavailable || a.Save != "/api/decisions.db" ||
		!strings.Contains(a.Error, file+": it was moved or removed while it was open") {
		t.Fatalf("a decision into a removed file: %d %+v", status, a)
	}
	for _, path := range []string{"/api/undo", "/api/redo"} {
		if status, text := w.ask("POST", path, `{"tab":"t"}`, nil); path == "/api/undo" &&
			status != http.StatusServiceUnavailable {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	var s session
	w.must("GET", "/api/session", "", &s)
	if s.Counts["drop"] != 1 || s.Counts["keep"] != 1 {
		t.Errorf("a refused decision is counted: %v", s.Counts)
	}
	status, data := w.ask("GET", a.Save, "", nil)
	if status != http.StatusOK {
		t.Fatalf("download: %d %s", status, data)
	}
	if err := w.review.Decisions.Close(); !errors.As(err, new(*decisions.Gone)) {
		t.Errorf("closed with %v", err)
	}
	w.server.Close()
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	w.open(nil)
	w.decide("t", http.StatusOK, on(2, "drop", "", 0))
	w.must("POST", "/api/undo", `{"tab":"t"}`, nil)
	w.must("POST", "/api/undo", `{"tab":"t"}`, nil)
	w.must("GET", "/api/session", "", &s)
	if s.Counts["drop"] != 1 || s.Counts["keep"] != 0 {
		t.Errorf("opened again and undone: %v", s.Counts)
	}
}
