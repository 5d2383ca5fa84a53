//go:build unix

package backbone

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipesAreNoImages: a pipe named like an image is refused without waiting, and a device is not read without
// end.
func TestPipesAreNoImages(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.jpg"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(dir, "zero.jpg")); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"pipe.jpg": "is a named pipe, expected a file",
		"zero.jpg": "is a device, expected a file"} {
		if _, err := Inspect(os.DirFS(dir), name); err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %q", name, err, want)
		}
		if small := ReadThumbnail(os.DirFS(dir), name, 8); small.Err == nil ||
			!strings.Contains(small.Err.Error(), want) {
			t.Errorf("%s, small: %v", name, small.Err)
		}
	}
}
