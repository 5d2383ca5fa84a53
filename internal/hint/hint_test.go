package hint_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"winnow/internal/hint"
)

// A hint is attached to an error, is not in its text, and does not hide the error.
func TestHint(t *testing.T) {
	inner := fmt.Errorf("store: %w", fs.ErrNotExist)
	err := hint.With(hint.With(inner, "make it: winnow %s", "extract"), "or name another with --features")
	if err.Error() != inner.Error() || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if got := hint.Of(fmt.Errorf("train: %w", err)); got != "or name another with --features" {
		t.Errorf("found %q, expected the hint added last", got)
	}
	if got := hint.Of(errors.Unwrap(err)); got != "make it: winnow extract" {
		t.Errorf("found %q", got)
	}
	if got := hint.Of(inner); got != "" {
		t.Errorf("an error without a hint has %q", got)
	}
}
