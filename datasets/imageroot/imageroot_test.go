package imageroot

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"winnow/datasets/location"
	"winnow/internal/regular"
)

// TestCropsHaveTheirFile checks that the path of a crop opens its file, also in roots served to other users.
func TestCropsHaveTheirFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.jpg"), []byte("picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, open := range []func(context.Context, location.Source) (fs.FS, error){Open, OpenClosed} {
		root, err := open(t.Context(), location.At(dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"a.jpg", "a", "a.jpg#xywh=1,2,3,4", "a.jpg#xywh=1,2,3,4&id=5", "a#xywh=1:2:3:4"} {
			if info, err := fs.Stat(root, path); err != nil || info.Size() != 7 {
				t.Errorf("%s: %v", path, err)
			}
			if data, err := fs.ReadFile(root, path); err != nil || string(data) != "picture" {
				t.Errorf("%s: %q, %v", path, data, err)
			}
			f, _, err := regular.From(root, path)
			if err != nil {
				t.Error(err)
				continue
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
		for _, path := range []string{"b.jpg#xywh=1,2,3,4", "a.jpg#xywh=1,2,3", "../a.jpg#xywh=1,2,3,4"} {
			if _, err := fs.Stat(root, path); err == nil || path[0] != '.' && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s: %v, expected that it does not exist", path, err)
			}
		}
	}
}
