package rules

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"winnow/internal/testing/reference"
)

// The program in another module is short and builds; `make consumer` runs it.
func TestConsumer(t *testing.T) {
	dir := filepath.Join(reference.Root(t), "internal", "testing", "consumer")
	text, err := os.ReadFile(filepath.Join(dir, "main.go"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(text, []byte("\n")); n > 50 {
		t.Errorf("main.go has %d lines, expected at most 50", n)
	}
	vet := exec.Command("go", "vet", "./...")
	vet.Dir = dir
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
