package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"winnow/internal/atomicfile"
)

// TestUnreadable checks that a file can be written to a folder that is writable but cannot be listed.
func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o300); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	const stranger = 65534
	if os.Getuid() == 0 { // root may read every folder
		if err := errors.Join(os.Chown(dir, stranger, stranger), os.Chmod(filepath.Dir(dir), 0o711)); err != nil {
			t.Fatal(err)
		}
		runtime.LockOSThread() // never unlocked: the thread ends with the test
		if err := syscall.Setfsuid(stranger); err != nil {
			t.Fatal(err)
		}
		defer syscall.Setfsuid(0)
	}
	if d, err := os.Open(dir); err == nil {
		d.Close()
		t.Skip("this system allows reading every folder")
	}
	path := filepath.Join(dir, "file")
	if err := atomicfile.WriteBytes(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(path); string(got) != "new" {
		t.Errorf("found %q, %v", got, err)
	}
}
