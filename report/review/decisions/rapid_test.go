package decisions

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// actionsOf removes the versions from the states of a store.
func actionsOf(m map[string]string) map[string]string {
	out := map[string]string{}
	for path, text := range m {
		text, _, _ = strings.Cut(text, " v")
		if text != "undecided " {
			out[path] = text
		}
	}
	return out
}

// TestAnyOrder lets three tabs act in random order. Returned states must equal stored states, refusals must not change
// the store, redo must revert undo, versions must increase by one, and a reopened file must have the same states.
func TestAnyOrder(t *testing.T) {
	dir, n := t.TempDir(), 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		path := filepath.Join(dir, fmt.Sprint(n, ".db"))
		s := open(t, path)
		versions := map[string]int64{}
		take := func(list []Image) {
			for _, i := range list {
				if i.Version != versions[i.Path]+1 {
					r.Fatalf("the version of %s changed from %d to %d", i.Path, versions[i.Path], i.Version)
				}
				versions[i.Path] = i.Version
			}
		}
		for range rapid.IntRange(1, 25).Draw(r, "steps") {
			tab := rapid.SampledFrom([]string{"one", "two", "three"}).Draw(r, "tab")
			before := all(t, s)
			var list []Image
			var err error
			switch rapid.IntRange(0, 4).Draw(r, "what") {
			case 0:
				if list, err = s.Undo(by(tab)); err == nil {
					take(list)
					again, err := s.Redo(by(tab))
					if err != nil {
						r.Fatalf("redo right after undo: %v", err)
					}
					take(again)
					if diff := cmp.Diff(actionsOf(before), actionsOf(all(t, s))); diff != "" {
						r.Fatalf("undo and redo: %s", diff)
					}
					if list, err = s.Undo(by(tab)); err != nil {
						r.Fatalf("undo after redo: %v", err)
					}
				}
			case 1:
				list, err = s.Redo(by(tab))
			default:
				var batch []Change
				for _, p := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 1, 3,
					rapid.ID[string]).Draw(r, "images") {
					c := Change{Path: p, Given: "cat",
						Action: rapid.SampledFrom([]Action{Keep, Drop, Unsure, Undecided}).Draw(r, "action"),
						Note:   rapid.SampledFrom([]string{"", "blurred"}).Draw(r, "note"), Version: versions[p]}
					if rapid.IntRange(0, 9).Draw(r, "stale") == 0 {
						c.Version++
					}
					batch = append(batch, c)
				}
				list, err = s.Decide(by(tab), batch)
			}
			take(list)
			after := all(t, s)
			if err != nil {
				if diff := cmp.Diff(before, after); diff != "" {
					r.Fatalf("%v, but the store changed: %s", err, diff)
				}
				continue
			}
			for _, i := range list {
				if want := said(i); after[i.Path] != want {
					r.Fatalf("%s: returned %s, stored %s", i.Path, want, after[i.Path])
				}
			}
		}
		want := all(t, s)
		s.Close()
		s = open(t, path)
		if diff := cmp.Diff(want, all(t, s)); diff != "" {
			r.Fatal(diff)
		}
		s.Close()
	})
}
