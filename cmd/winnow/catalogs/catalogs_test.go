package catalogs

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
)

// The flags become options, and misuse never reaches the call.
func TestOptions(t *testing.T) {
	var got *Options
	ask := func(line string) int {
		got = nil
		call := func(_ context.Context, _ *term.Program, o Options) error { got = &o; return nil }
		all := []term.Group{{Commands: []*cli.Command{lossCatalog.command(call), filterCatalog.command(call),
			metricCatalog.command(call), recipeCatalog.command(call)}}}
		return term.Execute(t.Context(), all, strings.Fields("winnow "+line), io.Discard, io.Discard)
	}
	for line, want := range map[string]Options{
		"losses":                {},
		"losses triplet --json": {Name: "triplet", JSON: true},
		"losses --markdown":     {Markdown: true},
		"metrics":               {},
		"metrics retrieval":     {Name: "retrieval"},
		"metrics --markdown":    {Markdown: true},
		"filters":               {},
		"filters vmf --json":    {Name: "vmf", JSON: true},
		"recipes --json":        {JSON: true},

		"recipes prism --resolved": {Name: "prism", Resolved: true},
	} {
		if code := ask(line); code != 0 || got == nil {
			t.Errorf("%s: exit code %d", line, code)
		} else if d := cmp.Diff(want, *got); d != "" {
			t.Errorf("%s: options (-want +got):\n%s", line, d)
		}
	}
	for _, line := range []string{"losses nix", "losses triplet circle", "losses nmi", "metrics nix",
		"metrics triplet", "filters triplet", "filters --resolved", "recipes --resolved", "recipes prism bspml"} {
		if code := ask(line); code != 2 || got != nil {
			t.Errorf("%s: exit code %d, options %v, expected 2 and none", line, code, got)
		}
	}
}
