package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/models"
	"winnow/run/folder"
	"winnow/train"
	"winnow/train/selective"
)

// selectiveArgs returns the arguments of a short training by a method.
func (w world) selectiveArgs(method, out string, more ...string) []string {
	return append([]string{"train", "--manifest", w.manifest, "--root", w.dir, "--features", w.store, "--out", out,
		"--method", method, "--dim", "24", "--batch", "32", "--epochs", "8", "--set", "selective.warm_up=2 epochs"},
		more...)
}

// Both methods leave a run folder that the other commands read, and say that they run on frozen features.
func TestTrainSelective(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 1, 0.3)
	for method, more := range map[string][]string{
		selective.SelCL: {"--set", "selective.queue_start=3 epochs"},
		selective.TCL:   {"--noise-rate", "0.3"},
	} {
		out := filepath.Join(w.dir, method)
		code, stdout, stderr := call(context.Background(), w.selectiveArgs(method, out, append(more, "--json")...)...)
		if code != 0 {
			t.Fatalf("%s: exit %d\n%s", method, code, stderr)
		}
		var result folder.Result
		if err := json.Unmarshal([]byte(stdout), &result); err != nil {
			t.Fatal(err)
		}
		v := result.Validation
		t.Logf("%s: frozen %.4f, whitened %.4f, trained %.4f after step %d", method, v.Frozen.PrecisionAt1,
			v.Whitened.PrecisionAt1, v.Trained.PrecisionAt1, result.BestStep)
		if v.Trained.PrecisionAt1 < v.Frozen.PrecisionAt1 {
			t.Errorf("%s: P@1 %.4f trained, %.4f frozen", method, v.Trained.PrecisionAt1, v.Frozen.PrecisionAt1)
		}
		if !strings.Contains(stderr, selective.Title(method)) {
			t.Errorf("%s: standard error does not name the method in full:\n%s", method, stderr)
		}
		for _, name := range filesOfAnyRun() {
			if _, err := os.Stat(filepath.Join(out, name)); err != nil {
				t.Error(err)
			}
		}
		if h, _, err := models.ReadHead(filepath.Join(out, folder.BestHeadFile)); err != nil || h.Config().Out != 24 {
			t.Errorf("%s: %v", method, err)
		}
		checkSelected(t, method, readFile(t, out, train.MetricsFile))
		code, stdout, stderr = call(context.Background(), "eval", out, "--split", "validation", "--json")
		if code != 0 || !strings.Contains(stdout, "precision_at_1") {
			t.Errorf("%s: eval: exit %d\n%s%s", method, code, stdout, stderr)
		}
		code, stdout, stderr = call(context.Background(), "audit", out, "--top", "3", "--json")
		if code != 0 || !strings.Contains(stderr, "judging its embedding with vmf") {
			t.Errorf("%s: audit: exit %d\n%.300s%s", method, code, stdout, stderr)
		}
	}
}

// checkSelected checks that all rows count in the warm-up and fewer at the end.
func checkSelected(t *testing.T, method, text string) {
	t.Helper()
	var shares []float64
	for i, l := range strings.Split(strings.TrimSpace(text), "\n") {
		var line struct {
			Share *float64 `json:"kept_share"`
		}
		if err := json.Unmarshal([]byte(l), &line); err != nil {
			t.Fatalf("%s: line %d: %v", method, i+1, err)
		}
		if line.Share != nil {
			shares = append(shares, *line.Share)
		}
	}
	var late float64
	for _, s := range shares[len(shares)/2:] {
		late += s / float64(len(shares)-len(shares)/2)
	}
	if shares[0] != 1 || late < 0.3 || late > 0.95 {
		t.Errorf("%s: kept share %v at first, %v in the second half", method, shares[0], late)
	}
}

// An interrupted and resumed run leaves the same files as an uninterrupted one.
func TestTrainSelectiveResumes(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
	for _, method := range selective.Methods() {
		settings := []string{"--set", "checkpoint=7 steps", "--epochs", "4", "--set", "selective.warm_up=1 epoch"}
		whole, cut := filepath.Join(w.dir, method, "whole"), filepath.Join(w.dir, method, "cut")
		mustCall(t, w.selectiveArgs(method, whole, settings...)...)
		cutAgain(t, 2, w.selectiveArgs(method, cut, append(settings, "--resume")...), func() []string {
			return []string{"train", "--resume", "--out", cut} // the run knows its method
		})
		sameFiles(t, whole, cut, folder.BestHeadFile, folder.LastHeadFile, train.MetricsFile, train.CheckpointFile,
			folder.ConfigFile)
	}
}
