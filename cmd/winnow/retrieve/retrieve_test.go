package retrieve

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/cmd/winnow/term/termtest"
	"winnow/run/folder"
	"winnow/run/measure"
)

func TestFlagsBecomeOptions(t *testing.T) {
	args := []string{"-o", "r.html", "--split", "validation", "--queries", "3", "--k", "2", "--choose", "worst",
		"--seed", "5", "--max-mem", "1KiB", "--last", "--json", "run"}
	got, err := termtest.Asked(t, command, args...)
	if err != nil {
		t.Fatal(err)
	}
	want := Options{Dir: "run", Run: folder.Options{Last: true, View: "center", Splits: []string{"validation"},
		For: "retrieve"}, Out: "r.html", Split: "validation", JSON: true,
		Find: measure.ExampleOptions{Choice: measure.ChooseWorst, Queries: 3, K: 2, Seed: 5, MaxMem: 1024}}
	if diff := cmp.Diff(&want, got, termtest.Sources, cmpopts.IgnoreFields(folder.Options{}, "Host")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
