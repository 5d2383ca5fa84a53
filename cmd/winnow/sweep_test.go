package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"winnow/run/folder"
	"winnow/train"
)

// sweepArgs returns the arguments of a sweep of short trainings on drawn characters.
func sweepArgs(out string, more ...string) []string {
	return append([]string{"sweep", "--manifest", "noisy.csv", "--features", "features", "--steps", "12", "--batch",
		"6x3", "--dim", "24", "--noise-rate", "0.33", "--screen", "none",
		"--set", "validation.every=4 steps", "--set", "filter.avgsim=2 steps", "--set", "bank.size=60", "--out", out},
		more...)
}

// sweepCells reads results.json and returns the outcome of each training, without the time, by the name of its folder.
func sweepCells(t *testing.T, dir string) map[string]string {
	t.Helper()
	var found struct{ Trainings []map[string]any }
	if err := json.Unmarshal([]byte(readFile(t, dir, "results.json")), &found); err != nil {
		t.Fatal(err)
	}
	cells := map[string]string{}
	for _, c := range found.Trainings {
		outcome, _ := c["outcome"].(map[string]any)
		delete(outcome, "seconds")
		cells[filepath.Base(fmt.Sprint(c["folder"]))] = fmt.Sprint(outcome)
	}
	return cells
}

// TestSweep trains a grid of settings and compares them. An interrupted and continued sweep must give the same bits,
// values and seeds can be added, and every training must be a run folder.
func TestSweep(t *testing.T) {
	drawnRun(t)
	grid := []string{"--vary", "lr=1e-3,1e-2", "--vary", "loss=contrastive,triplet", "--seeds", "2"}
	out, stderr := mustCall(t, sweepArgs("whole", grid...)...)
	for text, wants := range map[string][]string{
		out: {"lr=0.001, loss=triplet", "Best by validation: lr=",
			"To train it again: winnow train --config", "test p@1 %"},
		stderr: {"8 of 8 cells left to run, 96 steps: about",
			"8 cells, 0 done before", "8/8  lr=", "  lr=0.01, loss=triplet, seed 2: validation P@1"},
		readFile(t, "whole", "report.html"): {"8 trainings over lr × loss", "after Holm", "<svg"},
	} {
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%.3000s", want, text)
			}
		}
	}
	whole := sweepCells(t, "whole")
	if len(whole) != 8 || whole["lr=0.01_loss=triplet_seed=2"] == "" {
		t.Fatal(whole)
	}
	// Interrupt the sweep within a training and between trainings.
	const begun = "lr=0.001_loss=contrastive_seed=1"
	ctx, cancel := context.WithCancel(t.Context())
	watch := &cancelAfter{n: 2, cancel: cancel}
	half := append([]string{"winnow", "train"}, sweepArgs("cut/cells/"+begun, "--loss", "contrastive", "--lr", "0.001",
		"--seed", "1")[1:]...)
	if code := execute(ctx, half, new(bytes.Buffer), watch); code != 130 {
		t.Fatal(code, watch)
	}
	if _, err := folder.ReadResult("cut/cells/" + begun); err == nil {
		t.Fatal("the training was finished before the interrupt")
	}
	if n := cutAgain(t, 2, sweepArgs("cut", append(grid, "--jobs", "2")...), nil); n < 2 {
		t.Errorf("the sweep was interrupted %d times, expected 2 or more", n)
	}
	for name, row := range whole {
		if got := sweepCells(t, "cut")[name]; got != row {
			t.Errorf("%s: interrupted %q, uninterrupted %q", name, got, row)
		}
		for _, file := range []string{folder.BestHeadFile, folder.LastHeadFile, train.MetricsFile} {
			if readFile(t, "whole/cells", name, file) != readFile(t, "cut/cells", name, file) {
				t.Errorf("%s: %s differs between the uninterrupted and the interrupted sweep", name, file)
			}
		}
	}
	// The printed command repeats the best training, whose folder is a run folder.
	var found struct {
		Best struct{ Folder, Command string }
	}
	if err := json.Unmarshal([]byte(readFile(t, "whole", "results.json")), &found); err != nil {
		t.Fatal(err)
	}
	again := strings.Fields(strings.ReplaceAll(found.Best.Command, `"`, ""))
	mustCall(t, again[1:]...)
	if readFile(t, "best", folder.BestHeadFile) != readFile(t, found.Best.Folder, folder.BestHeadFile) {
		t.Error("the printed command gives a different head")
	}
	mustCall(t, "eval", found.Best.Folder)
	mustCall(t, "report", found.Best.Folder, "--no-pictures", "--out", "best.html")
	// A sweep to which values are added reuses its finished trainings; 1e-2 and 0.01 are the same value.
	_, stderr = mustCall(t, sweepArgs("whole", "--vary", "lr=0.001,0.003,1e-2", "--vary", "loss=contrastive,triplet",
		"--seeds", "1,2,4")...)
	if !strings.Contains(stderr, "18 cells, 8 done before") {
		t.Error(stderr)
	}
	// A sweep with other settings, data or axes is refused.
	for want, more := range map[string][]string{
		"holds a sweep with other settings": append(grid, "--filter", "none"),
		"holds a sweep with other axes":     {"--vary", "lr=1e-3,1e-2"},
		"a grid or random draws":            append(grid, "--draws", "2"),
	} {
		fails(t, 1, want, sweepArgs("whole", more...)...)
	}
	mustRun(t, "winnow data corrupt drawn/manifest.csv --noise-rate 0.2 --seed 9 --out noisy.csv --overwrite")
	fails(t, 1, "holds a sweep with other images", sweepArgs("whole", grid...)...)
}
