package main

import (
	"context"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/run/folder"
)

// measuredNumbers is the result of a metric in the JSON of "winnow eval".
type measuredNumbers struct {
	Settings                  map[string]any
	Seed                      *uint64
	FittedOn                  string `json:"fitted_on"`
	Frozen, Whitened, Trained map[string]any
}

// evalJSON is the output of "winnow eval --json".
type evalJSON struct {
	N           int
	Verdict     string
	Metrics     map[string]measuredNumbers
	NotMeasured map[string]string `json:"not_measured"`
}

// sameNumbers compares a result with the printed numbers.
func sameNumbers(t *testing.T, what string, want eval.Result, got map[string]any) {
	t.Helper()
	for _, v := range want.Shown() {
		if found, ok := got[v.Key].(float64); !ok || math.Abs(found-v.Value) > 1e-9 {
			t.Errorf("%s: %s is %v, expected %v", what, v.Key, got[v.Key], v.Value)
		}
	}
}

// stored returns the features of a split, scaled to length 1, as for the row "frozen" of eval.
func stored(t *testing.T, manifest, split string) features.Set {
	t.Helper()
	d, err := datasets.ReadFile(manifest, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := features.Open("features")
	if err != nil {
		t.Fatal(err)
	}
	set, _, err := lookup.Split(t.Context(), d, s, split)
	if err != nil {
		t.Fatal(err)
	}
	if set, err = folder.EmbedFrozen(t.Context(), set.Labelled()); err != nil {
		t.Fatal(err)
	}
	return set
}

func TestEvalMetrics(t *testing.T) {
	drawnRun(t)
	all := runJSON[evalJSON](t, "winnow eval run --metrics all --json")
	if all.N != 160 || all.Verdict == "" || len(all.Metrics) != 1 || all.Metrics["clustering"].Seed == nil {
		t.Errorf("all metrics: %+v", all)
	}
	for _, name := range []string{"nearest-class-mean", "linear-probe"} { // test and train have different classes
		if why := all.NotMeasured[name]; why != "no image of test has a class of train" {
			t.Errorf("%s was not measured because %q", name, why)
		}
	}
	test := stored(t, "noisy.csv", datasets.Test)
	want, err := eval.Cluster(context.Background(), test, 0, eval.KMeansOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	sameNumbers(t, "clustering of frozen features", want, all.Metrics["clustering"].Frozen)
	some := runJSON[evalJSON](t, "winnow eval run --metrics clustering --json --seed 4 --set clustering.starts=1 "+
		"--set clustering.clusters=5")
	if want, err = eval.Cluster(context.Background(), test, 5, eval.KMeansOptions{Seed: 4, Starts: 1}); err != nil {
		t.Fatal(err)
	}
	sameNumbers(t, "five clusters", want, some.Metrics["clustering"].Frozen)
	if some.N != 0 || some.Verdict != "" || *some.Metrics["clustering"].Seed != 4 ||
		some.Metrics["clustering"].Settings["clusters"] != 5.0 {
		t.Errorf("only clustering: %+v", some)
	}
	if diff := cmp.Diff(mustRun(t, "winnow eval run"), strings.SplitN(mustRun(t, "winnow eval run --metrics all"),
		"\n\n", 2)[0]+"\n"); diff != "" {
		t.Errorf("other metrics change the output of retrieval:\n%s", diff)
	}
}

// TestEvalClassifiers checks that the classifiers are measured on the requested split if it shares classes with --fit.
func TestEvalClassifiers(t *testing.T) {
	drawnRun(t)
	text, err := os.ReadFile("noisy.csv")
	if err != nil {
		t.Fatal(err)
	}
	parted := func(name, fit, judge string) { // puts half of the test images into each of two splits
		lines := strings.Split(string(text), "\n")
		at := 0
		for i, line := range lines {
			if strings.Contains(line, ",validation,") {
				lines[i] = ""
			}
			if strings.Contains(line, ",test,") {
				at++
				lines[i] = strings.Replace(line, ",test,", ","+map[bool]string{true: fit, false: judge}[at%2 == 0]+",",
					1)
			}
		}
		if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	parted("shared.csv", "validation", "test")
	fit, judge := stored(t, "shared.csv", datasets.Validation), stored(t, "shared.csv", datasets.Test)
	mean, err := eval.NearestClassMean(context.Background(), fit, judge, eval.ClassifierOptions{})
	if err != nil {
		t.Fatal(err)
	}
	probe, err := eval.LinearProbe(context.Background(), fit, judge, eval.ProbeOptions{L2: 1e-4})
	if err != nil {
		t.Fatal(err)
	}
	if mean.Accuracy < 0.5 || probe.Accuracy.Accuracy < 0.5 {
		t.Errorf("accuracies %v and %v, expected better than half", mean.Accuracy, probe.Accuracy.Accuracy)
	}
	got := runJSON[evalJSON](t, "winnow eval run --manifest shared.csv --fit validation --metrics "+
		"nearest_class_mean,linear-probe --set linear-probe.l2=1e-4 --json")
	sameNumbers(t, "nearest class mean", mean, got.Metrics["nearest-class-mean"].Frozen)
	sameNumbers(t, "linear probe", probe, got.Metrics["linear-probe"].Frozen)
	if m := got.Metrics["linear-probe"]; m.FittedOn != "validation" || m.Trained["n"] != 80.0 ||
		m.Settings["l2"] != 1e-4 {
		t.Errorf("linear probe: %+v", m)
	}
	parted("asked.csv", "gallery", "query")
	if got = runJSON[evalJSON](t, "winnow eval run --manifest asked.csv --metrics all --json"); len(got.Metrics) != 3 ||
		got.Metrics["nearest-class-mean"].FittedOn != "gallery" {
		t.Errorf("queries against a gallery: %+v", got)
	}
	sameNumbers(t, "fitted on the gallery", mean, got.Metrics["nearest-class-mean"].Frozen)
	table := mustRun(t, "winnow eval run --manifest shared.csv --fit validation --metrics "+
		"nearest-class-mean,linear-probe")
	holds(t, table, "nearest-class-mean    top-1\n", "80 images, fitted on 80 of validation in 8 classes",
		"linear-probe    top-1   fitted\n")
}
