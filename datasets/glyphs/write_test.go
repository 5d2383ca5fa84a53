package glyphs

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// broken is a file system that fails after left files, as if the disk were full.
type broken struct {
	fs.FS
	left int
}

func (b *broken) ReadFile(name string) ([]byte, error) {
	if b.left--; b.left < 0 {
		return nil, errors.New("no space left")
	}
	return fs.ReadFile(b.FS, name)
}

// A failed call can be repeated and then gives the same result as one call. Other files are not touched.
func TestWriteAgain(t *testing.T) {
	d, files, err := New(Config{Classes: 12, Images: 2})
	if err != nil {
		t.Fatal(err)
	}
	pictures := fstest.MapFS{}
	for _, s := range d.Samples {
		pictures[s.Path] = &fstest.MapFile{Data: []byte("picture of " + s.Path)}
	}
	if _, err := fs.Stat(files, d.Samples[0].Path); err != nil {
		t.Fatal(err)
	}
	write := func(dir string, from fs.FS) error {
		return Write(context.Background(), d, from, dir, filepath.Join(dir, "manifest.csv"))
	}
	content := func(dir string) map[string]string {
		found := map[string]string{}
		err := fs.WalkDir(os.DirFS(dir), ".", func(path string, e fs.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				data, err := os.ReadFile(filepath.Join(dir, path))
				found[path] = string(data)
				return err
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	whole, again := filepath.Join(t.TempDir(), "g"), filepath.Join(t.TempDir(), "g")
	if err := write(whole, pictures); err != nil {
		t.Fatal(err)
	}
	if err := write(again, &broken{pictures, 7}); err == nil || len(content(again)) != 7 {
		t.Fatalf("%v, %d files", err, len(content(again)))
	}
	killed := filepath.Join(again, ".manifest.csv.tmp-77") // as left by a killed process
	if err := os.WriteFile(killed, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(again, pictures); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(content(whole), content(again)); diff != "" {
		t.Errorf("(-at once +again):\n%s", diff)
	}
	if err := write(again, pictures); !errors.Is(err, ErrNotEmpty) {
		t.Errorf("over a finished one: %v", err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := write(other, pictures); !errors.Is(err, ErrNotEmpty) || len(content(other)) != 1 {
		t.Errorf("beside other files: %v, %d files", err, len(content(other)))
	}
}
