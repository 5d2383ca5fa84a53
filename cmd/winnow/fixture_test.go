package main

import (
	"io/fs"
	"os"
	"testing"
	"testing/fstest"
)

// fixture is files that several tests begin with, made by the first of them and copied for the others. Tests that use
// one change the working folder, so none runs beside another.
type fixture struct{ files fstest.MapFS }

// here puts the files into a new working folder; build makes them in it.
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
