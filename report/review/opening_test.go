package review

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOpenPage checks that the argument of the browser contains no token, and that the file is readable only by its
// owner, works once, and is then removed.
func TestOpenPage(t *testing.T) {
	w := newWorld(t, 60)
	dir, shown := t.TempDir(), ""
	var text string
	remove, err := w.guard.OpenPage(dir, func(file string) error {
		shown = file
		info, err := os.Stat(file)
		if err != nil {
			return err
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("the file is readable by others: %v", info.Mode())
		}
		text, err = readFile(file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`url=` + regexp.QuoteMeta(w.server.URL) +
		`(/\?token=([0-9a-f]{32}))"`).FindStringSubmatch(text)
	if address == nil || strings.Contains(text, testToken) || strings.Contains(shown, address[2]) {
		t.Fatalf("%s contains %s", shown, text)
	}
	from := map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
	if a := w.knock("GET", "/", "", with(from, "Authorization", "Bearer "+address[2])); a.StatusCode != 401 {
		t.Errorf("as a bearer token: %d", a.StatusCode)
	}
	a := w.knock("GET", address[1], "", from)
	body, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != 200 || len(a.Cookies()) != 1 ||
		!strings.Contains(string(body), `content="0;url=/"`) {
		t.Fatalf("%d %v %s", a.StatusCode, a.Header, body)
	}
	if a := w.knock("GET", address[1], "", from); a.StatusCode != 403 || len(a.Cookies()) > 0 {
		t.Errorf("for the second time: %d %v", a.StatusCode, a.Cookies())
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	remove()
	// If the browser cannot be opened, no file is left.
	no := errors.New("there is no browser")
	if _, err := w.guard.OpenPage(dir, func(string) error { return no }); !errors.Is(err, no) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
	if _, err := w.guard.OpenPage(filepath.Join(dir, "no"), func(string) error { return nil }); err == nil {
		t.Error("a file in no folder")
	}
}
