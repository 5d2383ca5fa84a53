//go:build unix

package datasets_test

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"winnow/datasets"
)

// TestFoldersWithPipes checks that a pipe or device named like an image is not a sample. A link to a file is a sample;
// a broken link is one as well, and gives an error when read. A pipe given as a manifest is an error.
func TestFoldersWithPipes(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, "birds", name) }
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "birds"), 0o700),
		os.WriteFile(at("a.png"), nil, 0o600),
		os.Symlink("a.png", at("link.png")),
		os.Symlink("none.png", at("lost.png")),
		os.Symlink("/dev/zero", at("zero.png")),
		syscall.Mkfifo(at("pipe.png"), 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d, err := datasets.ReadFile(dir, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Paths(), []string{"birds/a.png", "birds/link.png", "birds/lost.png"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	for _, name := range []string{at("pipe.png"), at("zero.png")} {
		if _, err := datasets.ReadFile(name, datasets.ReadOptions{}); err == nil {
			t.Errorf("%s was read as a manifest", name)
		}
	}
}
