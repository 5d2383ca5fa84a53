package main

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
)

// fixture holds files that several tests share and the first test makes. Tests with a fixture change the working
// folder, so they must not run in parallel.
type fixture struct{ files fstest.MapFS }

// here copies the files into a new working folder. The first time, build makes them there.
func (f *fixture) here(t *testing.T, build func()) {
	t.Helper()
	t.Chdir(t.TempDir())
	if f.files != nil {
		if err := os.CopyFS(".", f.files); err != nil {
			t.Fatal(err)
		}
		return
	}
	build()
	files := fstest.MapFS{}
	err := fs.WalkDir(os.DirFS("."), ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[path] = &fstest.MapFile{Data: data, Mode: 0o644}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	f.files = files
}
