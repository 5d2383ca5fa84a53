package trace

import (
	"context"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
)

func TestRead(t *testing.T) {
	var got Options
	app := term.NewApp([]term.Group{{Commands: []*cli.Command{
		command(func(_ context.Context, _ *term.Program, o Options) error { got = o; return nil }),
	}}}, io.Discard, io.Discard)
	if err := app.Run([]string{"winnow", "trace", "--manifest", "a.csv", "--features", "b", "--out", "c", "--filters", "vmf, proxysim", "--loss", "soft_triple", "--at", "10,20", "--noise-rate", "0.4"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"vmf", "proxysim"}, got.Filters); diff != "" || got.Out != "c" || got.Smooth != 0.7 || got.Window != 0 || got.Config.Filter.Rate != 0.4 || got.Config.Data.Manifest != "a.csv" || got.Config.Losses[0].Name != "soft_triple" {
		t.Errorf("found %+v %s", got, diff)
	}
	if diff := cmp.Diff([]int{10, 20}, got.At); diff != "" {
		t.Error(diff)
	}
}
