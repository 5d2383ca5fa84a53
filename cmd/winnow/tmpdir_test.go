package main

import (
	"fmt"
	"os"
	"testing"

	"winnow/internal/diagnosis"
)

// TestMain keeps the tests' files in memory where Linux has room for them and TMPDIR names no other place: commands sync
// what they write, a dozen files a training, and many tests waited longer for the disk than they computed. With
// WINNOW_TEST_PROGRAM the test's file is winnow itself: shells of tests start it.
func TestMain(m *testing.M) {
	if os.Getenv("WINNOW_TEST_PROGRAM") != "" {
		os.Exit(listening(append([]string{"winnow"}, os.Args[1:]...)))
	}
	code, err := inMemory("/dev/shm", m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// room is what all tests together may need: one has a few hundred MiB at most.
const room = 2 << 30

func inMemory(folder string, m *testing.M) (int, error) {
	if free, known := diagnosis.FreeDisk(folder); !known || free < room || os.Getenv("TMPDIR") != "" {
		return m.Run(), nil
	}
	dir, err := os.MkdirTemp(folder, "winnow-test-")
	if err != nil {
		return m.Run(), nil // not ours to write in
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return 1, err
	}
	return m.Run(), nil
}
