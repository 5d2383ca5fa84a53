// Package lock locks a folder or a file for one writer. If the system can, it releases a process's locks when
// the process ends in any way, so that a killed run leaves nothing to clean up.
package lock

import (
	"fmt"
	"io"
	"path/filepath"
)

// Name is the lock file of a folder. It names the process that holds the lock, and is empty afterwards.
const Name = ".lock"

// Held is the error when another process, or another writer in this one, holds a folder.
type Held struct {
	Dir  string
	PID  int    // 0: unknown
	Else string // what to do if a killed process may have left the lock; "": it cannot
}

func (e *Held) Error() string {
	who := "another winnow"
	if e.PID > 0 {
		who += fmt.Sprintf(" (process %d)", e.PID)
	}
	return fmt.Sprintf("%s: %s is writing here, expected one writer at a time%s", e.Dir, who, e.Else)
}

// Folder locks an existing folder until it is closed or the process ends. If another process holds it, the
// error is a *[Held].
func Folder(dir string) (io.Closer, error) { return holdFolder(dir, filepath.Join(dir, Name)) }
