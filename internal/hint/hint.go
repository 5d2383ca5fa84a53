// Package hint attaches to an error what the user can do about it: a command, a flag, a place to look. Commands
// print the hint on its own line. Only packages that connect others give hints; packages that compute know no
// commands.
package hint

import (
	"errors"
	"fmt"
)

// Error is an error with a hint. Its text is that of the error alone.
type Error struct {
	Err  error
	Hint string
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the error that the hint is for.
func (e *Error) Unwrap() error { return e.Err }

// With adds a hint to an error.
func With(err error, format string, args ...any) error {
	return &Error{err, fmt.Sprintf(format, args...)}
}

// Of returns the hint of an error, or "". If there are several, it is the one added last, which is the most
// specific.
func Of(err error) string {
	if e := new(Error); errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

// Setting is an error of one setting that does not suit the others or the data. Commands print it with the flag of that
// name and exit with code 2.
type Setting struct {
	Name string // as the flag, without dashes
	Err  error
}

// Error implements error.
func (e Setting) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the error without the name.
func (e Setting) Unwrap() error { return e.Err }

// Unfit returns a Setting.
func Unfit(name, format string, args ...any) error { return Setting{name, fmt.Errorf(format, args...)} }

// Misuse is an error of invalid options given by the caller; the program then exits with code 2.
type Misuse struct{ Err error }

// Error implements error.
func (e Misuse) Error() string { return e.Err.Error() }

// Unwrap returns the error that says what is misused.
func (e Misuse) Unwrap() error { return e.Err }

// Misused returns a Misuse.
func Misused(format string, args ...any) error { return Misuse{fmt.Errorf(format, args...)} }

// AsMisuse returns err as a Misuse, or nil if err is nil.
func AsMisuse(err error) error {
	if err == nil {
		return nil
	}
	return Misuse{err}
}
