package rules

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// opening finds calls that open, read or write a file without checking its type.
var opening = regexp.MustCompile(`\bos\.(Open|OpenFile|Create|ReadFile|WriteFile|OpenInRoot)\(`)

// openers lists the rooms and files that may open files directly, with the reason.
var openers = map[string]string{
	"internal/regular":                "owns opening",
	"internal/atomicfile":             "owns writing",
	"internal/lock":                   "opens lock files with flags of its own, and follows no link",
	"internal/budget/memory_linux.go": "reads /proc, whose files have no size",
}

// TestOpening checks that files are opened by internal/regular and written by internal/atomicfile, which reject pipes
// and devices, limit sizes, and do not follow links when writing.
func TestOpening(t *testing.T) {
	used := map[string]bool{}
	sources(t, func(name string, content []byte) {
		if strings.HasPrefix(name, "experiments/") || strings.HasPrefix(name, "internal/testing/") {
			return
		}
		call := opening.Find(content)
		if call == nil {
			return
		}
		for _, owner := range []string{name, path.Dir(name)} {
			if openers[owner] != "" {
				used[owner] = true
				return
			}
		}
		t.Errorf("%s: found %s…), expected regular.Open, regular.ReadFile, regular.OpenOwn or atomicfile.Write", name, call)
	})
	for owner := range openers {
		if !used[owner] {
			t.Errorf("%s opens no file itself any more: remove it from openers", owner)
		}
	}
}
