//go:build unix

package datasets_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"winnow/datasets"
)

// TestFoldersWithPipes: a pipe or device named like an image is not a sample. Links to files are, and so are broken
// links, which their reader reports. A manifest that is a pipe is rejected, not waited for.
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

// TestFoldersNotUTF8: a folder whose name is not UTF-8 is listed in place of its images, for their reader to
// report; the other folders are read.
func TestFoldersNotUTF8(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"birds/a.png", "birds/un\xff/b.png", "cl\xffass/c.png", "fish/d.png"} {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); errors.Is(err, syscall.EILSEQ) {
			t.Skip("names are UTF-8 here")
		} else if err := errors.Join(err, os.WriteFile(file, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := datasets.ReadFile(dir, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.Paths(), []string{"birds/a.png", "birds/un\xff", "cl\xffass", "fish/d.png"}; !slices.Equal(got,
		want) {
		t.Errorf("%q, expected %q", got, want)
	}
	list, told := filepath.Join(t.TempDir(), "list.csv"), ""
	err = datasets.WriteFile(list, d, func(format string, args ...any) { told = fmt.Sprintf(format, args...) })
	if err != nil || !strings.Contains(told, "2 images left out") {
		t.Errorf("%v, told %q", err, told)
	}
	if d, err = datasets.ReadFile(list, datasets.ReadOptions{}); err != nil ||
		!slices.Equal(d.Paths(), []string{"birds/a.png", "fish/d.png"}) {
		t.Errorf("the list holds %q, %v", d.Paths(), err)
	}
}
