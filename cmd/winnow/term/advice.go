package term

import (
	"errors"
	"sync/atomic"
	"time"

	"winnow/internal/seal"
)

// adviseByKind returns advice for an error without a hint, or "". Packages that must not import package hint give
// advice by a method Advice of the error.
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

// Patience is the time that a command has to end after the first signal, unless it has unsaved work. It is limited
// because a system call, such as a read from a server that does not respond, may take longer than users wait. Ending
// the process loses nothing: files are written under temporary names, and stores continue after their last stored rows.
const Patience = 1500 * time.Millisecond

// continues is the command that continues the present one, once it has saved enough for it; nil: none.
var continues atomic.Pointer[string]

// ContinueBy sets the command to print if the present one is interrupted; "": the usual advice.
func ContinueBy(command string) { continues.Store(&command) }

// saved maps the name of a command to a description of the work that it keeps when it is interrupted.
var saved = map[string]string{
	"train":     "; the work so far is saved: the same command continues it",
	"extract":   "; the work so far is saved: the same command continues it",
	"reproduce": "; the work so far is saved: the same command continues it",
	"sweep":     "; the work so far is saved: the same command continues it",
	"index":     "; the images embedded so far are in the index: --add continues",
	"export":    "; with --to, the rows sent so far are in the table: the same command continues",
	"audit":     "; the features made so far are kept: the same command continues",
	"models":    "; the part downloaded so far is kept: the same command continues",
}
