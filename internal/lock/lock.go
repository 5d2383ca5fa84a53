// Package lock holds a folder, or a file, for one writer. Where the system can, it lets go of what a process held when
// that process ends, however it ends: a killed run leaves nothing to clean up.
package lock

import (
	"fmt"
	"io"
	"path/filepath"
)

// Name is the file of a folder that is, or was, held. It names the process that holds it, and is empty afterwards.
const Name = ".lock"

// Held says that another process holds a folder, or another writer of this one.
type Held struct {
	Dir  string
	PID  int    // 0 where it is not known
	Else string // what to do where a killed process leaves its lock behind, "" where none does
}

func (e *Held) Error() string {
	who := "another winnow"
	if e.PID > 0 {
		who += fmt.Sprintf(" (process %d)", e.PID)
	}
	return fmt.Sprintf("%s: %s is writing here, expected one writer at a time%s", e.Dir, who, e.Else)
}

// Folder holds a folder, which is there, until it is closed or the process ends. If another holds it, the error is a
// *[Held].
func Folder(dir string) (io.Closer, error) { return holdFolder(dir, filepath.Join(dir, Name)) }
