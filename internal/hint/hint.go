// Package hint attaches to an error what the user can do about it, such as a command or a flag to use. Commands print
// the hint on its own line. Only packages that connect other packages give hints; packages that compute do not refer to
// commands.
package hint

import (
	"errors"
	"fmt"
)

// Error is an error with a hint. Its text does not include the hint.
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

// Of returns the hint of an error, or "". If there are several hints, it returns the one added last, which is the most
// specific.
func Of(err error) string {
	if e := new(Error); errors.As(err, &e) {
		return e.Hint
	}
	return ""
}

// Setting is an error about one setting that does not fit the others or the data. Commands print it with the flag of
// that name and exit with code 2.
type Setting struct {
	Name string // name of the flag, without dashes
	Err  error
}

// Error implements error.
func (e Setting) Error() string { return e.Name + ": " + e.Err.Error() }

// Unwrap returns the error without the name.
func (e Setting) Unwrap() error { return e.Err }

// Unfit returns a Setting with a formatted error.
func Unfit(name, format string, args ...any) error { return Setting{name, fmt.Errorf(format, args...)} }

// Misuse is the error for invalid options from the caller; the program then exits with code 2.
type Misuse struct{ Err error }

// Error implements error.
func (e Misuse) Error() string { return e.Err.Error() }

// Unwrap returns the underlying error.
func (e Misuse) Unwrap() error { return e.Err }

// Misused returns a Misuse with a formatted error.
func Misused(format string, args ...any) error { return Misuse{fmt.Errorf(format, args...)} }

// AsMisuse returns err as a Misuse, or nil if err is nil.
func AsMisuse(err error) error {
	if err == nil {
		return nil
	}
	return Misuse{err}
}
