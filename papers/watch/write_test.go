package watch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/internal/lock"
)

// A trace takes away what an earlier one drew into its folder, and nothing else, whatever that is called.
func TestWriteKeepsOthersFiles(t *testing.T) {
	dir := t.TempDir()
	result := func(at int) Result {
		f := traced(at)
		for step := range at {
			f.Step(step+1, []int{0, 2, 1}, []int{0, 1}, []float64{0.9, 1, 0.1}, "vmf")
		}
		return Result{Config: map[string]string{}, Runs: []Run{{Filter: "vmf", Scores: f.Scores(), seen: &Training{Filter: f}}}}
	}
	theirs := []string{"kappa.svg", "notes.txt", "scores-2024-05.svg", "scores-vmf-7.svg"}
	for _, name := range theirs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("not of a trace"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, at := range []int{3, 2} {
		if err := result(at).Write(dir); err != nil {
			t.Fatal(err)
		}
	}
	var found []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		found = append(found, e.Name())
	}
	want := append([]string{lock.Name, File, Page, "accuracy.svg", "scores-vmf-2.svg"}, theirs...)
	slices.Sort(want)
	if !slices.Equal(found, want) {
		t.Errorf("found %v, expected %v", found, want)
	}
	for _, name := range theirs {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(text) != "not of a trace" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
	list, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "other.svg")
	name, err := filepath.Rel(dir, outside)
	if err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{outside: "", filepath.Join(dir, File): strings.Replace(string(list), `"accuracy.svg"`, `"`+name+`", "notes.txt"`, 1)} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := result(1).Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{outside, filepath.Join(dir, "notes.txt")} {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("a list that names what no trace draws: %v", err)
		}
	}
}
