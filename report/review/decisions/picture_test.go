package decisions

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestPictures checks that a decision becomes invalid if the file's bytes change, but not if only its time changes.
func TestPictures(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"same", "touched", "changed", "longer", "gone", "again", "back"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("picture of "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	fsys := os.DirFS(dir)
	kept := filepath.Join(dir, "d.db")
	s := open(t, kept)
	decide := func(by Author, version int64, known bool, paths ...string) {
		t.Helper()
		var list []Change
		for _, p := range paths {
			c := keepIt(p, version)
			if known {
				c.Picture = Look(fsys, p)
			}
			list = append(list, c)
		}
		got, err := s.Decide(by, list)
		must(t, got, err)
	}
	decide(by("t"), 0, true, "same", "touched", "changed", "longer", "gone", "again", "back")
	decide(by("t"), 0, false, "unknown")
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		later := time.Now().Add(time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), later, later); err != nil {
			t.Fatal(err)
		}
	}
	write("touched", "picture of touched")
	write("changed", "picture of chanced")
	write("longer", "picture of longer!")
	write("again", "another picture")
	write("back", "another picture")
	if err := os.Remove(filepath.Join(dir, "gone")); err != nil {
		t.Fatal(err)
	}
	decide(Author{Tab: "u", Reviewer: "bob"}, 0, true, "again", "back")
	look := func() map[string]bool {
		t.Helper()
		p, err := s.Pictures(fsys)
		if err != nil {
			t.Fatal(err)
		}
		now := map[string]bool{}
		err = s.Images(func(i Image) error {
			if p.Changed(i.Path, i.At) {
				now[i.Path+i.Reviewer] = true
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return now
	}
	want := map[string]bool{"changed": true, "longer": true, "again": true, "back": true}
	if diff := cmp.Diff(want, look()); diff != "" {
		t.Error(diff)
	}
	got, err := s.Undo(Author{Tab: "u", Reviewer: "bob"})
	must(t, got, err)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, kept)
	if diff := cmp.Diff(want, look()); diff != "" {
		t.Errorf("opened again: %s", diff)
	}
	c, err := ReadOutcomes(kept, fsys)
	if err != nil || c.Changed != len(want) || len(c.By) != 8-len(want) {
		t.Errorf("%+v, %v", c, err)
	}
}
