package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/run/folder"
	"winnow/run/grid"
	"winnow/train"
)

// sweepArgs returns the arguments of a sweep of short trainings on drawn characters.
func sweepArgs(out string, more ...string) []string {
	return append([]string{"sweep", "--manifest", "noisy.csv", "--features", "features", "--steps", "12", "--batch",
		"6x3", "--dim", "24", "--noise-rate", "0.33", "--screen", "none",
		"--set", "validation.every=4 steps", "--set", "filter.avgsim=2 steps", "--set", "bank.size=60", "--out", out},
		more...)
}

// sweepCells reads results.csv: the row of each training by the name of its folder, without the time.
func sweepCells(t *testing.T, dir string) map[string][]string {
	t.Helper()
	rows := table(t, dir, "results.csv")
	cells, at := map[string][]string{}, map[string]int{}
	for i, name := range rows[0] {
		at[name] = i
	}
	for _, row := range rows[1:] {
		name := filepath.Base(row[at["folder"]])
		row[at["seconds"]], row[at["folder"]] = "", ""
		cells[name] = row
	}
	return cells
}

// A sweep trains a grid of settings and compares them. Interrupted and continued, it gives the same numbers and bits.
// Values and seeds may be added, and every training is a run folder.
func TestSweep(t *testing.T) {
	drawnRun(t)
	grid := []string{"--vary", "lr=1e-3,1e-2", "--vary", "loss=contrastive,triplet", "--seeds", "2"}
	out, stderr := mustCall(t, sweepArgs("whole", grid...)...)
	for text, wants := range map[string][]string{
		out: {"lr=0.001, loss=triplet", "Best by validation: lr=",
			"To train it again: winnow train --manifest noisy.csv", "test p@1 %"},
		stderr: {"8 of 8 cells left to run, 96 steps: about",
			"8 cells, 0 done before", "8/8  lr=", "  lr=0.01, loss=triplet, seed 2: validation P@1"},
		readFile(t, "whole", "report.html"): {"8 trainings over lr × loss", "Validation P@1 by lr",
			"after Holm", "<svg"},
	} {
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%.3000s", want, text)
			}
		}
	}
	whole := sweepCells(t, "whole")
	if len(whole) != 8 || whole["lr=0.01_loss=triplet_seed=2"] == nil {
		t.Fatal(whole)
	}
	// Interrupted within a training and between trainings.
	const begun = "lr=0.001_loss=contrastive_seed=1"
	ctx, cancel := context.WithCancel(t.Context())
	watch := &cancelAfter{n: 2, cancel: cancel}
	half := append([]string{"winnow", "train"}, sweepArgs("cut/cells/"+begun, "--loss", "contrastive", "--lr", "0.001",
		"--seed", "1")[1:]...)
	if code := execute(ctx, half, new(bytes.Buffer), watch); code != 130 {
		t.Fatal(code, watch)
	}
	if _, err := folder.ReadResult("cut/cells/" + begun); err == nil {
		t.Fatal("the training is done")
	}
	if n := cutAgain(t, 2, sweepArgs("cut", append(grid, "--jobs", "2")...), nil); n < 2 {
		t.Errorf("the sweep was interrupted %d times, expected 2 or more", n)
	}
	for name, row := range whole {
		if got := sweepCells(t, "cut")[name]; strings.Join(got, ",") != strings.Join(row, ",") {
			t.Errorf("%s: cut %q, whole %q", name, got, row)
		}
		for _, file := range []string{folder.BestHeadFile, folder.LastHeadFile, train.MetricsFile} {
			if readFile(t, "whole/cells", name, file) != readFile(t, "cut/cells", name, file) {
				t.Errorf("%s: %s differs between the whole and the cut sweep", name, file)
			}
		}
	}
	// The printed command trains the best again, and its folder is a run folder.
	var found struct {
		Best struct{ Folder, Command string }
	}
	if err := json.Unmarshal([]byte(readFile(t, "whole", "results.json")), &found); err != nil {
		t.Fatal(err)
	}
	var again []string
	for i, part := range strings.Split(found.Best.Command, "'") { // every other part was quoted
		if i%2 == 0 {
			again = append(again, strings.Fields(part)...)
		} else {
			again = append(again, part)
		}
	}
	mustCall(t, again[1:]...)
	if readFile(t, "best", folder.BestHeadFile) != readFile(t, found.Best.Folder, folder.BestHeadFile) {
		t.Error("the printed command makes another head")
	}
	mustCall(t, "eval", found.Best.Folder)
	mustCall(t, "report", found.Best.Folder, "--no-map", "--no-pictures", "--out", "best.html")
	// More values keep what is done; other spellings of a value are the same value.
	_, stderr = mustCall(t, sweepArgs("whole", "--vary", "lr=0.001,0.003,1e-2", "--vary", "loss=contrastive,triplet",
		"--seeds", "1,2,4")...)
	if !strings.Contains(stderr, "18 cells, 8 done before") {
		t.Error(stderr)
	}
	// Other settings, data and axes are refused.
	for want, more := range map[string][]string{
		"holds a sweep with no --filter, found --filter none": append(grid, "--filter", "none"),
		"holds a sweep over lr, loss, found lr":               {"--vary", "lr=1e-3,1e-2"},
		"holds a grid, found draws":                           append(grid, "--draws", "2"),
	} {
		fails(t, 1, want, sweepArgs("whole", more...)...)
	}
	mustRun(t, "winnow data corrupt drawn/manifest.csv --noise-rate 0.2 --seed 9 --out noisy.csv --overwrite")
	fails(t, 1, "other images, labels or splits", sweepArgs("whole", grid...)...)
}

