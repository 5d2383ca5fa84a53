package papers

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/cmd/winnow/term/termtest"
)

func TestReadTheory(t *testing.T) {
	got, err := termtest.Asked(t, theoryCommand, "--noise-rate", "0.3", "--classes", "10", "--eta", "1.5, 2",
		"--gamma", "1")
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff([]float64{1.5, 2}, got.Eta)
	if diff != "" || got.Classes != 10 || got.Rate != 0.3 {
		t.Errorf("found %+v %s", got, diff)
	}
}

func TestReadPairs(t *testing.T) {
	got, err := termtest.Asked(t, pairsCommand, "--features", "f", "--manifest", "m.csv", "--out", "o", "--loss",
		"supcon, ntxent")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"supcon", "ntxent"}, got.Losses); diff != "" || got.Run != "" ||
		got.Data.Features != "f" || got.Data.Manifest.Path() != "m.csv" || got.Out != "o" {
		t.Errorf("found %+v %s", got, diff)
	}
}
