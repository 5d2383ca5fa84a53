package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
	"winnow/eval"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/run/comparison"
)

// measuredNumbers is a metric in the JSON of winnow eval.
type measuredNumbers struct {
	Settings                  map[string]any
	Seed                      *uint64
	FittedOn                  string `json:"fitted_on"`
	Frozen, Whitened, Trained map[string]any
}

// evalJSON is what winnow eval --json prints.
type evalJSON struct {
	N           int
	Verdict     string
	Metrics     map[string]measuredNumbers
	NotMeasured map[string]string `json:"not_measured"`
}

// sameNumbers compares a result with what was printed.
func sameNumbers(t *testing.T, what string, want eval.Result, got map[string]any) {
	t.Helper()
	for _, v := range want.Shown() {
		if found, ok := got[v.Key].(float64); !ok || math.Abs(found-v.Value) > 1e-9 {
			t.Errorf("%s: %s is %v, expected %v", what, v.Key, got[v.Key], v.Value)
		}
	}
}

// stored returns the unit features of a split, as in eval's row "frozen".
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
	if set, err = comparison.Frozen(t.Context(), set.Labelled()); err != nil {
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
	for _, name := range []string{"nearest-class-mean", "linear-probe"} { // test has other classes than train
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
		t.Errorf("clustering alone: %+v", some)
	}
	if diff := cmp.Diff(mustRun(t, "winnow eval run"), strings.SplitN(mustRun(t, "winnow eval run --metrics all"),
		"\n\n", 2)[0]+"\n"); diff != "" {
		t.Errorf("other metrics change how retrieval is printed:\n%s", diff)
	}
}

// If fit and test splits share classes, the classifiers are measured, on the split asked for.
func TestEvalClassifiers(t *testing.T) {
	drawnRun(t)
	text, err := os.ReadFile("noisy.csv")
	if err != nil {
		t.Fatal(err)
	}
	parted := func(name, fit, judge string) { // half of the test images to each
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

func TestEvalMetricsMisuse(t *testing.T) {
	drawnRun(t)
	for line, want := range map[string]struct {
		code int
		text string
	}{
		"winnow list metrics nmi": {2,
			`metric "nmi" is unknown: known are retrieval, clustering`},
		"winnow list metrics retrieval clustering":  {2, "expected at most one name"},
		"winnow eval run --metrics nmi":             {2, `metric "nmi" is unknown`},
		"winnow eval run --metrics noise-detection": {2, "measured by winnow audit"},
		"winnow eval run --metrics linear-probe": {1, "no class is on both sides: splits " +
			"train and test"},
		"winnow eval run --set clustering.starts=2": {2,
			"clustering is not among the --metrics"},
		"winnow eval run --set starts=2": {2, "expected METRIC.SETTING=VALUE"},
		"winnow eval run --set retrieval.count=2": {2,
			`setting "count" is unknown (did you mean "count_lonely"?): known are k, count_lonely`},
		"winnow eval run --k 2 --set retrieval.k=3":             {2, "both give the K"},
		"winnow eval run --queries 2 --set retrieval.queries=3": {2, "both give the number of queries"},
		"winnow eval run --queries -1":                          {2, "--queries: found -1"},
		"winnow eval run --set retrieval.k=0": {2,
			`found "0", expected whole numbers from 1`},
		"winnow eval run --metrics all --fit test": {2, "test is the split to measure on"},
		"winnow eval run --metrics all --fit query": {1, "no readable image with a label in " +
			"the split query to fit on; it has train, validation, test"},
		"winnow eval run --metrics all --max-mem 9B": {1, "--max-mem allows 9"},
		"winnow eval run --metrics clustering --set clustering.starts=0": {2,
			`found "0", expected a whole number from 1 to 1000`},
		"winnow eval run --metrics clustering --set clustering.starts=many": {2,
			`found "many", expected a whole number`},
	} {
		var stdout, stderr bytes.Buffer
		code := execute(context.Background(), strings.Fields(line), &stdout, &stderr)
		if code != want.code || !strings.Contains(stderr.String(), want.text) {
			t.Errorf("%s: exit code %d, %q; expected %d and %q", line, code, stderr.String(), want.code, want.text)
		}
	}
}

// --queries draws some images as queries, by the seed.
func TestEvalQueries(t *testing.T) {
	drawnRun(t)
	all := mustRun(t, "winnow eval run --json")
	some := mustRun(t, "winnow eval run --queries 30 --json")
	if again := mustRun(t, "winnow eval run --queries 30 --json"); again != some {
		t.Error("the same seed draws other queries")
	}
	if other := mustRun(t, "winnow eval run --queries 30 --seed 2 --json"); other == some {
		t.Error("another seed draws the same queries")
	}
	var of struct {
		N         int
		DrawnFrom int `json:"queries_drawn_from"`
	}
	if err := json.Unmarshal([]byte(some), &of); err != nil || of.N != 30 || of.DrawnFrom <= 30 {
		t.Errorf("%v: %+v", err, of)
	}
	if strings.Contains(all, "drawn_from") {
		t.Error("all images are queries, but drawn_from is printed")
	}
	if table := mustRun(t, "winnow eval run --queries 30"); !strings.Contains(table,
		fmt.Sprintf("30 queries drawn from %d images", of.DrawnFrom)) {
		t.Error(table)
	}
}

// Classifiers of a fine-tuned run are fitted on features of its own network.
func TestEvalClassifiersOfATunedNetwork(t *testing.T) {
	atelier(t)
	mustCall(t, tuneArgs("run", "all", "--steps", "2")...)
	at := 0
	lines := strings.Split(readFile(t, "noisy.csv"), "\n")
	for i, line := range lines {
		if strings.Contains(line, ",test,") {
			if at++; at%2 == 0 {
				lines[i] = strings.Replace(line, ",test,", ",gallery,", 1)
			}
		}
	}
	write(t, "shared.csv", strings.Join(lines, "\n"))
	stdout, stderr := mustCall(t, "eval", "run", "--manifest", "shared.csv", "--root", "drawn", "--fit", "gallery",
		"--metrics", "nearest-class-mean", "--json")
	var got evalJSON
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	m := got.Metrics["nearest-class-mean"]
	if m.Trained["n"] == nil || m.Trained["n"] != m.Frozen["n"] || m.Trained["fitted_on"] != m.Frozen["fitted_on"] ||
		m.Trained["accuracy"].(float64) == 0 {
		t.Errorf("%+v\n%s", m, stderr)
	}
}
