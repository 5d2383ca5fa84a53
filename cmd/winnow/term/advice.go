package term

import (
	"errors"
	"time"

	"winnow/internal/seal"
)

// adviseByKind returns what to do about an error for which the rooms have no hint, or "". An error of a room that may
// import no hints gives it by a method Advice.
func adviseByKind(err error) string {
	var advised interface {
		error
		Advice() string
	}
	switch {
	case errors.As(err, &advised):
		return advised.Advice()
	case errors.Is(err, seal.ErrChanged), errors.Is(err, seal.ErrShort):
		return "restore it from a copy, or make it again with the command that wrote it"
	}
	return ""
}

// Patience is how long a command may take to end after the first signal, unless it holds work that would be lost. A
// system call, such as a read from a server that does not answer, can take longer than users wait. Files are written
// next to their final place, and stores continue after their last rows on disk, so ending the process loses nothing.
const Patience = 1500 * time.Millisecond

// saved says what an interrupted command leaves behind, by its name.
var saved = map[string]string{
	"train":     "; the work so far is saved: --resume continues it",
	"extract":   "; the work so far is saved: the same command continues it",
	"reproduce": "; the work so far is saved: the same command continues it",
	"sweep":     "; the work so far is saved: the same command continues it",
	"index":     "; the images so far are in the index: --add continues it",
	"export":    "; with --to the points so far are in the collection: the same command continues",
	"audit":     "; features made so far are kept: the same command continues with them",
	"models":    "; a download so far is kept: the same command continues it",
}
