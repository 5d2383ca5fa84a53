//go:build unix

package atomicfile

import (
	"errors"
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

// A link stays a link: its target is written, even if it does not exist yet.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, sub := range []string{"a", "b", "b/c"} {
		if err := os.Mkdir(at(sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(at("a/old"), []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{
		"there": "a/old", "missing": "a/new", "chain": "there", "b/c/up": "../../a/up", "absolute": at("a/absolute"),
		"folder": "b/c", "loop": "loop", "nowhere": "none/file",
	} {
		if err := os.Symlink(to, at(name)); err != nil {
			t.Fatal(err)
		}
	}
	for name, real := range map[string]string{
		"there": "a/old", "missing": "a/new", "chain": "a/old", "b/c/up": "a/up", "folder/up": "a/up",
		"absolute": "a/absolute",
	} {
		if err := WriteBytes(at(name), []byte(name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if got, err := os.ReadFile(at(real)); err != nil || string(got) != name {
			t.Errorf("%s: found %q in %s, %v", name, got, real, err)
		}
		if info, err := os.Lstat(at(name)); err != nil || info.Mode()&fs.ModeSymlink == 0 {
			t.Errorf("%s: is no link any more: %v, %v", name, info.Mode(), err)
		}
	}
	for name, want := range map[string]error{"loop": syscall.ELOOP, "nowhere": fs.ErrNotExist} {
		if err := WriteBytes(at(name), nil); !errors.Is(err, want) || !strings.Contains(err.Error(), at(name)) {
			t.Errorf("%s: found %v, expected %v", name, err, want)
		}
	}
	if left, err := filepath.Glob(at("*/.*.tmp-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A file that is replaced keeps its mode; a new one is what the process's mask allows.
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
			half, err := filepath.Glob(filepath.Join(dir, beside(path)+"*"))
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

// A pipe is written to and stays; a pipe without a reader is an error, without waiting.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "link")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink("pipe", link)); err != nil {
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
	for _, path := range []string{pipe, link} {
		if err := WriteBytes(path, []byte("rows")); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		got := make([]byte, 5)
		if n, err := reader.Read(got); err != nil || string(got[:n]) != "rows" {
			t.Errorf("%s: %q, %v", path, got[:n], err)
		}
	}
	if names := list(t, dir); !slices.Equal(names, []string{"link", "pipe"}) {
		t.Errorf("found %v", names)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().Type() != fs.ModeNamedPipe {
		t.Errorf("the pipe is replaced: %v, %v", info.Mode(), err)
	}
}

// Anything that is neither a file nor a stream is refused before anything is written. /dev/null is only checked.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	socket, null := filepath.Join(dir, "socket"), filepath.Join(dir, "null")
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
	if err := os.Symlink(os.DevNull, null); err != nil {
		t.Fatal(err)
	}
	if to, err := find(null); err != nil || !to.stream() {
		t.Errorf("a link to %s: %+v, %v, expected a stream", os.DevNull, to, err)
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
