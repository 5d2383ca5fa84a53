package features

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
)

// The flags become options, and misuse never reaches the call.
func TestOptions(t *testing.T) {
	var got *JoinOptions
	ask := func(line string) int {
		got = nil
		c := command(func(_ context.Context, _ *term.Program, o JoinOptions) error { got = &o; return nil })
		return term.Execute(t.Context(), []term.Group{{Commands: []*cli.Command{c}}}, strings.Fields("winnow "+line), io.Discard, io.Discard)
	}
	for line, want := range map[string]JoinOptions{
		"features join a b --out c --overwrite": {Shards: []string{"a", "b"}, Out: "c", Overwrite: true},
	} {
		if code := ask(line); code != 0 || got == nil {
			t.Errorf("%s: exit code %d", line, code)
		} else if d := cmp.Diff(want, *got); d != "" {
			t.Errorf("%s: options (-want +got):\n%s", line, d)
		}
	}
	for _, line := range []string{"features join --out c", "features join a"} {
		if code := ask(line); code != 2 || got != nil {
			t.Errorf("%s: exit code %d, options %v, expected 2 and none", line, code, got)
		}
	}
}
