//go:build unix

package atomicfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestLinks checks that a file replaces a link to any target, and that links among the parent folders are followed.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Mkdir(at("a"), 0o755), os.WriteFile(at("a/old"), []byte("old"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"there": "a/old", "missing": "a/new", "chain": "there", "loop": "loop",
		"nowhere": "none/file", "device": os.DevNull, "folder": "a"} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"there", "missing", "chain", "loop", "nowhere", "device", "folder/new"} {
		if err := WriteBytes(at(name), []byte(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		info, err := os.Lstat(at(name))
		got, bad := os.ReadFile(at(name))
		if err != nil || bad != nil || !info.Mode().IsRegular() || string(got) != name {
			t.Errorf("%s: found %q, %v, %v", name, got, info, err)
		}
	}
	if got, err := os.ReadFile(at("a/old")); err != nil || string(got) != "old" {
		t.Errorf("behind the link: found %q, %v", got, err)
	}
	if err := WriteBytes(at("folder"), nil); !errors.Is(err, errFolder) {
		t.Errorf("a link to a folder: %v", err)
	}
	if names := list(t, at("a")); !slices.Equal(names, []string{"new", "old"}) {
		t.Errorf("found %v", names)
	}
}

// A replaced file keeps its mode; a new file has the mode that the process's umask allows.
func TestModes(t *testing.T) {
	dir := t.TempDir()
	for _, mode := range []fs.FileMode{0o600, 0o640, 0o664, 0o755} {
		path := filepath.Join(dir, mode.String())
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		err := Write(path, func(w io.Writer) error {
			half, err := filepath.Glob(filepath.Join(dir, makeTemporaryPrefix(path)+"*"))
			if err != nil || len(half) != 1 {
				t.Fatalf("%v: found %v, %v", mode, half, err)
			}
			if info, err := os.Stat(half[0]); err != nil || info.Mode()&^mode != 0 {
				t.Errorf("%v: while it is written others may read it: %v, %v", mode, info.Mode(), err)
			}
			return nil
		})
		if info, gone := os.Stat(path); err != nil || gone != nil || info.Mode() != mode {
			t.Errorf("%v: became %v, %v, %v", mode, info.Mode(), err, gone)
		}
	}
	defer syscall.Umask(syscall.Umask(0o077))
	path := filepath.Join(dir, "new")
	err := WriteBytes(path, nil)
	if info, gone := os.Stat(path); err != nil || gone != nil || info.Mode() != 0o600 {
		t.Errorf("a new file below the mask 077: %v, %v, %v", info.Mode(), err, gone)
	}
}

// A pipe is written to and stays a pipe; a pipe without a reader is an error, without waiting.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := WriteBytes(pipe, nil); !errors.Is(err, errUnread) || !strings.Contains(err.Error(), pipe) {
		t.Errorf("no reader: %v", err)
	}
	reader, err := os.OpenFile(pipe, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	opened, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	for _, path := range []string{pipe, fmt.Sprintf("/dev/fd/%d", opened.Fd())} {
		if err := WriteBytes(path, []byte("rows")); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		got := make([]byte, 5)
		if n, err := reader.Read(got); err != nil || string(got[:n]) != "rows" {
			t.Errorf("%s: %q, %v", path, got[:n], err)
		}
	}
	if names := list(t, dir); !slices.Equal(names, []string{"pipe"}) {
		t.Errorf("found %v", names)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("the pipe is replaced: %v, %v", info.Mode(), err)
	}
}

// Anything that is neither a file nor a stream is rejected before any byte is written.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	socket := filepath.Join(dir, "socket")
	listening, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listening.Close()
	for path, want := range map[string]error{socket: errSocket, dir: errFolder} {
		called := false
		err := Write(path, func(io.Writer) error { called = true; return nil })
		if !errors.Is(err, want) || !errors.Is(Check(path), want) || called {
			t.Errorf("%s: %v, %v, written: %v", path, err, Check(path), called)
		}
	}
	if to, err := findTarget(os.DevNull); err != nil || !to.stream {
		t.Errorf("%s: %+v, %v, expected a stream", os.DevNull, to, err)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}
