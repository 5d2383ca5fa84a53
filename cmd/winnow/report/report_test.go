package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets"
	"winnow/report"
	"winnow/run/folder"
)

func TestFlagsBecomeOptions(t *testing.T) {
	args := []string{"-o", "r.html", "--split", "train", "--scorer", "avgsim", "--no-pictures", "--json", "a"}
	got, err := termtest.Asked(t, newReportCommand, args...)
	if err != nil {
		t.Fatal(err)
	}
	want := Options{Dir: "a", Run: folder.Options{View: "center", For: "report"}, Out: "r.html",
		Split: "train", Scorer: "avgsim", JSON: true, Bare: true}
	if diff := cmp.Diff(&want, got, termtest.Sources, cmpopts.IgnoreFields(folder.Options{}, "Host")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestUsualSplit(t *testing.T) {
	for want, splits := range map[string][]string{"": {"train", "validation", "test"},
		"validation": {"train", "validation"}, "train": {"train"}} {
		d := &datasets.Dataset{Classes: []string{"a"}}
		for _, split := range splits {
			d.Samples = append(d.Samples, datasets.Sample{Split: split})
		}
		if got := report.UsualSplit(d); got != want {
			t.Errorf("%v: %q, expected %q", splits, got, want)
		}
	}
}
