package interrupt_test

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"

	"winnow/internal/interrupt"
	"winnow/internal/testing/waiting"
)

// A file that does not answer is left when the context ends; before, and of other files, everything is read as it is.
func TestFS(t *testing.T) {
	files := fstest.MapFS{"a/b": {Data: []byte("text")}, "c": {Data: []byte("more")}}
	slow := waiting.At(t, files, "c")
	ctx, end := context.WithCancel(t.Context())
	fsys := interrupt.FS(ctx, slow)
	if data, err := fs.ReadFile(fsys, "a/b"); err != nil || string(data) != "text" {
		t.Errorf("%q, %v", data, err)
	}
	if info, err := fs.Stat(fsys, "c"); err != nil || info.Size() != 4 {
		t.Errorf("%v, %v", info, err)
	}
	if _, err := fsys.Open("none"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	go func() {
		<-slow.Reached
		end()
	}()
	if _, err := fs.ReadFile(fsys, "c"); !errors.Is(err, context.Canceled) {
		t.Errorf("a file that does not answer: %v", err)
	}
	if _, err := fsys.Open("a/b"); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}
