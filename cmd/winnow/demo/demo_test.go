package demo

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets/glyphs"
	"winnow/papers/demo"
)

// The flags become options, and misuse never reaches the call.
func TestOptions(t *testing.T) {
	var got *Options
	ask := func(line string) int {
		got = nil
		c := command(func(_ context.Context, _ *term.Program, o Options) error { got = &o; return nil })
		return term.Execute(t.Context(), []term.Group{{Commands: []*cli.Command{c}}}, strings.Fields("winnow "+line), io.Discard, io.Discard)
	}
	for line, want := range map[string]Options{
		"demo --out d --seed 3 --rate 0.2 --classes 24 --set a=b --json": {JSON: true, Options: demo.Options{Dir: "d", Seed: 3, Rate: 0.2, Classes: 24, Images: glyphs.DefaultImages, Settings: []string{"a=b"}}},
	} {
		if code := ask(line); code != 0 || got == nil {
			t.Errorf("%s: exit code %d", line, code)
		} else if d := cmp.Diff(want, *got); d != "" {
			t.Errorf("%s: options (-want +got):\n%s", line, d)
		}
	}
	for _, line := range []string{"demo more", "demo --seed x"} {
		if code := ask(line); code != 2 || got != nil {
			t.Errorf("%s: exit code %d, options %v, expected 2 and none", line, code, got)
		}
	}
}
