package models

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/backbone/graph"
)

// The error for a recorded file that has changed contains both checksums, whether the file is opened by the entry's
// name, by its path or by a link. The file is accepted when it is recorded again, or without an entry.
func TestChangedSinceRecorded(t *testing.T) {
	dir := t.TempDir()
	r := &Registry{path: filepath.Join(dir, "models.json")}
	file, link := save(t, "a.onnx", classifier(graph.Free("N"), 3, 32)), filepath.Join(dir, "link.onnx")
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	before, err := r.Resolve(file, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	entry := before.Entry
	entry.Name, entry.File, entry.SHA256 = "mine", file, before.SHA256
	if err := r.addEntry(entry); err != nil {
		t.Fatal(err)
	}
	other := save(t, "b.onnx", classifier(graph.Free("N"), 3, 64))
	data, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"mine", file, link} {
		_, err := r.Resolve(name, Settings{})
		if err == nil || !strings.Contains(err.Error(), before.SHA256) || !strings.Contains(err.Error(), Sum(data)) {
			t.Errorf("%s: %v, expected both sums", name, err)
		}
		if _, err := r.Match(name, before.SHA256); err == nil || !strings.Contains(err.Error(), Sum(data)) {
			t.Errorf("%s: %v, expected both sums", name, err)
		}
	}
	if b, err := r.Resolve(other, Settings{}); err != nil || b.SHA256 != Sum(data) {
		t.Errorf("the same bytes elsewhere: %v", err)
	}
}
