package embed

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
	for _, c := range []struct {
		args []string
		want Options
	}{
		{[]string{"run", "photos", "b.jpg", "-o", "e.NPY", "--l2"}, Options{embedding.Options{Model: "run", Batch: 32}, []string{"photos", "b.jpg"}, "e.NPY", true, false}},
		{[]string{"--model", "m.onnx", "photos", "--json", "--root", "r", "--backbone", "b"}, Options{embedding.Options{Model: "m.onnx", Backbone: "b", Root: "r", Batch: 32}, []string{"photos"}, "", false, true}},
	} {
		if err := app.RunContext(t.Context(), term.FlagsFirst(app, append([]string{"winnow", "embed"}, c.args...))); err != nil {
			t.Fatal(err)
		}
		c.want.Stdin = app.Reader
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b io.Reader) bool { return a == b })); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.args, diff)
		}
	}
}
