package features_test

import (
	"slices"
	"strings"
	"testing"

	"winnow/features"
)

// FuzzPaths checks that any names survive encoding and decoding, one per line.
func FuzzPaths(f *testing.F) {
	for _, name := range []string{"a.png", "two\nlines.png", "\r", `"quoted".png`, `"`, `"a\nb"`, `"\"a\\nb\""`,
		"ff\xff.png", `""`, "\"\n\""} {
		f.Add(name, "b.png")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		if a == "" || b == "" {
			t.Skip() // no store has an empty path
		}
		paths := []string{a, b, a}
		text := features.EncodePaths(paths)
		if strings.Count(text, "\n") != 3 || strings.Contains(text, "\r") {
			t.Errorf("%q, expected three lines", text)
		}
		if got := features.DecodePaths(text); !slices.Equal(got, paths) {
			t.Errorf("%q came back as %q", paths, got)
		}
	})
}

// TestPlainPaths checks that ordinary names are written unquoted, which keeps the keys of existing stores valid.
func TestPlainPaths(t *testing.T) {
	if got, want := features.EncodePaths([]string{"a b.png", `"c".png`, "d\\n.png"}),
		"a b.png\n\"c\".png\nd\\n.png\n"; got != want {
		t.Errorf("%q, expected %q", got, want)
	}
}
