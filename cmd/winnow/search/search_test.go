package search

import (
	"context"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/embedding"
)

func TestFlagsBecomeOptions(t *testing.T) {
	var got Options
	fake := func(_ context.Context, _ *term.Program, o Options) error { got = o; return nil }
	app := term.NewApp([]term.Group{{Commands: []*cli.Command{command(fake)}}}, io.Discard, io.Discard)
	args := []string{"winnow", "search", "-i", "ix", "--k", "3", "--manifest", "m.csv", "--model", "run", "--backbone", "b.onnx", "--root", "photos",
		"--batch", "4", "--workers", "2", "--json", "a.jpg", "b.npy"}
	if err := app.RunContext(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	want := Options{embedding.Options{Model: "run", Backbone: "b.onnx", Root: "photos", Stdin: app.Reader, Batch: 4, Workers: 2}, "ix", []string{"a.jpg", "b.npy"}, 3, "m.csv", true}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b io.Reader) bool { return a == b })); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
