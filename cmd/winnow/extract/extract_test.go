package extract

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/cmd/winnow/term"
	"winnow/models"
)

// The flags become options, and misuse never reaches the call.
func TestOptions(t *testing.T) {
	crop, yes := 96, true
	views, err := backbone.ParseViews("center+flip", 1)
	if err != nil {
		t.Fatal(err)
	}
	var got *Options
	ask := func(line string) int {
		got = nil
		c := command(func(_ context.Context, _ *term.Program, o Options) error { got = &o; return nil })
		return term.Execute(t.Context(), []term.Group{{Commands: []*cli.Command{c}}}, strings.Fields("winnow "+line), io.Discard, io.Discard)
	}
	for line, want := range map[string]Options{
		"extract --manifest m.csv --model net --out f --views center+flip --batch 7 --dtype float16 --shard 1/2 --crop 96 --exif --strict": {
			Manifest: "m.csv", Model: "net", Out: "f", DType: "float16", Shard: "1/2", Settings: models.Settings{Crop: &crop, EXIF: &yes},
			Extract: backbone.ExtractConfig{Batch: 7, MaxPixels: backbone.DefaultMaxPixels, Strict: true, Views: views},
		},
	} {
		if code := ask(line); code != 0 || got == nil {
			t.Errorf("%s: exit code %d", line, code)
		} else if d := cmp.Diff(want, *got); d != "" {
			t.Errorf("%s: options (-want +got):\n%s", line, d)
		}
	}
	for _, line := range []string{"extract --manifest m --model n --out f more", "extract --manifest m --model n --out f --batch 0", "extract --manifest m --model n --out f --dtype int8", "extract --manifest m --model n --out f --views nix", "extract --manifest m --model n --out f --decoder nix", "extract --model n --out f"} {
		if code := ask(line); code != 2 || got != nil {
			t.Errorf("%s: exit code %d, options %v, expected 2 and none", line, code, got)
		}
	}
}
