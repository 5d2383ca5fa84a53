package pairs

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/cmd/winnow/term/termtest"
	"winnow/papers/pairs"
)

// Flags become plain options; without --synthetic, --seed and --loss the room decides.
func TestRead(t *testing.T) {
	got, err := termtest.Asked(t, command, "--features", "f", "--manifest", "m.csv", "--out", "o")
	if err != nil {
		t.Fatal(err)
	}
	if got.Synthetic != nil || got.Seed != nil || got.Losses != nil || got.Run != "" || got.Data.Features != "f" || got.Data.Manifest.Path() != "m.csv" || got.Most != 50_000_000 || got.Out != "o" || got.JSON {
		t.Errorf("found %+v", got)
	}
	got, err = termtest.Asked(t, command, "--synthetic", "0.2", "--seed", "3", "--loss", "supcon, ntxent", "--batch", "64", "--pairs", "10", "--json", "runs/a")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pairs.Named("supcon", "ntxent"), got.Losses); diff != "" || *got.Synthetic != 0.2 || *got.Seed != 3 || got.Run != "runs/a" || got.Batch != "64" || got.Most != 10 || !got.JSON {
		t.Errorf("found %+v %s", got, diff)
	}
}
