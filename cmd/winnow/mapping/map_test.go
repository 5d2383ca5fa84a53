package mapping

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets/location"
	"winnow/eval/tsne"
	"winnow/report"
	"winnow/run/folder"
)

func TestFlagsBecomeOptions(t *testing.T) {
	for _, c := range []struct {
		args []string
		want Options
	}{
		{[]string{"--out", "m.svg", "--out", "m.csv", "--max", "9", "--perplexity", "4",
			"--iterations", "7", "--seed", "3", "--root", "photos", "run"},
			Options{Dir: "run", Run: folder.Options{Root: location.At("photos"), View: "center",
				Splits: []string{"test", "query", "gallery"}, For: "map"}, Out: []string{"m.svg", "m.csv"},
				Draw: report.MapOptions{Colour: report.ColourLabel, Max: 9,
					TSNE: tsne.Options{Perplexity: 4, Iterations: 7, Seed: 3}}}},
		{[]string{"--out", "m.svg", "--features", "f", "--manifest", "m.csv", "--split", "train, test", "--color",
			"true", "--json"},
			Options{Run: folder.Options{Features: "f", Manifest: location.At("m.csv"), View: "center",
				Splits: []string{"train", "test"}, For: "map"}, Out: []string{"m.svg"}, JSON: true,
				Draw: report.MapOptions{Split: "train, test", Colour: report.ColourTrue, Max: 10_000,
					TSNE: tsne.Options{Perplexity: 30, Iterations: 1000, Seed: 1}}}},
	} {
		got, err := termtest.Asked(t, newMapCommand, c.args...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&c.want, got, termtest.Sources, cmpopts.IgnoreFields(folder.Options{}, "Host"),
			cmpopts.IgnoreFields(tsne.Options{}, "Stepped")); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.args, diff)
		}
	}
}

// TestSplitsToLookAt checks the splits whose features are needed for a value of --split.
func TestSplitsToLookAt(t *testing.T) {
	if got := splitsToLookAt("train,all"); got != nil {
		t.Errorf("of all splits: %v", got)
	}
}
