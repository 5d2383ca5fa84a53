package theory

import (
	"context"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/papers/theory"
	"winnow/papers/theory/skew"
)

// Flags become plain options of the command that is meant.
func TestRead(t *testing.T) {
	var described Options
	var measured SkewOptions
	var studied KappaOptions
	app := term.NewApp([]term.Group{{Commands: []*cli.Command{command(
		func(_ context.Context, _ *term.Program, o Options) error { described = o; return nil },
		skewCommand(func(_ context.Context, _ *term.Program, o SkewOptions) error { measured = o; return nil }),
		kappaCommand(func(_ context.Context, _ *term.Program, o KappaOptions) error { studied = o; return nil }),
	)}}}, io.Discard, io.Discard)
	for _, args := range [][]string{
		{"winnow", "theory", "--pair-rate", "0.5", "--classes", "10", "--eta", "1.5, 2", "--gamma", "1", "--json"},
		{"winnow", "theory", "skew", "--margin", "0.3", "--seed", "7", "--batch", "8x4", "--batches", "3", "--last", "runs/a"},
		{"winnow", "theory", "kappa", "--samples", "5,20", "--csv"},
	} {
		if err := app.Run(args); err != nil {
			t.Fatal(args, err)
		}
	}
	want := Options{Setting: theory.Setting{Rate: 0.3, Classes: 10, Eta: []float64{1.5, 2}, Gamma: []float64{1}}, JSON: true}
	if diff := cmp.Diff(want.Setting.Eta, described.Setting.Eta); diff != "" || described.Setting.Classes != 10 || !described.JSON || described.Setting.Rate < 0.29 || described.Setting.Rate > 0.31 {
		t.Errorf("found %+v, expected %+v", described, want)
	}
	margin, seed := 0.3, uint64(7)
	of := skew.Options{Margin: &margin}
	of.Run, of.Seed, of.Batch, of.Batches, of.Data.Last, of.Data.View, of.Data.For = "runs/a", &seed, "8x4", 3, true, "center", "skew"
	if diff := cmp.Diff(SkewOptions{Options: of}.Margin, measured.Margin); diff != "" || *measured.Seed != 7 || measured.Run != of.Run || measured.Batch != of.Batch || measured.Batches != 3 || !measured.Data.Last || measured.Beta != nil {
		t.Errorf("found %+v, expected %+v", measured, of)
	}
	if diff := cmp.Diff([]int{5, 20}, studied.Samples); diff != "" || studied.Kappa != 537 || !studied.CSV {
		t.Errorf("found %+v", studied)
	}
}
