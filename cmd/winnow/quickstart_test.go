package main

import (
	"strings"
	"testing"

	"winnow/internal/testing/orttest"
)

// TestQuickstart checks that a quickstart's audit reuses its features, and that a second quickstart replaces the first.
func TestQuickstart(t *testing.T) {
	orttest.Runtime(t)
	t.Chdir(t.TempDir())
	_, stderr := mustCall(t, "quickstart", "--classes", "12", "--images", "6", "--out", "demo")
	if !strings.Contains(stderr, "are reused") {
		t.Errorf("the audit made the features again: %s", stderr)
	}
	out := mustRun(t, "winnow -q quickstart --classes 16 --images 8 --out demo") // no studio without a terminal
	holds(t, out, "labels look wrong",
		"next: winnow studio demo/manifest.csv --root demo/images.zip --out demo/fixed.csv", "Three things to try",
		"Open the studio: winnow studio demo/manifest.csv --root demo/images.zip --out demo/fixed.csv")
	if list := readFile(t, "demo/suspects.csv"); strings.Count(list, "\n") != 16*8+1 {
		t.Errorf("the audit lists %d images, expected %d", strings.Count(list, "\n")-1, 16*8)
	}
}
