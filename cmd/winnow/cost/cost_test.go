package cost

import (
	"context"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/papers/cost"
)

func TestRead(t *testing.T) {
	var got Options
	app := term.NewApp([]term.Group{{Commands: []*cli.Command{
		command(func(_ context.Context, _ *term.Program, o Options) error { got = o; return nil }),
	}}}, io.Discard, io.Discard)
	if err := app.Run([]string{"winnow", "cost", "--losses", "mcl, soft_triple", "--steps", "4", "--rate", "0.5", "--json"}); err != nil {
		t.Fatal(err)
	}
	want := Options{JSON: true, Options: cost.Options{Inputs: 1024, Dim: 512, Batch: "16x4", Classes: 100, Images: 60, Bank: 5000, Centers: 10, Rate: 0.5, Steps: 4, Repeat: 5,
		Losses: []string{"mcl", "soft_triple"}, Seed: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
