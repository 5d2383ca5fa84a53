package review

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// TestHalfSentBodies checks that requests with incomplete bodies do not block other requests or searches.
func TestHalfSentBodies(t *testing.T) {
	w := newWorld(t, 12)
	half := func(path, kind string) {
		t.Helper()
		c, err := net.Dial("tcp", strings.TrimPrefix(w.server.URL, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		_, err = fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n"+
			"Content-Length: 100\r\nExpect: 100-continue\r\n\r\n", path, strings.TrimPrefix(w.server.URL, "http://"),
			testToken, kind)
		if err != nil {
			t.Fatal(err)
		}
		line := make([]byte, len("HTTP/1.1 100")) // the server reads the body now
		if _, err := c.Read(line); err != nil || string(line) != "HTTP/1.1 100" {
			t.Fatalf("%s: %q, %v", path, line, err)
		}
		if _, err := c.Write([]byte("{")); err != nil {
			t.Fatal(err)
		}
	}
	for range quickAtOnce {
		half("/api/decide", "application/json")
	}
	for range slowAtOnce {
		half("/api/export", "application/json")
	}
	for range uploadsAtOnce / 2 {
		half("/api/search", "image/png")
	}
	for _, path := range []string{"/api/rows", "/api/session", "/api/decided.csv", "/api/similar?key=0"} {
		if status, text := w.ask(http.MethodGet, path, "", nil); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, text)
		}
	}
	req, err := http.NewRequest(http.MethodPost, w.server.URL+"/api/search?n=2", strings.NewReader("\x89PNG"))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+testToken)
	req.Header.Set("Content-Type", "image/png")
	if a, err := w.server.Client().Do(req); err != nil || a.StatusCode != http.StatusOK {
		t.Errorf("an upload: %v, %v", a, err)
	}
	if status, text := w.ask(http.MethodPost, "/api/undo", `{"tab":"t","reviewer":""}`, nil); status >= 500 {
		t.Errorf("undo: %d %s", status, text)
	}
}
