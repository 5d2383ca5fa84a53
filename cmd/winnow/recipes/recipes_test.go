package recipes

import (
	"context"
	"io"
	"testing"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
)

func TestRead(t *testing.T) {
	var listed ListOptions
	var shown ShowOptions
	app := term.NewApp([]term.Group{{Commands: []*cli.Command{command(
		func(_ context.Context, _ *term.Program, o ListOptions) error { listed = o; return nil },
		func(_ context.Context, _ *term.Program, o ShowOptions) error { shown = o; return nil },
	)}}}, io.Discard, io.Discard)
	for _, args := range [][]string{{"winnow", "recipes", "list", "--json", "prism"},
		{"winnow", "recipes", "show", "--resolved", "prism/mcl"}} {
		if err := app.Run(args); err != nil {
			t.Fatal(args, err)
		}
	}
	if want := (ListOptions{"prism", true}); listed != want {
		t.Errorf("found %+v, expected %+v", listed, want)
	}
	if want := (ShowOptions{"prism/mcl", true}); shown != want {
		t.Errorf("found %+v, expected %+v", shown, want)
	}
}
