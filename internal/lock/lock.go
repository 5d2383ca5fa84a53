// Package lock locks a folder or a file for one writer. Where the system supports it, the lock ends with its process,
// so that a killed run leaves no lock behind.
package lock

import (
	"fmt"
	"io"
	"path/filepath"
)

// Name is the lock file of a folder. It contains the process number of the holder, and is empty when unlocked.
const Name = ".lock"

// Held is the error if another process, or another writer in this process, holds a folder.
type Held struct {
	Dir  string
	PID  int    // 0 if unknown
	Else string // what to do about a lock left by a killed process; "": locks are never left
}

func (e *Held) Error() string {
	who := "another winnow"
	if e.PID > 0 {
		who += fmt.Sprintf(" (process %d)", e.PID)
	}
	return fmt.Sprintf("%s: %s is writing here, expected one writer at a time%s", e.Dir, who, e.Else)
}

// Folder locks an existing folder until the returned Closer is closed or the process ends. If another process holds the
// folder, the error is a *[Held].
func Folder(dir string) (io.Closer, error) { return holdFolder(dir, filepath.Join(dir, Name)) }
