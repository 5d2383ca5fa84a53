package models

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
)

// The flags of models new become options, and misuse never reaches the call.
func TestNewOptions(t *testing.T) {
	var got *NewOptions
	ask := func(line string) int {
		got = nil
		c := newCommand(func(_ context.Context, _ *term.Program, o NewOptions) error { got = &o; return nil })
		return term.Execute(t.Context(), []term.Group{{Commands: []*cli.Command{c}}}, strings.Fields("winnow "+line), io.Discard, io.Discard)
	}
	if code := ask("new digits --arch lenet --seed 4 -o d.onnx --json"); code != 0 || got == nil {
		t.Fatal(code)
	}
	if d := cmp.Diff(NewOptions{Name: "digits", Architecture: "lenet", Out: "d.onnx", Seed: 4, JSON: true}, *got); d != "" {
		t.Error(d)
	}
	for _, line := range []string{"new --arch lenet", "new digits", "new a b --arch lenet"} {
		if code := ask(line); code != 2 || got != nil {
			t.Errorf("%s: exit code %d", line, code)
		}
	}
}

// What is not given of a model's settings stays open.
func TestSettings(t *testing.T) {
	var got Options
	c := &cli.Command{Name: "show", Flags: term.PreprocessingFlags(), Action: named("one", func(_ context.Context, _ *term.Program, o Options) error { got = o; return nil })}
	code := term.Execute(t.Context(), []term.Group{{Commands: []*cli.Command{c}}}, strings.Fields("winnow show F --crop 0 --mean 1,2,3"), io.Discard, io.Discard)
	if s := got.Settings; code != 0 || got.Argument != "F" || s.Crop == nil || *s.Crop != 0 || s.Resize != nil || s.Exact != nil || s.Scale != nil || len(s.Mean) != 3 || s.Std != nil {
		t.Errorf("exit code %d, %+v", code, got)
	}
}
