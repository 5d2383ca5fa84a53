package atomicfile_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/atomicfile"
)

// TestWrite checks that after any failure the file is old or new, and that no temporary file is left.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	if err := atomicfile.WriteBytes(path, []byte("old")); err != nil {
		t.Fatal(err)
	}
	full := errors.New("the disk is full")
	for what, write := range map[string]func(io.Writer) error{
		"at once":      func(io.Writer) error { return full },
		"after a part": func(w io.Writer) error { _, _ = w.Write(make([]byte, 1<<20)); return full },
	} {
		if err := atomicfile.Write(path, write); !errors.Is(err, full) {
			t.Errorf("%s: got %v, expected %v", what, err, full)
		}
		check(t, dir, "old")
	}
	write := func(w io.Writer) error { _, err := io.WriteString(w, "new"); return err }
	if err := atomicfile.Write(path, write); err != nil {
		t.Error(err)
	}
	check(t, dir, "new")
}

// check checks the only file in the folder.
func check(t *testing.T, dir, want string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("found %v, %v, expected one file", entries, err)
	}
	if got, err := os.ReadFile(filepath.Join(dir, "file")); string(got) != want {
		t.Errorf("found %.10q, %v, expected %q", got, err, want)
	}
}

// TestWriteNames checks that an error names the target file, not the temporary file.
func TestWriteNames(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "nowhere", "file")
	if err := atomicfile.WriteBytes(missing, nil); !errors.Is(err, fs.ErrNotExist) ||
		!strings.HasPrefix(err.Error(), "write "+missing+": ") {
		t.Errorf("a missing folder: got %v", err)
	}
	if err := atomicfile.WriteBytes(dir, nil); err == nil || !strings.HasPrefix(err.Error(), "write "+dir+": ") {
		t.Errorf("a folder: got %v", err)
	}
	err := atomicfile.Write(filepath.Join(dir, "file"),
		func(w io.Writer) error { _, err := os.Open(missing); return err })
	if err == nil || !strings.HasPrefix(err.Error(), "open "+missing+": ") {
		t.Errorf("the caller's own error: got %v", err)
	}
}
