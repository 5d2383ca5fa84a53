package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/cmd/winnow/program"
	"winnow/internal/testing/winnowtest"
)

func TestMain(m *testing.M) { winnowtest.Main(m) }

var commands, execute = program.Commands, program.Execute

// mustRun runs a command line that must succeed and returns its standard output.
func mustRun(t *testing.T, line string) string {
	t.Helper()
	return winnowtest.MustRun(t, line)
}

// call runs winnow in this process.
func call(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = execute(ctx, append([]string{"winnow"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

// mustCall runs a command that must succeed.
func mustCall(t testing.TB, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := call(t.Context(), args...)
	if code != 0 {
		t.Fatalf("%v: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout, stderr
}

// mustJSON runs a command and reads the JSON that it prints.
func mustJSON[T any](t testing.TB, args ...string) (result T) {
	t.Helper()
	stdout, _ := mustCall(t, args...)
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stdout)
	}
	return result
}

// runJSON runs a command line and reads the JSON that it prints.
func runJSON[T any](t *testing.T, line string) T {
	t.Helper()
	return mustJSON[T](t, strings.Fields(strings.TrimPrefix(line, "winnow "))...)
}

// fails runs a command that must fail with the exit code, print want on standard error, and print nothing else.
func fails(t testing.TB, code int, want string, args ...string) {
	t.Helper()
	got, stdout, stderr := call(t.Context(), args...)
	checkFailed(t, code, want, args, got, stdout, stderr)
}

func checkFailed(t testing.TB, code int, want string, args []string, got int, stdout, stderr string) {
	t.Helper()
	if got != code || !strings.Contains(stderr, want) || stdout != "" {
		t.Errorf("%v: exit code %d, expected %d with …%s…\n%s%s", args, got, code, want, stdout, stderr)
	}
}

// holds checks that a text contains all parts.
func holds(t testing.TB, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("found no %q in\n%.3000s", part, text)
		}
	}
}

// sameFiles checks that the named files of two folders have the same bytes.
func sameFiles(t testing.TB, one, other string, names ...string) {
	t.Helper()
	for _, name := range names {
		if readFile(t, one, name) != readFile(t, other, name) {
			t.Errorf("%s in %s and in %s differ", name, one, other)
		}
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// unsealed returns the text of a JSON file without its checksum, as earlier versions wrote it.
func unsealed(t testing.TB, text string) string {
	t.Helper()
	body, _, found := strings.Cut(text, ",\n  \"checksum\"")
	if !found {
		t.Fatalf("no checksum in %s", text)
	}
	return body + "\n}\n"
}

func readFile(t testing.TB, parts ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// table reads a CSV file.
func table(t testing.TB, parts ...string) [][]string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(readFile(t, parts...))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// cancelAfter is a writer for standard error that calls cancel after n validations, or after text was written n times.
type cancelAfter struct {
	bytes.Buffer
	n      int
	text   string // "": the text of a validation
	cancel func()
}

func (c *cancelAfter) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(cmp.Or(c.text, "validation P@1"))) {
		if c.n--; c.n == 0 {
			c.cancel()
		}
	}
	return c.Buffer.Write(b)
}

// cutAgain runs a training, interrupts it after n validations and starts it again, until it is finished. cut, if not
// nil, is called after every interruption and may return other arguments to continue with. cutAgain returns the number
// of interruptions, which must be at least 1.
func cutAgain(t *testing.T, n int, args []string, cut func() []string) (cuts int) {
	t.Helper()
	for ; ; cuts++ {
		ctx, cancel := context.WithCancel(t.Context())
		watch := &cancelAfter{n: n, cancel: cancel}
		code := execute(ctx, append([]string{"winnow"}, args...), io.Discard, watch)
		cancel()
		switch {
		case code == 0 && cuts == 0:
			t.Error("the training was never interrupted")
			return cuts
		case code == 0:
			return cuts
		case code != 130 || cuts > 50 || !strings.Contains(watch.String(),
			"winnow: interrupted; "):
			t.Fatalf("exit code %d\n%s", code, watch)
		case cut != nil:
			if again := cut(); again != nil {
				args = again
			}
		}
	}
}

func fileThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
