package eval

import (
	"slices"
	"strings"
	"testing"

	"winnow/cmd/winnow/term/termtest"
	"winnow/datasets"
)

func TestOptions(t *testing.T) {
	o, err := termtest.Asked(
		t,
		newEvalCommand,
		"run",
		"--metrics",
		"linear-probe,retrieval",
		"--k",
		"1,4",
		"--queries",
		"50",
		"--set",
		"linear-probe.iterations=7",
		"--max-mem",
		"2MB",
		"--last",
		"--json",
	)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range o.Eval.Metrics {
		names = append(names, m.Name)
	}
	if o.Dir != "run" || !o.JSON || !o.Run.Last || o.Eval.MaxMem != 2e6 || o.Eval.Seed != 1 || o.Eval.Skip ||
		!slices.Equal(names, []string{"retrieval", "linear-probe"}) {
		t.Errorf("%+v", o)
	}
	if of := o.Eval.Metrics; of[0].Values["queries"] != 50 || of[1].Values["iterations"] != 7 {
		t.Errorf("settings: %v, %v", of[0].Values, of[1].Values)
	}
	if want := []string{datasets.Test, datasets.Query, datasets.Gallery, datasets.Train}; !slices.Equal(o.Run.Splits,
		want) {
		t.Errorf("splits %v, expected %v: the probe is fitted", o.Run.Splits, want)
	}
	if o, err = termtest.Asked(t, newEvalCommand, "run", "--metrics", "all", "--split", "query", "--fit",
		"gallery"); err != nil || !o.Eval.Skip || len(o.Eval.Metrics) < 4 ||
		!slices.Equal(o.Run.Splits, []string{"query", "gallery"}) {
		t.Errorf("%v: %+v", err, o)
	}
}

func TestMisuse(t *testing.T) {
	for want, args := range map[string]string{
		"takes one run folder":                   "",
		"is not a number of neighbours":          "run --k none",
		"--max-mem":                              "run --max-mem none",
		"--metrics: ":                            "run --metrics none",
		"noise-detection is measured by winnow ": "run --metrics noise-detection",
		"is not among the --metrics":             "run --set clustering.k=3",
		"expected METRIC.SETTING=VALUE":          "run --set clustering",
		"both give the K":                        "run --k 1 --set retrieval.k=2",
		"--queries: found -1":                    "run --queries -1",
		"--view: found \"left\", expected":       "run --view left",
		"--set: ":                                "run --metrics clustering --set clustering.seeds=x",
		"flag provided but not defined: -split":  "run --splits test",
	} {
		if _, err := termtest.Asked(t, newEvalCommand, strings.Fields(args)...); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", args, err, want)
		}
	}
}
