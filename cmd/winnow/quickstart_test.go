package main

import (
	"strings"
	"testing"

	"winnow/internal/testing/orttest"
)

// TestQuickstart checks that a quickstart's audit reuses its features and finds most of the label errors, and that a
// second quickstart does not replace a file of the user's.
func TestQuickstart(t *testing.T) {
	orttest.Runtime(t)
	t.Chdir(t.TempDir())
	out, stderr := mustCall(t, "quickstart", "--out", "demo") // no studio without a terminal
	if !strings.Contains(stderr, "are reused") {
		t.Errorf("the audit made the features again: %s", stderr)
	}
	holds(t, out, "labels look wrong", "75 of 720 are wrong", "duplicates",
		"next: winnow studio demo/manifest.csv --root demo/images --out demo/fixed.csv", "Three things to try",
		"Open the studio: winnow studio demo/manifest.csv --root demo/images --out demo/fixed.csv")
	rows := strings.Split(strings.TrimSpace(readFile(t, "demo/suspects.csv")), "\n")[1:]
	wrong := 0
	for _, row := range rows[:50] { // rank,given/shown-number.jpg,…
		given, file, _ := strings.Cut(strings.Split(row, ",")[1], "/")
		if shown, _, _ := strings.Cut(file, "-"); shown != given {
			wrong++
		}
	}
	if len(rows) != 720 || wrong < 45 {
		t.Errorf("%d of the first 50 of %d images are wrong, expected at least 45 of 720", wrong, len(rows))
	}
	write(t, "demo/images/cat/mine.jpg", "mine")
	fails(t, 1, "holds \"cat/mine.jpg\"", "quickstart", "--out", "demo")
}
