package datasets

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"winnow/internal/testing/memory"
)

// longManifest writes a manifest of 1,000 classes.
func longManifest(t *testing.T, rows int) string {
	t.Helper()
	var text bytes.Buffer
	text.WriteString("path,label,split\n")
	for i := range rows {
		fmt.Fprintf(&text, "c%05d/%07d.jpg,class %d,train\n", i%1000, i, i%1000)
	}
	name := filepath.Join(t.TempDir(), "list.csv")
	if err := os.WriteFile(name, text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Reading a long manifest allocates its samples (72 bytes each), its paths, 4 bytes to find repeated ones, and at most
// as much garbage as its lines take. Named classes, and a file whose first lines are the shortest, need no more.
func TestManifestMemory(t *testing.T) {
	memory.Exactly(t)
	const rows = 200_000
	name := longManifest(t, rows)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d, err := ReadFile(name, ReadOptions{})
	runtime.ReadMemStats(&after)
	if err != nil {
		t.Fatal(err)
	}
	if each := float64(after.TotalAlloc-before.TotalAlloc) / rows; each > 72+18+4+48+13 || len(d.Samples) != rows ||
		len(d.Classes) != 1000 {
		t.Errorf("%.0f bytes a row were allocated, expected at most 155; %d rows of %d classes", each, len(d.Samples),
			len(d.Classes))
	}
	for _, i := range []int{0, 4095, 4096, rows - 1} {
		if s := d.Samples[i]; s.Path != fmt.Sprintf("c%05d/%07d.jpg", i%1000, i) ||
			d.LabelName(s) != fmt.Sprintf("class %d", i%1000) {
			t.Errorf("row %d: %+v", i, s)
		}
	}
}
