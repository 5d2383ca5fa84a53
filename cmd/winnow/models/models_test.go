package models

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/term/termtest"
)

// The flags of models new become options, and misuse never reaches the call.
func TestNewOptions(t *testing.T) {
	termtest.Check(t, newCommand, map[string]NewOptions{
		"digits --arch lenet --seed 4 -o d.onnx --json": {Name: "digits", Architecture: "lenet", Out: "d.onnx", Seed: 4,
			JSON: true},
	}, []string{"--arch lenet", "digits", "a b --arch lenet"})
}

// Settings that are not given stay nil.
func TestSettings(t *testing.T) {
	var got Options
	c := &cli.Command{
		Name:  "show",
		Flags: term.PreprocessingFlags(),
		Action: newNamedAction("one", func(_ context.Context,
			_ *term.Program, o Options) error {
			got = o
			return nil
		}),
	}
	code := term.Execute(t.Context(), []term.Group{{Commands: []*cli.Command{c}}},
		strings.Fields("winnow show F --crop 0 --mean 1,2,3"), io.Discard, io.Discard)
	if s := got.Settings; code != 0 || got.Argument != "F" || s.Crop == nil || *s.Crop != 0 || s.Resize != nil ||
		s.Exact != nil || s.Scale != nil || len(s.Mean) != 3 || s.Std != nil {
		t.Errorf("exit code %d, %+v", code, got)
	}
}
