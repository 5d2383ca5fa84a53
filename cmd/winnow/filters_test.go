package main

import (
	"strings"
	"testing"

	"winnow/cmd/winnow/catalogs"
	"winnow/filters"
)

func TestFiltersCommand(t *testing.T) {
	list := runJSON[[]catalogs.Filter](t, "winnow filters --json")
	if len(list) != len(filters.Catalog) {
		t.Errorf("%d filters, expected %d", len(list), len(filters.Catalog))
	}
	for _, f := range list {
		text := mustRun(t, "winnow filters "+f.Name)
		for _, s := range f.Settings {
			if !strings.Contains(text, s.Doc) {
				t.Errorf("winnow filters %s does not describe %s:\n%s", f.Name, s.Name, text)
			}
		}
		if !strings.Contains(text, f.Paper) || !strings.Contains(text, f.JudgesBy) {
			t.Errorf("winnow filters %s lacks source or reference:\n%s", f.Name, text)
		}
	}
}