// The same seed draws the same points, more draws continue a sweep, and a failed training is named when the others are
// done.
func TestSweepDraws(t *testing.T) {
	drawnRun(t)
	drawn := []string{"--vary", "lr=1e-4..1e-2:log", "--vary", "filter=vmf,none", "--seeds", "1"}
	mustCall(t, sweepArgs("drawn3", append(drawn, "--draws", "3", "--jobs", "1")...)...)
	_, stderr := mustCall(t, sweepArgs("drawn3", append(drawn, "--draws", "5", "-q")...)...)
	if stderr != "" || len(sweepCells(t, "drawn3")) != 5 {
		t.Errorf("%s", stderr)
	}
	var plan grid.Plan
	if out, _ := mustCall(t, sweepArgs("drawn3", append(drawn, "--draws", "6", "--dry-run",
		"--json")...)...); json.Unmarshal([]byte(out), &plan) != nil || plan.Cells != 6 || plan.Left != 1 ||
		plan.Steps != 12 || plan.Seconds <= 0 {
		t.Errorf("%s", out)
	}
	fails(t, 1, "by another seed", sweepArgs("drawn3", append(drawn, "--draws", "5", "--seed", "2")...)...)
	// No validation image has a class of the train split, which is found when the second training begins.
	failing := sweepArgs("failing", "--vary", "validation.measure=p@1,nearest-class-mean", "--seeds", "1")
	for range 2 { // what failed is tried again
		code, out, stderr := call(t.Context(), failing...)
		if code != 1 || !strings.Contains(out, "Failed: validation.measure=nearest-class-mean, seed 1: train: "+
			"validation.measure is") || !strings.Contains(stderr, "1 of 2 trainings failed") || !strings.Contains(out,
			"Best by validation: validation.measure=p@1") {
			t.Fatalf("%d\n%s\n%s", code, out, stderr)
		}
	}
	states := map[string]string{}
	for _, row := range sweepCells(t, "failing") {
		states[row[0]] = row[2]
	}
	if states["p@1"] != "done" || states["nearest-class-mean"] != "failed" {
		t.Error(states)
	}
	// Without a validation split images are held out. If none are, nothing can be chosen, and no folder is left.
	manifest := strings.ReplaceAll(readFile(t, "noisy.csv"), ",validation", ",train")
	if err := os.WriteFile("blind.csv", []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, features := range map[string]string{"no labelled image in the split validation": "features",
		"make the features first": "none"} {
		fails(t, 1, want, "sweep", "--manifest", "blind.csv", "--features", features, "--vary", "lr=1e-3,1e-2", "--set",
			"validation.hold_out=0", "--out", "blind")
	}
	if _, err := os.Stat("blind"); err == nil {
		t.Error("a refused sweep leaves a folder")
	}
	stdout, stderr := mustCall(t, "sweep", "--manifest", "blind.csv", "--features", "features", "--screen", "none",
		"--steps", "6", "--vary", "lr=1e-3,1e-2", "--seeds", "1", "--set", "validation.hold_out=0.3", "--out", "blind")
	if !strings.Contains(stderr, "are held out to choose by") || !strings.Contains(stdout,
		"The manifest has no validation split") {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	mustCall(t, "eval", "blind/cells/lr=0.001_seed=1", "--split", "validation")
}

// Fine-tunings of a sweep share their first features; a missing test split is noted.
func TestSweepFinetune(t *testing.T) {
	atelier(t)
	manifest := strings.ReplaceAll(readFile(t, "noisy.csv"), ",test", ",train")
	if err := os.WriteFile("noisy.csv", []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append([]string{"sweep"}, tuneArgs("tuned", "all", "--vary", "head.init=whiten,random", "--seeds",
		"1")[1:]...)
	out, stderr := mustCall(t, args...)
	if !strings.Contains(out, "no test split") || !strings.Contains(stderr, "into tuned/features") ||
		!strings.Contains(stderr, "2 of 2 cells left to run, 24 steps") || !strings.Contains(stderr, "1 at once") {
		t.Errorf("%s\n%s", out, stderr)
	}
	if _, err := os.Stat("tuned/cells/head.init=random_seed=1/features"); err == nil {
		t.Error("a training made features of its own")
	}
	mustCall(t, "eval", "tuned/cells/head.init=whiten_seed=1", "--split", "validation")
}

// Trainings without --features share those of each backbone, for heads and fine-tunings and every augmentation; further
// values reuse them.
func TestSweepOnImages(t *testing.T) {
	atelier(t)
	t.Setenv("WINNOW_MODELS", filepath.Join(t.TempDir(), "models.json"))
	mustRun(t, "winnow models new other --arch convnet4 --seed 1 --out other.onnx")
	sweep := func(out string, vary ...string) []string {
		args := []string{"sweep", "--manifest", "noisy.csv", "--root", "drawn", "--steps", "6", "--batch", "6x3",
			"--dim", "24", "--screen", "none", "--seeds", "1", "--out", out}
		for _, v := range vary {
			args = append(args, "--vary", v)
		}
		return args
	}
	stores := func(out string) int {
		t.Helper()
		made, err := filepath.Glob(filepath.Join(out, "features*", "store.json"))
		if err != nil {
			t.Fatal(err)
		}
		return len(made)
	}
	mustCall(t, sweep("heads", "model=glyphnet")...)
	_, stderr := mustCall(t, sweep("heads", "model=other.onnx,glyphnet")...)
	if stores("heads") != 2 || !strings.Contains(stderr, "2 cells, 1 done before") || !strings.Contains(stderr,
		"into heads/features-2") || strings.Contains(stderr, "into heads/features\n") {
		t.Errorf("%d stores\n%s", stores("heads"), stderr)
	}
	stdout, _ := mustCall(t, sweep("tuned", "augment=none,digits", "finetune=none,all", "model=glyphnet,other.onnx")...)
	if stores("tuned") != 2 || len(sweepCells(t, "tuned")) != 8 {
		t.Errorf("%d stores, %d trainings\n%s", stores("tuned"), len(sweepCells(t, "tuned")), stdout)
	}
	mustCall(t, "sweep", "drawn", "--screen", "none", "--steps", "2", "--batch", "6x3", "--vary", "lr=1e-4", "--seeds",
		"1", "--out", "folder")
	for _, dir := range []string{"heads", "tuned"} {
		var found struct{ Best struct{ Command string } }
		if err := json.Unmarshal([]byte(readFile(t, dir, "results.json")), &found); err != nil {
			t.Fatal(err)
		}
		mustRun(t, strings.Replace(found.Best.Command, "--out best", "--out best-of-"+dir, 1))
	}
	fails(t, 1, "no model has this name", sweep("none", "model=glyphnet,nix")...)
	if _, err := os.Stat("none"); err == nil {
		t.Error("a refused sweep leaves a folder")
	}
}
