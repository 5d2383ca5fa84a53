package cost

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/cmd/winnow/term/termtest"
	"winnow/papers/cost"
)

func TestRead(t *testing.T) {
	got, err := termtest.Asked(t, command, "--losses", "mcl, soft_triple", "--steps", "4", "--rate", "0.5", "--json")
	if err != nil {
		t.Fatal(err)
	}
	want := Options{JSON: true, Options: cost.Options{Inputs: 1024, Dim: 512, Batch: "16x4", Classes: 100, Images: 60, Bank: 5000, Centers: 10, Rate: 0.5, Steps: 4, Repeat: 5,
		Losses: []string{"mcl", "soft_triple"}, Seed: 1}}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Error(diff)
	}
}
