package location_test

import (
	"os"
	"path/filepath"
	"testing"

	"winnow/datasets/location"
)

// A place is found relative to the folder, else at its old location; a candidate that passes same precedes others.
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
	p := location.PlaceOf("a/run", location.At("a/data.csv"))
	if p.Given.Path() != "a/data.csv" || !filepath.IsAbs(p.Absolute.Path()) || p.FromFolder != "../data.csv" {
		t.Fatalf("%+v", p)
	}
	holds := func(text string) func(location.Source) bool {
		return func(s location.Source) bool {
			got, err := os.ReadFile(s.Path())
			return err == nil && string(got) == text
		}
	}
	for _, c := range []struct {
		dir  string
		same func(location.Source) bool
		want string
	}{
		{"a/run", nil, "a/data.csv"},
		{"b/run", nil, "b/data.csv"},
		{"b/run", holds("1"), p.Absolute.Path()},
		{"b/run", holds("3"), "b/data.csv"},
		{"c/run", nil, p.Absolute.Path()},
	} {
		if got := p.Find(c.dir, c.same); got.Path() != c.want {
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
