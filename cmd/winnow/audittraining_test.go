package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"winnow/run/folder"
	"winnow/run/inspect"
	"winnow/train"
	"winnow/train/samples"
)

// A run records what training saw of its samples; an interrupted run records the same bytes. Every scorer of that
// record finds wrong labels, and most dropped images are wrong.
func TestAuditByTraining(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
	known, _ := w.withTruth(t)
	settings := []string{"--noise-rate", "0.3", "--loss", "norm_softmax", "--set", "filter.warm_up=2 epochs", "--set",
		"filter.avgsim=1 epoch", "--set", "checkpoint=15 steps"}
	whole, cut := filepath.Join(w.dir, "whole"), filepath.Join(w.dir, "cut")
	mustCall(t, w.args(whole, settings...)...)
	cutAgain(t, 2, w.args(cut, append(settings, "--resume")...), nil)
	sameFiles(t, whole, cut, folder.SamplesFile, train.CheckpointFile, folder.LastHeadFile, train.MetricsFile)
	list, err := folder.ReadSamples(whole)
	if err != nil || len(list) != 320 {
		t.Fatal(len(list), err)
	}
	for by, least := range map[string]float64{samples.SmallLoss: 0.75, samples.Ensemble: 0.85,
		samples.Forgetting: 0.8} {
		clean := filepath.Join(w.dir, by+".csv")
		stdout, _ := mustCall(t, "audit", whole, "--json", "--manifest", known, "--scorer", by, "--clean", clean,
			"--drop")
		var a inspect.Report
		if err := json.Unmarshal([]byte(stdout), &a); err != nil {
			t.Fatal(err)
		}
		if a.Scorer != by || a.Suggests != "vmf" || len(a.Images) != 320 || a.Rate != 0.3 || a.Detection.AUROC < least {
			t.Errorf("%s, %s, %d images, rate %v, %+v", a.Scorer, a.Suggests, len(a.Images), a.Rate, a.Detection)
		}
		for i, e := range a.Images {
			if i > 0 && e.Score < a.Images[i-1].Score {
				t.Fatalf("%s: place %d: score %v follows %v", by, i, e.Score, a.Images[i-1].Score)
			}
		}
		if dropped := strings.Count(readFile(t, known), "\n") - strings.Count(readFile(t, clean),
			"\n"); dropped != a.Detection.Removed || a.Detection.Precision < 0.6 {
			t.Errorf("%s: %d rows dropped, %+v", by, dropped, a.Detection)
		}
	}
}
