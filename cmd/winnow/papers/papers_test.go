package papers

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/cmd/winnow/term/termtest"
	"winnow/papers/pairs"
)

func TestReadTheory(t *testing.T) {
	got, err := termtest.Asked(t, theoryCommand, "--pair-rate", "0.5", "--classes", "10", "--eta", "1.5, 2",
		"--gamma", "1", "--json")
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff([]float64{1.5, 2}, got.Setting.Eta)
	if diff != "" || got.Setting.Classes != 10 || !got.JSON || math.Abs(got.Setting.Rate-0.3) > 0.01 {
		t.Errorf("found %+v %s", got, diff)
	}
}

func TestReadSkew(t *testing.T) {
	got, err := termtest.Asked(t, skewCommand, "--margin", "0.3", "--seed", "7", "--batch", "8x4", "--batches", "3",
		"--last", "runs/a")
	if err != nil {
		t.Fatal(err)
	}
	if *got.Margin != 0.3 || *got.Seed != 7 || got.Run != "runs/a" || got.Batch != "8x4" || got.Batches != 3 ||
		!got.Data.Last || got.Beta != nil {
		t.Errorf("found %+v", got)
	}
}

// Without --synthetic, --seed and --loss, package pairs chooses the values.
func TestReadPairs(t *testing.T) {
	got, err := termtest.Asked(t, pairsCommand, "--features", "f", "--manifest", "m.csv", "--out", "o")
	if err != nil {
		t.Fatal(err)
	}
	if got.Synthetic != nil || got.Seed != nil || got.Losses != nil || got.Run != "" || got.Data.Features != "f" ||
		got.Data.Manifest.Path() != "m.csv" || got.Most != 50_000_000 || got.Out != "o" || got.JSON {
		t.Errorf("found %+v", got)
	}
	got, err = termtest.Asked(t, pairsCommand, "--synthetic", "0.2", "--seed", "3", "--loss", "supcon, ntxent",
		"--batch", "64", "--pairs", "10", "--json", "runs/a")
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(pairs.Named("supcon", "ntxent"), got.Losses)
	if diff != "" || *got.Synthetic != 0.2 || *got.Seed != 3 || got.Run != "runs/a" || got.Batch != "64" ||
		got.Most != 10 || !got.JSON {
		t.Errorf("found %+v %s", got, diff)
	}
}
