package retrieve

import (
	"context"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/run/evaluation"
	"winnow/run/folder"
)

func TestFlagsBecomeOptions(t *testing.T) {
	var got Options
	fake := func(_ context.Context, _ *term.Program, o Options) error { got = o; return nil }
	app := term.NewApp([]term.Group{{Commands: []*cli.Command{command(fake)}}}, io.Discard, io.Discard)
	args := []string{"winnow", "retrieve", "-o", "r.html", "--split", "validation", "--queries", "3", "--k", "2", "--choose", "worst", "--seed", "5", "--max-mem", "1KiB", "--last", "--json", "run"}
	if err := app.RunContext(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	want := Options{Dir: "run", Run: folder.Options{Last: true, View: "center", Splits: []string{"validation"}, For: "retrieve"}, Out: "r.html", Split: "validation", JSON: true,
		Find: evaluation.ExampleOptions{Choice: evaluation.ChooseWorst, Queries: 3, K: 2, Seed: 5, MaxMem: 1024}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(folder.Options{}, "Host")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
