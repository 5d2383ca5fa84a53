// Package winnowtest runs winnow's command line in tests.
package winnowtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"winnow/cmd/winnow/program"
	"winnow/cmd/winnow/term"
)

// Variable, if set, makes a test program that calls [Main] behave as winnow; shells in tests use it.
const Variable = "WINNOW_TEST_PROGRAM"

// listVariable names the list of written files, so that tests do not change the user's list.
const listVariable = "WINNOW_TEST_WRITTEN"

// Main runs the tests of a package. It keeps temporary files in memory if Linux has room and TMPDIR is not set:
// commands sync a dozen files per training, and many tests would wait longer for the disk than they compute.
func Main(m *testing.M) {
	if os.Getenv(Variable) != "" {
		term.MarksFolder = os.Getenv(listVariable)
		os.Exit(program.Main(append([]string{"winnow"}, os.Args[1:]...)))
	}
	debug.SetGCPercent(400) // many short commands with little live data
	code, err := inMemory("/dev/shm", func() (int, error) {
		dir, err := os.MkdirTemp("", "winnow-written-")
		if err != nil {
			return 1, err
		}
		defer os.RemoveAll(dir)
		term.MarksFolder = dir
		if err := os.Setenv(listVariable, term.MarksFolder); err != nil {
			return 1, err
		}
		return m.Run(), nil
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// room is the space that all tests of a package may need together; one test needs a few hundred MiB at most.
const room = 2 << 30

func inMemory(folder string, run func() (int, error)) (int, error) {
	if free, known := freeDisk(folder); !known || free < room || os.Getenv("TMPDIR") != "" {
		return run()
	}
	dir, err := os.MkdirTemp(folder, "winnow-test-")
	if err != nil {
		return run() // the folder is not writable
	}
	defer os.RemoveAll(dir)
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return 1, err
	}
	return run()
}

// MustRun runs one command line, split into words with "$NAME" expanded, and returns its standard output.
func MustRun(t testing.TB, line string) string {
	t.Helper()
	args := strings.Fields(line)
	for i, a := range args {
		args[i] = os.ExpandEnv(strings.Trim(a, `"`))
	}
	var stdout, stderr bytes.Buffer
	if code := program.Execute(context.Background(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("%s: exit code %d\n%s%s", line, code, stdout.String(), stderr.String())
	}
	return stdout.String()
}
