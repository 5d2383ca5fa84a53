package decisions

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// everybody returns the contents of the store, with a line for each reviewer of an image.
func everybody(t *testing.T, s *Store) (lines []string) {
	t.Helper()
	if err := s.Images(func(i Image) error {
		lines = append(lines,
			i.Path+" "+i.Reviewer+": "+said(i))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestReviewers checks that each reviewer has a separate decision, note and version for each image, and cannot undo
// another reviewer's decisions, even in the same tab.
func TestReviewers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.db")
	s := open(t, path)
	ann, ben := Author{"tab", "Ann"}, Author{"tab", "Ben"}
	decide := func(by Author, c Change) {
		t.Helper()
		list, err := s.Decide(by, []Change{c})
		if must(t, list, err); list[0].Reviewer != by.Reviewer {
			t.Errorf("got the decision of %q", list[0].Reviewer)
		}
	}
	decide(ann, keepIt("a", 0))
	decide(ben, Change{Path: "a", Given: "cat", Action: Unsure, Note: "fur,\nor moss?"})
	decide(ann, dropIt("a", 1))
	want := []string{"a Ben: unsure  v1 fur,\nor moss?", "a Ann: drop  v2"}
	if diff := cmp.Diff(want, everybody(t, s)); diff != "" {
		t.Error(diff)
	}
	if _, err := s.Decide(ben, []Change{keepIt("a", 0)}); !errors.As(err, new(*Conflict)) ||
		err.(*Conflict).Images[0].Reviewer != "Ben" {
		t.Errorf("an old version: %v", err)
	}
	undo := func(by Author, want string) {
		t.Helper()
		list, err := s.Undo(by)
		if must(t, list, err); len(list) != 1 || list[0].Reviewer != by.Reviewer || said(list[0]) != want {
			t.Errorf("undone: %+v, expected %s", list, want)
		}
	}
	undo(ben, "undecided  v2")
	undo(ann, "keep  v3")
	list, err := s.Redo(ben)
	if must(t, list, err); said(list[0]) != "unsure  v3 fur,\nor moss?" {
		t.Errorf("redone: %+v", list)
	}
	undo(ann, "undecided  v4")
	if _, err := s.Undo(ann); !errors.Is(err, ErrNothing) {
		t.Errorf("another reviewer's decision was undone: %v", err)
	}
	before := everybody(t, s)
	s.Close()
	if diff := cmp.Diff(before, everybody(t, open(t, path))); diff != "" {
		t.Errorf("opened again: %s", diff)
	}
}

// TestEarlierVersion opens a file of the oldest version, whose additional table tags must stay.
func TestEarlierVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.db")
	s := open(t, path)
	list, err := s.Decide(by("t"), []Change{keepIt("a", 0)})
	must(t, list, err)
	s.Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("CREATE TABLE tags (path TEXT); INSERT INTO tags VALUES ('a'); PRAGMA user_version=6"); err != nil {
		t.Fatal(err)
	}
	db.Close()
	s = open(t, path)
	list, err = s.Decide(by("t"), []Change{dropIt("a", 1)})
	must(t, list, err)
	if got := all(t, s); got["a"] != "drop  v2" {
		t.Errorf("got %v", got)
	}
}
