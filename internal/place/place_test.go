package place

import (
	"os"
	"path/filepath"
	"testing"
)

// A place is found relative to the folder first, then where it was; a candidate that is the same wins over the first.
func TestFind(t *testing.T) {
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("a/data.csv", "1")
	write("b/data.csv", "2")
	p := New("a/run", "a/data.csv")
	if p.Given != "a/data.csv" || !filepath.IsAbs(p.Absolute) || p.FromFolder != "../data.csv" {
		t.Fatalf("%+v", p)
	}
	holds := func(text string) func(string) bool {
		return func(path string) bool { got, err := os.ReadFile(path); return err == nil && string(got) == text }
	}
	for _, c := range []struct {
		dir  string
		same func(string) bool
		want string
	}{
		{"a/run", nil, "a/data.csv"},
		{"b/run", nil, "b/data.csv"},
		{"b/run", holds("1"), p.Absolute},
		{"b/run", holds("3"), "b/data.csv"},
		{"c/run", nil, p.Absolute},
	} {
		if got := p.Find(c.dir, c.same); got != c.want {
			t.Errorf("from %s: found %s, expected %s", c.dir, got, c.want)
		}
	}
	if err := os.Remove("a/data.csv"); err != nil {
		t.Fatal(err)
	}
	if got := p.Find("c/run", nil); got != p.Absolute {
		t.Errorf("gone: found %s, expected %s", got, p.Absolute)
	}
}
