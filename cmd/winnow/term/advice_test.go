package term

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"winnow/internal/seal"
)

// Each kind of error has advice; others have none.
func TestAdvise(t *testing.T) {
	for want, err := range map[string]error{
		"free some space":   &fs.PathError{Op: "write", Path: "a", Err: syscall.ENOSPC},
		"write elsewhere":   &fs.PathError{Op: "open", Path: "a", Err: syscall.EROFS},
		"chmod":             &fs.PathError{Op: "open", Path: "a", Err: syscall.EACCES},
		"restore it":        fmt.Errorf("a/run.json: %w", seal.ErrShort),
		"a shorter name":    syscall.ENAMETOOLONG,
		"lead in a circle":  syscall.ELOOP,
		"out of the way":    &fs.PathError{Op: "mkdir", Path: "a/b", Err: syscall.ENOTDIR},
		"check the disk":    syscall.EIO,
		"more open files":   syscall.EMFILE,
		"with the command ": seal.ErrChanged,
	} {
		if got := adviseByKind(fmt.Errorf("room: %w", err)); !strings.Contains(got, want) {
			t.Errorf("%v: %q, expected %q", err, got, want)
		}
	}
	if got := adviseByKind(errors.New("something")); got != "" {
		t.Errorf("something: %q", got)
	}
}
