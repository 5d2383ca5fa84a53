package main

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/models"
	"winnow/run/folder"
	"winnow/train"
	"winnow/train/peers"
	"winnow/train/selective"
)

// methodArgs returns the arguments of a short training with the given training method.
func (w world) methodArgs(method, out string, more ...string) []string {
	args := []string{"train", "--manifest", w.manifest, "--root", w.dir, "--features", w.store, "--out", out,
		"--method", method, "--dim", "24", "--batch", "32"}
	if slices.Contains(selective.Methods(), method) {
		args = append(args, "--epochs", "8", "--set", "selective.warm_up=2 epochs")
	} else {
		args = append(args, "--noise-rate", "0.3", "--epochs", "12")
	}
	return append(args, more...)
}

// TestTrainMethods checks that every method writes a run folder that other commands read, gives a better embedding than
// frozen features, and learns from all rows at first and from the expected share at the end.
func TestTrainMethods(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 1, 0.3)
	for method, c := range map[string]struct {
		more      []string
		low, high float64 // bounds of the share in the second half
	}{
		peers.CoTeaching:            {[]string{"--set", "peers.gradual=4 epochs"}, 22. / 32, 22. / 32},
		peers.CoTeachingPlus:        {[]string{"--set", "peers.warm_up=6 epochs"}, 0, 1},
		peers.CoTeachingTemperature: {nil, 22. / 32, 0.73},
		peers.FCorrection: {[]string{"--set", "peers.transition=estimated", "--set", "peers.first_stage=3 epochs"},
			1, 1},
		peers.CrossEntropy: {[]string{"--set", "sampler.variant=groups", "--batch", "8x4"}, 1, 1},
		selective.SelCL:    {[]string{"--set", "selective.queue_start=3 epochs"}, 0.3, 0.95},
		selective.TCL:      {[]string{"--noise-rate", "0.3"}, 0.3, 0.95},
	} {
		out := filepath.Join(w.dir, method)
		v := mustJSON[folder.Result](t, w.methodArgs(method, out, append(c.more, "--json")...)...).Validation
		if v.Trained.PrecisionAt1 < v.Frozen.PrecisionAt1 {
			t.Errorf("%s: P@1 %.4f trained, %.4f frozen", method, v.Trained.PrecisionAt1, v.Frozen.PrecisionAt1)
		}
		if h, _, err := models.ReadHead(filepath.Join(out, folder.BestHeadFile)); err != nil || h.Config().Out != 24 {
			t.Errorf("%s: %v", method, err)
		}
		shares := keptShares(t, readFile(t, out, train.MetricsFile))
		late := 0.0
		for _, s := range shares[len(shares)/2:] {
			late += s / float64(len(shares)-len(shares)/2)
		}
		if shares[0] != 1 || late < c.low-1e-9 || late > c.high+1e-9 {
			t.Errorf("%s: kept share %v at first, %v in the second half, expected %v to %v", method, shares[0], late,
				c.low, c.high)
		}
		mustCall(t, "eval", out, "--split", "validation")
		if _, stderr := mustCall(t, "audit", out, "--top", "3"); !strings.Contains(stderr,
			"scoring its embedding with vmf") {
			t.Errorf("%s: audit: %s", method, stderr)
		}
	}
}

// keptShares returns the share of rows that each step of a run learned from.
func keptShares(t *testing.T, metrics string) (shares []float64) {
	t.Helper()
	for text := range strings.Lines(metrics) {
		var line struct {
			Share *float64 `json:"kept_share"`
		}
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatal(err)
		}
		if line.Share != nil {
			shares = append(shares, *line.Share)
		}
	}
	return shares
}

// TestTrainMethodResumes checks that a resumed run of a method writes the same files as an uninterrupted run.
func TestTrainMethodResumes(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
	for method, settings := range map[string][]string{
		peers.CoTeachingPlus: {"--set", "peers.warm_up=2 epochs", "--epochs", "5"},
		peers.FCorrection: {"--set", "peers.transition=estimated", "--set", "peers.first_stage=15 steps", "--epochs",
			"5"},
		selective.SelCL: {"--epochs", "4", "--set", "selective.warm_up=1 epoch"},
		selective.TCL:   {"--epochs", "4", "--set", "selective.warm_up=1 epoch"},
	} {
		settings = append(settings, "--set", "checkpoint=7 steps")
		whole, cut := filepath.Join(w.dir, method, "whole"), filepath.Join(w.dir, method, "cut")
		mustCall(t, w.methodArgs(method, whole, settings...)...)
		cutAgain(t, 2, w.methodArgs(method, cut, append(settings, "--resume")...), func() []string {
			return []string{"train", "--resume", "--out", cut} // the run knows its method
		})
		sameFiles(t, whole, cut, folder.BestHeadFile, folder.LastHeadFile, train.MetricsFile, train.CheckpointFile,
			folder.ConfigFile)
	}
}
