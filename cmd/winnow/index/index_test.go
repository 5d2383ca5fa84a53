package index

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
		{[]string{"--model", "run", "-o", "ix", "--dtype", "float16", "a.zip", "-"}, Options{embedding.Options{Model: "run", Batch: 32}, []string{"a.zip", "-"}, "ix", false, "float16", false}},
		{[]string{"--out", "ix", "--add", "--json", "--batch", "5", "photos"}, Options{embedding.Options{Batch: 5}, []string{"photos"}, "ix", true, "float32", true}},
	} {
		if err := app.RunContext(t.Context(), append([]string{"winnow", "index"}, c.args...)); err != nil {
			t.Fatal(err)
		}
		c.want.Stdin = app.Reader
		if diff := cmp.Diff(c.want, got, cmp.Comparer(func(a, b io.Reader) bool { return a == b })); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.args, diff)
		}
	}
}
