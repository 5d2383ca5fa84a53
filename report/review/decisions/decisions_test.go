package decisions

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// open opens a store whose clock advances by a second at each change.
func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	at := time.UnixMilli(1_700_000_000_000)
	s.now = func() time.Time { at = at.Add(time.Second); return at }
	t.Cleanup(func() { s.Close() })
	return s
}

func fresh(t testing.TB) *Store { return open(t, filepath.Join(t.TempDir(), "d.db")) }

// said formats an image's action, label, version and note.
func said(i Image) string {
	return strings.TrimSuffix(fmt.Sprintf("%s %s v%d %s", i.Action, i.Label, i.Version, i.Note), " ")
}

// all returns the states of all images in the store, by path.
func all(t testing.TB, s *Store) map[string]string {
	t.Helper()
	m := map[string]string{}
	last := int64(0)
	err := s.Images(func(i Image) error {
		m[i.Path] = said(i)
		if i.Change < last {
			t.Errorf("%s with change %d follows change %d", i.Path, i.Change, last)
		}
		last = i.Change
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func must(t testing.TB, list []Image, err error) []Image {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// conflictOf returns the paths of a conflict.
func conflictOf(t testing.TB, err error) (paths []string) {
	t.Helper()
	var c *Conflict
	if !errors.As(err, &c) {
		t.Fatalf("got %v, expected a conflict", err)
	}
	for _, i := range c.Images {
		paths = append(paths, i.Path)
	}
	return paths
}

func by(tab string) Author { return Author{Tab: tab} }

func keepIt(path string, version int64) Change {
	return Change{Path: path, Given: "cat", Action: Keep, Version: version}
}
func dropIt(path string, version int64) Change {
	return Change{Path: path, Given: "cat", Action: Drop, Version: version}
}
func dog(path string, version int64) Change {
	return Change{Path: path, Given: "cat", Action: Relabel, Label: "dog", Version: version}
}

// TestDecide checks that a batch is stored completely or not at all, and is read when the file is opened again.
func TestDecide(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?#%41.db") // characters that are special in a URL
	s := open(t, path)
	got, err := s.Decide(by("one"), []Change{keepIt("a", 0), dog("b", 0)})
	must(t, got, err)
	if len(got) != 2 || got[1].Label != "dog" || got[1].Version != 1 || got[1].Change != 1 ||
		got[1].Given != "cat" || got[1].At.UnixMilli() != 1_700_000_001_000 {
		t.Errorf("got %+v", got)
	}
	_, err = s.Decide(by("two"), []Change{dropIt("c", 0), dropIt("a", 0), dropIt("b", 7)})
	if paths := conflictOf(t, err); !cmp.Equal(paths, []string{"a", "b"}) {
		t.Errorf("conflict of %q", paths)
	}
	want := map[string]string{"a": "keep  v1", "b": "relabel dog v1"}
	if diff := cmp.Diff(want, all(t, s)); diff != "" {
		t.Error(diff)
	}
	if v := s.change; v != 1 {
		t.Errorf("version %d, expected 1: a refused batch must not change it", v)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(path) {
		t.Errorf("found %v, %v, expected only the file", entries, err)
	}
	s = open(t, path)
	if diff := cmp.Diff(want, all(t, s)); diff != "" {
		t.Error(diff)
	}
	if v := s.change; v != 1 {
		t.Errorf("opened again: version %d, expected 1", v)
	}
}

// TestDurable checks the SQLite settings that write every commit to the disk.
func TestDurable(t *testing.T) {
	s := fresh(t)
	for pragma, want := range map[string]string{"journal_mode": "wal", "synchronous": "2",
		"locking_mode": "exclusive"} {
		var got string
		if err := s.db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v, expected %q", pragma, got, err, want)
		}
	}
}

// TestUndoConflict checks that undo does not revert later decisions of another tab; the next undo skips the batch.
func TestUndoConflict(t *testing.T) {
	s := fresh(t)
	for _, step := range []struct {
		tab  string
		list []Change
	}{
		{"one", []Change{keepIt("x", 0)}},
		{"one", []Change{keepIt("a", 0), keepIt("b", 0)}},
		{"two", []Change{dropIt("b", 1)}},
	} {
		list, err := s.Decide(by(step.tab), step.list)
		must(t, list, err)
	}
	before := all(t, s)
	_, err := s.Undo(by("one"))
	if paths := conflictOf(t, err); !cmp.Equal(paths, []string{"b"}) {
		t.Errorf("conflict of %q", paths)
	}
	if diff := cmp.Diff(before, all(t, s)); diff != "" {
		t.Errorf("a refused undo changed: %s", diff)
	}
	list, err := s.Undo(by("one"))
	if must(t, list, err); len(list) != 1 || list[0].Path != "x" {
		t.Errorf("the next undo took back %+v, expected x", list)
	}
	// Another tab decides about x: the first redo is a conflict, and the second has nothing to redo.
	list, err = s.Decide(by("two"), []Change{dropIt("x", 2)})
	must(t, list, err)
	_, err = s.Redo(by("one"))
	if paths := conflictOf(t, err); !cmp.Equal(paths, []string{"x"}) {
		t.Errorf("conflict of %q", paths)
	}
	if _, err := s.Redo(by("one")); !errors.Is(err, ErrNothing) {
		t.Errorf("got %v, expected nothing to redo", err)
	}
	// Tab two can undo both of its decisions, which restores the decision of tab one about b.
	for range 2 {
		list, err = s.Undo(by("two"))
		must(t, list, err)
	}
	if got := all(t, s); got["b"] != "keep  v3" || got["x"] != "undecided  v4" {
		t.Errorf("got %v", got)
	}
}

// TestOneHolder checks that an open file cannot be opened again, and that a closed file can.
func TestOneHolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.db")
	s := open(t, path)
	if _, err := Open(path); err == nil ||
		!strings.Contains(err.Error(), path+": it is open in another winnow studio") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
	list, err := s.Decide(by("t"), []Change{keepIt("a", 0)})
	must(t, list, err)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, path)
}

// TestForeign checks that files of other programs are refused and not changed.
func TestForeign(t *testing.T) {
	dir := t.TempDir()
	ours := filepath.Join(dir, "ours.db")
	s := open(t, ours)
	for i := range 200 {
		list, err := s.Decide(by("t"), []Change{keepIt(fmt.Sprint("image", i), 0)})
		must(t, list, err)
	}
	s.Close()
	data, err := os.ReadFile(ours)
	if err != nil {
		t.Fatal(err)
	}
	spoil := func(name string, change func(db *sql.DB)) []byte {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		change(db)
		db.Close()
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	run := func(q string) func(*sql.DB) {
		return func(db *sql.DB) {
			if _, err := db.Exec(q); err != nil {
				t.Fatal(err)
			}
		}
	}
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"text":    {[]byte("path,label\na.jpg,cat\n" + strings.Repeat("b.jpg,dog\n", 100)), "not a decisions file"},
		"newer":   {spoil("n", run("PRAGMA user_version=9")), "version 9, expected 6 to 8"},
		"foreign": {spoil("f", run("PRAGMA application_id=5")), "another program"},
		"cut":     {data[:5000], "damaged"},
		"trigger": {spoil("t", run("CREATE TRIGGER kept AFTER INSERT ON images BEGIN UPDATE images SET action = "+
			"'keep'; END")), "trigger"},
	} {
		file := filepath.Join(dir, name+".db")
		if err := os.WriteFile(file, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := Open(file); err == nil || !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(err.Error(), file) {
			t.Errorf("%s: got %v, expected %q", name, err, c.want)
			if err == nil {
				s.Close()
			}
		}
		if after, _ := os.ReadFile(file); !bytes.Equal(after, c.data) {
			t.Errorf("%s: the file was changed", name)
		}
	}
	if _, err := Open(dir); err == nil {
		t.Error("a folder was opened")
	}
	mine := filepath.Join(dir, "mine")
	for ending, want := range map[string]string{"": "symbolic link", "-wal": "symbolic link", "-shm": "symbolic link",
		"-journal": "symbolic link", " -journal": "journal that winnow did not write"} {
		planted := filepath.Join(dir, ending+"planted.db")
		err := os.Symlink(mine, planted+ending)
		if rest, ok := strings.CutPrefix(ending, " "); ok {
			err = os.WriteFile(planted+rest, []byte("\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Open(planted); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", ending, err)
		}
	}
	if _, err := os.Lstat(mine); err == nil {
		t.Error("a link was followed")
	}
	if _, err := Open(filepath.Join(dir, "no", "d.db")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("in no folder: %v", err)
	}
}

// TestFull checks that a full disk refuses a whole batch, and that decisions are stored again once there is free space.
func TestFull(t *testing.T) {
	s := fresh(t)
	list, err := s.Decide(by("t"), []Change{keepIt("a", 0)})
	must(t, list, err)
	var pages int
	if err := s.db.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		t.Fatal(err)
	}
	room := func(n int) {
		if _, err := s.db.Exec(fmt.Sprint("PRAGMA max_page_count=", n)); err != nil {
			t.Fatal(err)
		}
	}
	room(pages)
	before := all(t, s)
	long := strings.Repeat("x", 20_000)
	if _, err := s.Decide(by("t"), []Change{keepIt("b", 0), keepIt(long, 0)}); err == nil ||
		!strings.Contains(err.Error(), "full") {
		t.Errorf("got %v", err)
	}
	if diff := cmp.Diff(before, all(t, s)); diff != "" {
		t.Error(diff)
	}
	room(1 << 20)
	list, err = s.Decide(by("t"), []Change{keepIt("b", 0), keepIt(long, 0)})
	must(t, list, err)
}
