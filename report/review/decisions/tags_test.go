package decisions

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// tagged returns the tags of all images that have some.
func tagged(t testing.TB, s *Store) map[string]string {
	t.Helper()
	m := map[string]string{}
	if err := s.Images(func(i Image) error {
		if len(i.Tags) > 0 {
			m[i.Path] = strings.Join(i.Tags, TagMark)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return m
}

func stands(path string, give, take []string) Change {
	return Change{Path: path, Given: "cat", Stands: true, Give: give, Take: take}
}

// TestTags: tags belong to the image, leave the decision as it is, are undone and redone with their batch, and are
// there when the file is opened again.
func TestTags(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.db")
	s := open(t, path)
	ann, bob := Author{"one", "Ann"}, Author{"two", "Bob"}
	list, err := s.Decide(ann, []Change{dog("a", 0)})
	at := must(t, list, err)[0].At
	list, err = s.Decide(ann, []Change{stands("a", []string{"x", "blurred"}, nil), stands("b", []string{"x"}, nil)})
	must(t, list, err)
	if got := list[0]; got.Action != Relabel || got.Label != "dog" || !got.At.Equal(at) || got.Version != 2 ||
		!cmp.Equal(got.Tags, []string{"blurred", "x"}) || list[1].Action != Undecided || list[1].Given != "cat" {
		t.Errorf("got %+v", list)
	}
	// Another reviewer sees them, takes one, and gives one that is there already: no version is asked for.
	list, err = s.Decide(bob, []Change{stands("a", []string{"x", "new"}, []string{"blurred", "none"})})
	if must(t, list, err); !cmp.Equal(list[0].Tags, []string{"new", "x"}) {
		t.Errorf("got %+v", list)
	}
	_, past, err := s.History(0, 1)
	if err != nil || !cmp.Equal(past[0].Given, []string{"new"}) || !cmp.Equal(past[0].Taken, []string{"blurred"}) {
		t.Errorf("history %+v, %v", past, err)
	}
	step := func(what string, do func(Author) ([]Image, error), who Author, want map[string]string) {
		t.Helper()
		list, err := do(who)
		must(t, list, err)
		if diff := cmp.Diff(want, tagged(t, s)); diff != "" {
			t.Errorf("%s: %s", what, diff)
		}
		for _, i := range list {
			if strings.Join(i.Tags, TagMark) != want[i.Path] {
				t.Errorf("%s answers %+v", what, i)
			}
		}
	}
	step("undo of Bob's", s.Undo, bob, map[string]string{"a": "blurred;x", "b": "x"})
	step("redo of Bob's", s.Redo, bob, map[string]string{"a": "new;x", "b": "x"})
	// Ann's undo takes back what she gave and leaves what Bob gave.
	step("undo of Ann's", s.Undo, ann, map[string]string{"a": "new"})
	step("redo of Ann's", s.Redo, ann, map[string]string{"a": "blurred;new;x", "b": "x"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path)
	if diff := cmp.Diff(map[string]string{"a": "blurred;new;x", "b": "x"}, tagged(t, s)); diff != "" {
		t.Error(diff)
	}
	var many []string
	for i := range MostTags {
		many = append(many, fmt.Sprint("t", i))
	}
	before := tagged(t, s)
	if _, err := s.Decide(ann, []Change{stands("c", many, nil), stands("b", many, nil)}); !errors.Is(err, ErrTags) ||
		!strings.Contains(err.Error(), `"b"`) {
		t.Errorf("too many: %v", err)
	}
	if diff := cmp.Diff(before, tagged(t, s)); diff != "" {
		t.Errorf("a refused batch changed: %s", diff)
	}
}

// TestTagsOfEarlierFiles: a file of the version before gets the tables, and keeps its decisions.
func TestTagsOfEarlierFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "d.db")
	s := open(t, path)
	list, err := s.Decide(by("t"), []Change{dog("a", 0), keepIt("b", 0)})
	must(t, list, err)
	s.Close()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{"DROP TABLE tags", "DROP TABLE taggings", "PRAGMA user_version=5"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	db.Close()
	s = open(t, path)
	if diff := cmp.Diff(map[string]string{"a": "relabel dog v1", "b": "keep  v1"}, all(t, s)); diff != "" {
		t.Error(diff)
	}
	list, err = s.Decide(by("t"), []Change{stands("a", []string{"x"}, nil)})
	must(t, list, err)
	if got := tagged(t, s); got["a"] != "x" {
		t.Errorf("got %v", got)
	}
}

func TestCheckTag(t *testing.T) {
	for tag, fine := range map[string]bool{"blurred": true, "ask Ann, today": true, "Zoë 李": true, `"<b>": true`: true,
		strings.Repeat("é", mostTag): true, strings.Repeat("é", mostTag+1): false, "": false, " a": false, "a ": false,
		"a;b": false, "a\nb": false, "a\x00": false, "\xff": false} {
		if err := CheckTag(tag); (err == nil) != fine {
			t.Errorf("%q: %v", tag, err)
		}
	}
}

// TestTagsInAnyOrder compares tags that one tab gives, takes, undoes and redoes with a list of states.
func TestTagsInAnyOrder(t *testing.T) {
	s, n := fresh(t), 0
	if _, err := s.db.Exec("PRAGMA synchronous=OFF"); err != nil { // quicker; nothing is killed here
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		n++
		tab, a, b := by(fmt.Sprint("tab", n)), fmt.Sprint("a", n), fmt.Sprint("b", n)
		states, at := []map[string]string{{}}, 0
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			var err error
			switch rapid.IntRange(0, 3).Draw(r, "what") {
			case 0:
				if _, err = s.Undo(tab); at == 0 != errors.Is(err, ErrNothing) {
					r.Fatalf("undo at %d: %v", at, err)
				}
				at = max(at-1, 0)
			case 1:
				if _, err = s.Redo(tab); at == len(states)-1 != errors.Is(err, ErrNothing) {
					r.Fatalf("redo at %d of %d: %v", at, len(states), err)
				}
				at = min(at+1, len(states)-1)
			default:
				path, next := rapid.SampledFrom([]string{a, b}).Draw(r, "path"), map[string]string{}
				tag, on := rapid.SampledFrom([]string{"x", "y", "z"}).Draw(r, "tag"), rapid.Bool().Draw(r, "on")
				for k, v := range states[at] {
					next[k] = v
				}
				list := slices.DeleteFunc(strings.Split(next[path], TagMark), func(v string) bool {
					return v == "" || v == tag
				})
				c := stands(path, nil, []string{tag})
				if on {
					c, list = stands(path, []string{tag}, nil), append(list, tag)
				}
				slices.Sort(list)
				if next[path] = strings.Join(list, TagMark); next[path] == "" {
					delete(next, path)
				}
				if _, err = s.Decide(tab, []Change{c}); err != nil {
					r.Fatal(err)
				}
				states, at = append(states[:at+1], next), at+1
			}
			got := tagged(t, s)
			for path := range got {
				if path != a && path != b {
					delete(got, path)
				}
			}
			if diff := cmp.Diff(states[at], got); diff != "" {
				r.Fatal(diff)
			}
		}
	})
}
