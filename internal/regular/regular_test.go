//go:build unix

package regular_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"winnow/internal/regular"
)

// folder makes a folder with each kind of file; names of files that must open start with "good".
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.WriteFile(at("good"), []byte("bytes"), 0o600),
		os.Symlink("good", at("good link")),
		os.Symlink("/dev/zero", at("a device")),
		os.Symlink("pipe", at("a named pipe")),
		syscall.Mkfifo(at("pipe"), 0o600),
		os.Mkdir(at("a folder"), 0o700),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	socket, err := net.Listen("unix", at("a socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { socket.Close() })
	return dir
}

// TestOpen checks that files open, also through links, and that a pipe, a device, a socket and a folder are rejected by
// name. A pipe without a writer would block forever, which the test's time-out detects.
func TestOpen(t *testing.T) {
	dir := folder(t)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	from := func(fsys fs.FS) func(string) (fs.File, error) {
		return func(name string) (fs.File, error) {
			f, _, err := regular.From(fsys, name)
			return f, err
		}
	}
	doors := map[string]func(name string) (fs.File, error){
		"Open":            func(name string) (fs.File, error) { return regular.Open(filepath.Join(dir, name)) },
		"From Dir":        from(regular.Dir(dir)),
		"From os.DirFS":   from(os.DirFS(dir)),
		"From Root":       from(regular.Root(root)),
		"Dir, files only": regular.Dir(dir).Open,
	}
	for door, open := range doors {
		for _, name := range []string{"good", "good link"} {
			f, err := open(name)
			if err != nil {
				t.Errorf("%s %q: %v", door, name, err)
				continue
			}
			if data, err := io.ReadAll(f); err != nil || string(data) != "bytes" {
				t.Errorf("%s %q: %q, %v", door, name, data, err)
			}
			f.Close()
		}
		for _, name := range []string{"a device", "a named pipe", "a socket", "a folder"} {
			if door == "From Root" && name == "a device" || door == "Dir, files only" && name == "a folder" {
				continue // the link leaves the root; a tree opens folders
			}
			if _, err := open(name); err == nil || !strings.Contains(err.Error(), "is "+name+", expected a file") {
				t.Errorf("%s %q: %v", door, name, err)
			}
		}
		if _, err := open("none"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s of nothing: %v", door, err)
		}
	}
}

// TestStream checks that an open pipe can be read by its name if it is read once; otherwise the error says what to do.
func TestStream(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	name := fmt.Sprintf("/dev/fd/%d", r.Fd())
	if _, err := regular.Open(name); err == nil ||
		!strings.Contains(err.Error(), "read more than once: write the data to a file first") {
		t.Errorf("a pipe to read more than once: %v", err)
	}
	if _, err := w.WriteString("bytes"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	f, err := regular.Stream(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if data, err := io.ReadAll(f); err != nil || string(data) != "bytes" {
		t.Errorf("%q, %v", data, err)
	}
	dir := folder(t)
	for _, name := range []string{"a named pipe", "a device", "a folder"} { // the pipe would wait for its writer
		if _, err := regular.Stream(filepath.Join(dir, name)); err == nil ||
			!strings.Contains(err.Error(), "is "+name+", expected a file") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestReadFile reads whole files; a file that claims to be larger than memory is rejected without allocating.
func TestReadFile(t *testing.T) {
	dir := folder(t)
	good := filepath.Join(dir, "good")
	if data, err := regular.ReadFile(good, 5); err != nil || string(data) != "bytes" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := regular.ReadFile(filepath.Join(dir, "pipe"), 5); err == nil {
		t.Error("a pipe was read")
	}
	if err := os.Truncate(good, 1<<40); err != nil {
		t.Skipf("no file with holes: %v", err)
	}
	if _, err := regular.ReadFile(good, 5); err == nil ||
		!strings.Contains(err.Error(), "good: has more than 5 bytes") {
		t.Errorf("a terabyte: %v", err)
	}
}

// TestDir checks that the tree meets the requirements of the standard library and reports names that it cannot serve.
func TestDir(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, fstest.MapFS{"a/b": {Data: []byte("1")}, "c": {Data: []byte("2")}}); err != nil {
		t.Fatal(err)
	}
	if err := fstest.TestFS(regular.Dir(dir), "a/b", "c"); err != nil {
		t.Error(err)
	}
	if _, err := regular.Dir(dir).Open("\xff.png"); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("a name of other bytes: %v", err)
	}
}
