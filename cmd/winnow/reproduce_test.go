package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/papers/studies"
	"winnow/papers/theory"
	"winnow/train"
)

// drawnFeatures makes drawn characters with their features, and returns the value of --data for them.
func drawnFeatures(t *testing.T) string {
	t.Helper()
	atelier(t)
	mustCall(t, "extract", "--manifest", "drawn/manifest.csv", "--root", "drawn", "--model", "glyphnet", "--out",
		"drawn.features")
	return "drawn/manifest.csv,drawn.features"
}

// TestReproduce runs two rows of a study, one cell at a time and several at once. The numbers must be bit-identical.
// Finished cells must not be run again, but deleted cells must.
func TestReproduce(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for seconds")
	}
	data := drawnFeatures(t)
	args := func(dir string, more ...string) []string {
		return append([]string{"reproduce", "prism-table1", "--data", data, "--out", dir, "--rows",
			"MCL + PRISM,MCL + oracle", "--columns", "sym 20", "--seeds", "2", "--set", "length=30 steps",
			"--set", "filter.avgsim=5 steps", "--set", "sampler.classes=4", "--set", "sampler.images=3"}, more...)
	}
	code, out, stderr := call(t.Context(), args("a", "--jobs", "1")...)
	if code != 0 || !strings.Contains(out, "- **not run** – ") ||
		!strings.Contains(stderr, "0 done before, 1 at once") {
		t.Fatal(code, out, stderr)
	}
	cells := outcomes(t, "a")
	if len(cells) != 10 || !strings.Contains(out, "| frozen |") || !strings.Contains(out, "| whitened |") {
		t.Fatalf("%d cells: %s", len(cells), out)
	}
	for _, name := range []string{"report.md", "report.html", "results.csv"} {
		if info, err := os.Stat(filepath.Join("a", "prism-table1", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if code, again, stderr := call(t.Context(), args("a")...); code != 0 || again != out || !strings.Contains(stderr,
		"10 done before") || strings.Contains(stderr, "1/10") {
		t.Errorf("%d\n%s\n%s", code, again, stderr)
	}
	mustCall(t, args("b", "--jobs", "4", "--quiet")...)
	if diff := cmp.Diff(cells, outcomes(t, "b")); diff != "" {
		t.Errorf("several at once give other numbers: %s", diff)
	}
	if code, text, stderr := call(t.Context(), args("a", "--dry-run")...); code != 0 ||
		!strings.Contains(text, "10 cells, all done before") {
		t.Errorf("%d %s %s", code, text, stderr)
	}
	lost := ""
	for lost = range cells {
		break
	}
	if err := os.WriteFile(filepath.Join("a", "cells", lost+".json"), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, again, stderr := call(t.Context(), args("a")...); code != 0 || again != out || !strings.Contains(stderr,
		"1/1") || !strings.Contains(stderr, lost) {
		t.Errorf("%d\n%s\n%s", code, again, stderr)
	}
}

// TestReproduceTrainsNetworks runs two cells of a study whose rows train the network, on images of a few drawn
// characters. A second run must not train.
func TestReproduceTrainsNetworks(t *testing.T) {
	args := []string{"reproduce", "omniglot-noise", "--data", drawnFeatures(t) + ",drawn", "--seeds", "1", "--columns",
		"sym 50", "--rows", "=MCL,=MCL + AvgSim", "--set", "length=2 steps", "--set", "validation.every=2 steps",
		"--set", "sampler.classes=4", "--set", "sampler.images=2", "--jobs", "auto", "--out", "made"}
	code, out, stderr := call(t.Context(), args...)
	const auto = "jobs auto: 1 at once (1: 2 steps, too few to time)"
	if code != 0 || !strings.Contains(stderr, auto) || !strings.Contains(stderr, "fine-tuning") ||
		!strings.Contains(out, "1 of 2 comparisons run") {
		t.Fatal(code, out, stderr)
	}
	for _, o := range outcomes(t, "made") {
		if o.Steps == 0 { // frozen and whitened features
			continue
		}
		if o.Steps != 2 || o.Settings["finetune.weights"] != "all" || !(o.Measures["p@1"] > 0) {
			t.Errorf("%+v", o)
		}
	}
	if code, again, stderr := call(t.Context(), args...); code != 0 || again != out ||
		strings.Contains(stderr, "fine-tuning") {
		t.Errorf("%d\n%s\n%s", code, again, stderr)
	}
	// Trainings long enough to be timed run several at once if that is faster.
	longer := append(slices.Clone(args), "--set", "length=20 steps", "--threads", "2", "--dry-run")
	code, out, stderr = call(t.Context(), longer...)
	timed := regexp.MustCompile(`jobs auto: ([12]) at once \(1 makes [0-9.e+]+ steps a second, 2(:| make) [a-z0-9.e+ ]+\)`)
	if chosen := timed.FindStringSubmatch(stderr); code != 0 || chosen == nil ||
		!strings.Contains(out, "about") || !strings.HasSuffix(strings.TrimSpace(out), chosen[1]+" at once") {
		t.Errorf("%d\n%s\n%s", code, out, stderr)
	}
}

// TestReproduceFilters runs the figures that compare filters with the true labels, on a manifest with 40 % wrong
// labels. Filters must keep more right labels than chance, a cell must contain every step's rows, scores and
// concentrations, and Figures 2 and 3 must share cells. A run of winnow train on the same manifest must not use the
// true labels.
func TestReproduceFilters(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 3, 0.4)
	manifest, _ := w.withTruth(t)
	store := w.store
	out := t.TempDir()
	figure := func(study string, more ...string) (page string) {
		t.Helper()
		code, text, errs := call(t.Context(), append([]string{"reproduce", study, "--data", "own=" + manifest + "," +
			store, "--seeds", "1", "--out", out,
			"--rows", "vMF", "--set", "length=6 epochs", "--set", "head.out=24", "--set",
			"vMF:filter.avgsim=1 epoch"}, more...)...)
		if code != 0 || !strings.Contains(text, "as given") {
			t.Fatalf("exit code %d: %s%s", code, text, errs)
		}
		return readFile(t, out, study, "report.html")
	}
	figure("prism-figure2", "--rows", "AvgSim")
	cells := outcomes(t, out)
	if page := figure("prism-figure3", "--rows", "AvgSim"); strings.Count(page, "<svg") != 6 ||
		!strings.Contains(page, "threshold 0") ||
		len(outcomes(t, out)) != 4 {
		t.Errorf("%d drawings of %d cells", strings.Count(page, "<svg"), len(outcomes(t, out)))
	}
	for _, o := range cells {
		if o.Steps == 0 {
			continue
		}
		if right := o.Measures["batch-right-late"]; o.Measures["kept-right-late"] < right+0.1 ||
			math.Abs(o.NoiseRate-0.4) > 0.1 || o.Settings["filter.rate"] != fmt.Sprint(o.NoiseRate) {
			t.Errorf("%s: %v at noise rate %v, set to %s", o.Row, o.Measures, o.NoiseRate, o.Settings["filter.rate"])
		}
		if (len(o.Spreads["kappa"]) > 0) != (o.Row == "vMF-Sim") || len(o.Spreads["p-clean"]) != 3 {
			t.Errorf("%s: %+v", o.Row, o.Spreads)
		}
		if len(o.Traces["filter-accuracy"].Y) == 0 {
			t.Errorf("%s: no accuracy of the filter", o.Row)
		}
		if last := o.Spreads["p-clean"][2]; last.Step != o.Steps || len(last.Right.N) == 0 || len(last.Wrong.N) == 0 ||
			(last.Judge == "vmf") != (o.Row == "vMF-Sim") {
			t.Errorf("%s: %+v", o.Row, last)
		}
	}
	if page := figure("prism-figure5"); !strings.Contains(page, "<svg") {
		t.Error("no concentrations are drawn")
	}

	run := filepath.Join(t.TempDir(), "run")
	mustCall(t, "train", "--manifest", manifest, "--features", store, "--epochs", "2", "--dim", "24", "--screen",
		"none", "--out", run)
	text := readFile(t, run, train.DiagnosticsFile)
	if n := strings.Count(text, "\n"); n != 2 || strings.Count(text, `"judged"`) != 2 {
		t.Errorf("%d diagnoses, expected one of each epoch: %s", n, text)
	}
	if strings.Contains(text, "true") || strings.Contains(text, "right") || strings.Contains(text, "wrong") {
		t.Errorf("a run's diagnostics contain the truth: %s", text)
	}
	unknown := filepath.Join(filepath.Dir(manifest), "list.csv")
	fails(t, 1, "no label known to be wrong", "reproduce", "prism-figure2", "--out", out, "--data",
		"own="+unknown+","+store)
}

// TestReproduceTimes checks that steps are timed for every row and shown next to the paper's seconds.
func TestReproduceTimes(t *testing.T) {
	data := drawnFeatures(t)
	text := mustRun(t, "winnow reproduce prism-table6 --data cub200="+data+" --out made --seeds 1 --quiet "+
		"--set sampler.classes=4 --set sampler.images=2 --set bank.size=12")
	if !strings.Contains(text, "(1641.63") || !strings.Contains(text, "in the paper's numbers 2 of 2") {
		t.Error(text)
	}
	for _, o := range outcomes(t, "made") {
		if !(o.Measures[studies.Seconds5000] > 0) {
			t.Errorf("%s: %v", o.Row, o.Measures)
		}
	}
}

// TestReproduceDrawn runs a study that draws its own data, and compares its errors of κ with
// theory.EstimateConcentration.
func TestReproduceDrawn(t *testing.T) {
	needRuntime(t)
	at := t.TempDir()
	mustRun(t, "winnow reproduce prism-figure4 --seeds 1 --set trials=20 --columns =5 --quiet --out "+at)
	want, got := map[string]float64{}, map[string]float64{}
	kappa, err := theory.EstimateConcentration(t.Context(), theory.Concentration{Kappa: 537, Dim: 128, Trials: 20,
		Samples: 5, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range kappa {
		want[e.Estimator] = e.RMSE
	}
	figure, err := studies.Find("prism-figure4")
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes(t, at) {
		got[figure.Rows[slices.Index(figure.RowNames(), o.Row)].Estimator] = o.Measures[studies.RMSE]
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the errors differ from those of theory.EstimateConcentration (-want +got): %s", diff)
	}
	if page := readFile(t, at, "prism-figure4", "report.html"); strings.Count(page, "<svg") != 1 {
		t.Errorf("%d drawings", strings.Count(page, "<svg"))
	}
	for more, want := range map[string]string{
		"--data a,b": "--data cannot be used", "--finetune all": "expected neither flag", "--set nope=1": "nope",
		"--set samples=1": "1 samples of a class, expected", "--set kappa=0": "kappa is 0",
	} {
		if code, text, errs := call(t.Context(), append([]string{"reproduce", "prism-figure4", "--out", at},
			strings.Fields(more)...)...); code != 2 || text != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d: %s", more, code, errs)
		}
	}
}

// TestReproduceList checks that winnow reproduce without a study lists the papers' tables and figures and all studies.
func TestReproduceList(t *testing.T) {
	holds(t, mustRun(t, "winnow reproduce"), "003     Fig. 1", "– (illustration: the pipeline)", "winnow papers pairs",
		"omniglot-noise")
}

// outcomes returns the cells in a folder by key, without their times.
func outcomes(t *testing.T, dir string) map[string]studies.Outcome {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "cells", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]studies.Outcome{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var o studies.Outcome
		if err := json.Unmarshal(text, &o); err != nil {
			t.Fatal(err)
		}
		o.Seconds = 0
		maps.DeleteFunc(o.Measures, func(name string, _ float64) bool { return name == "seconds" })
		all[strings.TrimSuffix(filepath.Base(f), ".json")] = o
	}
	return all
}
