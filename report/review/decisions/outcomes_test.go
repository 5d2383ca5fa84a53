package decisions

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
)

func TestReadOutcomes(t *testing.T) {
	s := fresh(t)
	for _, d := range []struct {
		by   Author
		list []Change
	}{
		{Author{"p", "ann"}, []Change{keepIt("a", 0), dog("b", 0), dropIt("c", 0), dog("d", 0), keepIt("e", 0)}},
		{Author{"p", "bob"}, []Change{keepIt("a", 0), keepIt("b", 0), {Path: "c", Given: "cat", Action: Unsure}}},
		{Author{"q", "cyd"}, []Change{dog("b", 0), dog("f", 0)}},
		{Author{"p", "ann"}, []Change{{Path: "e", Given: "cat", Action: Undecided, Version: 1}}},
	} {
		list, err := s.Decide(d.by, d.list)
		must(t, list, err)
	}
	if list, err := s.Decide(Author{"p", "dan"}, []Change{keepIt("d", 0)}); err != nil {
		t.Fatal(list, err)
	}
	got, err := ReadOutcomes(s.Path, nil) // while the store is open
	if err != nil {
		t.Fatal(err)
	}
	want := &datasets.Checks{File: s.Path, Open: 1, By: map[string]datasets.Checked{
		"a": {Given: "cat", Right: true}, "b": {Given: "cat", Label: "dog"}, "c": {Given: "cat"},
		"f": {Given: "cat", Label: "dog"},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := ReadOutcomes(s.Path+".missing", nil); err == nil {
		t.Error("a missing file was read")
	}
}
