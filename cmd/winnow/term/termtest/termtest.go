// Package termtest helps to test how commands parse command lines into options.
package termtest

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
)

// Asked returns the options that a command passes to its call for args, or nil if call is not called.
func Asked[O any](t testing.TB, command func(term.Call[O]) *cli.Command, args ...string) (got *O, err error) {
	t.Helper()
	c := command(func(_ context.Context, _ *term.Program, o O) error { got = &o; return nil })
	app := term.NewApp([]*cli.Command{c}, io.Discard, io.Discard)
	err = app.RunContext(t.Context(), term.FlagsFirst(app, append([]string{"winnow", c.Name}, args...)))
	return got, err
}

// Sources lets package cmp compare options that contain a [location.Source].
var Sources = cmpopts.EquateComparable(location.Source{})

// Check checks the options that command lines are parsed into, and that misused command lines do not reach the call.
func Check[O any](t *testing.T, command func(term.Call[O]) *cli.Command, lines map[string]O, misused []string,
	compared ...cmp.Option) {
	t.Helper()
	compared = append(compared, Sources)
	for line, want := range lines {
		got, err := Asked(t, command, strings.Fields(line)...)
		if diff := cmp.Diff(&want, got, compared...); err != nil || diff != "" {
			t.Errorf("%s: %v, options (-want +got):\n%s", line, err, diff)
		}
	}
	for _, line := range misused {
		if got, err := Asked(t, command, strings.Fields(line)...); !errors.As(err, new(term.UsageError)) || got != nil {
			t.Errorf("%s: %v, options %v, expected misuse and no options", line, err, got)
		}
	}
}
