// Package waiting makes file systems that do not answer, for tests.
package waiting

import (
	"io/fs"
	"sync"
	"testing"
)

// FS is a file system in which reading the file Name waits until the test ends.
type FS struct {
	fs.FS
	Name    string
	Reached <-chan struct{} // closed at the first read

	reach func()
	end   chan struct{}
}

// At returns a file system in which reading a file of fsys waits.
func At(t testing.TB, fsys fs.FS, name string) *FS {
	reached := make(chan struct{})
	f := &FS{FS: fsys, Name: name, Reached: reached, reach: sync.OnceFunc(func() { close(reached) }),
		end: make(chan struct{})}
	t.Cleanup(func() { close(f.end) })
	return f
}

// Open implements [fs.FS].
func (f *FS) Open(name string) (fs.File, error) {
	in, err := f.FS.Open(name)
	if err != nil || name != f.Name {
		return in, err
	}
	return file{in, f}, nil
}

type file struct {
	fs.File
	of *FS
}

func (f file) Read(b []byte) (int, error) {
	f.of.reach()
	<-f.of.end
	return f.File.Read(b)
}
