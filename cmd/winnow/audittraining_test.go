package main

import (
	"path/filepath"
	"testing"

	"winnow/run/folder"
	"winnow/train"
)

// A run records what training saw of its samples; an interrupted run records the same bytes.
func TestSamplesAreRecorded(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
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
}

// Fine-tuning keeps the same record.
func TestSamplesAreRecordedFinetuned(t *testing.T) {
	atelier(t)
	settings := []string{"--loss", "norm_softmax", "--noise-rate", "0.3", "--augment", "digits", "--screen", "combined"}
	mustCall(t, tuneArgs("whole", "all", settings...)...)
	cutAgain(t, 2, tuneArgs("cut", "all", append(settings, "--resume")...), nil)
	sameFiles(t, "whole", "cut", folder.SamplesFile, train.CheckpointFile)
}
