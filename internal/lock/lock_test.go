package lock_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"winnow/internal/lock"
)

// holder is set in a child process that holds a folder until it is killed.
const holder = "WINNOW_TEST_HOLD"

func TestMain(m *testing.M) {
	dir := os.Getenv(holder)
	if dir == "" {
		os.Exit(m.Run())
	}
	if _, err := lock.Folder(dir); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("held")
	os.Stdin.Read(make([]byte, 1))
}

// The error names the other process that holds a folder; a killed process holds no folder.
func TestOtherProcess(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("locks do not end with their process on this system")
	}
	dir := t.TempDir()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), holder+"="+dir)
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 4)
	if _, err := out.Read(said); err != nil || string(said) != "held" {
		t.Fatalf("%v: %q", err, said)
	}
	_, err = lock.Folder(dir)
	var held *lock.Held
	if !errors.As(err, &held) || held.PID != child.Process.Pid ||
		!strings.Contains(err.Error(), fmt.Sprintf("%s: another winnow (process %d) is writing here", dir,
			child.Process.Pid)) {
		t.Errorf("beside process %d: %v", child.Process.Pid, err)
	}
	child.Process.Kill()
	child.Wait()
	again, err := lock.Folder(dir)
	if err != nil {
		t.Fatalf("behind a killed process: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
}

// One process cannot lock a folder twice. An unlocked folder can be locked again, and its lock file is empty.
func TestOneWriter(t *testing.T) {
	dir := t.TempDir()
	first, err := lock.Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := lock.Folder(dir); err == nil || !strings.Contains(err.Error(), "another winnow") {
		t.Errorf("a second writer: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	second, err := lock.Folder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := second.Close(); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(filepath.Join(dir, lock.Name)); err == nil && info.Size() != 0 {
		t.Errorf("%d bytes are left in %s", info.Size(), lock.Name)
	}
	if _, err := lock.Folder(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
}
