package decisions

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGone moves, removes or replaces the file of an open store. Further decisions must be refused, earlier decisions
// can be copied, and Close must save them in the same folder.
func TestGone(t *testing.T) {
	for what, c := range map[string]struct {
		spoil func(path string) error
		how   string
	}{
		"removed": {os.Remove, "moved or removed"},
		"moved":   {func(p string) error { return os.Rename(p, p+".old") }, "moved or removed"},
		"its folder moved": {func(p string) error { return os.Rename(filepath.Dir(p), filepath.Dir(p)+".old") },
			"moved or removed"},
		"its log removed": {func(p string) error { return os.Remove(p + "-wal") }, "moved or removed"},
		"replaced": {func(p string) error {
			return errors.Join(os.WriteFile(p+".new", nil, 0o600), os.Rename(p+".new", p))
		}, "it was replaced by another file"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Setenv("TMPDIR", t.TempDir())
			dir := filepath.Join(t.TempDir(), "review")
			path := filepath.Join(dir, "m.decisions.db")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			s := open(t, path)
			list, err := s.Decide(by("t"), []Change{dog("a", 0), keepIt("b", 0)})
			must(t, list, err)
			before, version := all(t, s), s.change
			if err := c.spoil(path); err != nil {
				t.Fatal(err)
			}
			var gone *Gone
			for name, write := range map[string]func() error{
				"decide": func() error { _, err := s.Decide(by("t"), []Change{dropIt("c", 0)}); return err },
				"undo":   func() error { _, err := s.Undo(by("t")); return err },
			} {
				if err := write(); !errors.As(err, &gone) || !strings.Contains(err.Error(), path) ||
					!strings.Contains(err.Error(), c.how) {
					t.Errorf("%s: got %v, expected %q", name, err, c.how)
				}
			}
			if diff := cmp.Diff(before, all(t, s)); diff != "" || s.change != version {
				t.Errorf("version %d, expected %d; a refused decision changed %s", s.change, version, diff)
			}
			saved := filepath.Join(t.TempDir(), "saved.db")
			if err := s.Copy(saved); err != nil {
				t.Fatal(err)
			}
			err = s.Close()
			if !errors.As(err, &gone) {
				t.Fatalf("closed with %v", err)
			}
			_, name, _ := strings.Cut(err.Error(), "are in ")
			name, _, _ = strings.Cut(name, ": rename")
			for _, file := range []string{saved, name} {
				again := open(t, file)
				if diff := cmp.Diff(before, all(t, again)); diff != "" {
					t.Errorf("%s: %s", file, diff)
				}
				if list, err := again.Undo(by("t")); err != nil || len(list) != 2 {
					t.Errorf("%s: undone %v, %v: the history is missing", file, list, err)
				}
			}
		})
	}
}

// TestWrittenInto checks that a write of another program to the open file is detected before the next decision.
func TestWrittenInto(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.db")
	s := open(t, path)
	list, err := s.Decide(by("t"), []Change{keepIt("a", 0)})
	must(t, list, err)
	if err := os.Truncate(path, 100); err != nil {
		t.Fatal(err)
	}
	for name, write := range map[string]func() error{
		"decide": func() error { _, err := s.Decide(by("t"), []Change{keepIt("b", 0)}); return err },
		"again":  func() error { _, err := s.Decide(by("t"), []Change{keepIt("b", 0)}); return err },
		"undo":   func() error { _, err := s.Undo(by("t")); return err },
	} {
		if err := write(); !errors.As(err, new(*Gone)) || !strings.Contains(err.Error(), "another program wrote") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// many returns the bytes of a decisions file with n decisions.
func many(t testing.TB, n int) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "d.db")
	s := open(t, path)
	for i := range n {
		list, err := s.Decide(by("t"), []Change{keepIt(fmt.Sprint("image", i), 0)})
		must(t, list, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestCut checks that a truncated file is refused, unless all decisions can still be read.
func TestCut(t *testing.T) {
	const n = 150
	data, dir, refused := many(t, n), t.TempDir(), 0
	for lost := 1; lost < 5000; lost += 37 {
		path := filepath.Join(dir, fmt.Sprint(lost, ".db"))
		if err := os.WriteFile(path, data[:len(data)-lost], 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(path)
		if err != nil {
			if refused++; !strings.Contains(err.Error(), "damaged") && !errors.Is(err, ErrChanged) {
				t.Errorf("%d bytes lost: %v", lost, err)
			}
			continue
		}
		if served := len(all(t, s)); served != n {
			t.Errorf("%d bytes lost: %d decisions of %d are served", lost, served, n)
		}
		s.Close()
	}
	if refused < 50 {
		t.Errorf("only %d truncated files were refused: the test does not truncate", refused)
	}
}

// TestUnknownAction checks that an unknown action written by another program is reported with the file's path.
// Every read of the tables must refuse it.
func TestUnknownAction(t *testing.T) {
	for table, use := range map[string]func(*Store) error{
		"images":  func(s *Store) error { return s.Images(func(Image) error { return nil }) },
		"history": func(s *Store) error { _, err := s.Undo(by("t")); return err },
	} {
		path := filepath.Join(t.TempDir(), "d.db")
		s := open(t, path)
		list, err := s.Decide(by("t"), []Change{keepIt("a.png", 0)})
		must(t, list, err)
		s.Close()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := db.Exec("UPDATE " + table + " SET action = 'burn'"); err != nil {
			t.Fatal(err)
		}
		sumAgain(t, db)
		if err := use(open(t, path)); err == nil || !strings.Contains(err.Error(), path) ||
			!strings.Contains(err.Error(), `"burn" is not keep, drop`) {
			t.Errorf("%s: got %v", table, err)
		}
	}
}
