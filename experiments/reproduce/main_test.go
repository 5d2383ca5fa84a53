package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The stored verdicts are those of the stored numbers by today's rules.
func TestVerdicts(t *testing.T) {
	files, err := rendered(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range files {
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(got), string(want)); diff != "" {
			t.Errorf("%s is not of today (go run ./experiments/reproduce renews it): %s", path, diff)
		}
	}
}
