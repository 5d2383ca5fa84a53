// Package hint lets an error carry what its reader can do about it: a command, a flag, a place to look at. Commands
// print the hint on a line of its own. Only rooms that wire others together give hints; rooms that compute know no commands.
package hint

import (
	"errors"
	"fmt"
)

// Error is an error with a hint. Its text is the error's alone.
type Error struct {
	Err  error
	Hint string
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error that the hint is for.
func (e *Error) Unwrap() error { return e.Err }

// With adds what to do to an error.
func With(err error, format string, args ...any) error {
	return &Error{err, fmt.Sprintf(format, args...)}
}

// Of returns the hint of an error, "" if it has none; of several the one added last, which knows most.
func Of(err error) string {
	if e := new(Error); errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

// Misuse is an error of options that a caller gave and that cannot be: the program answers it with exit code 2.
type Misuse struct{ Err error }

// Error implements error.
func (e Misuse) Error() string { return e.Err.Error() }

// Unwrap returns the error that says what is misused.
func (e Misuse) Unwrap() error { return e.Err }

// Misused returns a Misuse.
func Misused(format string, args ...any) error { return Misuse{fmt.Errorf(format, args...)} }

// AsMisuse returns err as a Misuse; nil stays nil.
func AsMisuse(err error) error {
	if err == nil {
		return nil
	}
	return Misuse{err}
}
