package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/models"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
	"winnow/train/peers"
)

// peersArgs returns the arguments of a short training by a method.
func (w world) peersArgs(method, out string, more ...string) []string {
	return append([]string{"train", "--manifest", w.manifest, "--root", w.dir, "--features", w.store, "--out", out,
		"--method", method, "--dim", "24", "--batch", "32", "--noise-rate", "0.3", "--epochs", "12"}, more...)
}

// Every method leaves a run folder that the other commands read.
func TestTrainMethods(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 1, 0.3)
	for method, more := range map[string][]string{
		peers.CoTeaching:            {"--set", "peers.gradual=4 epochs"},
		peers.CoTeachingPlus:        {"--set", "peers.warm_up=6 epochs"},
		peers.CoTeachingTemperature: nil,
		peers.FCorrection:           {"--set", "peers.transition=estimated", "--set", "peers.first_stage=3 epochs"},
		peers.CrossEntropy:          {"--set", "sampler.variant=groups", "--batch", "8x4"},
	} {
		out := filepath.Join(w.dir, method)
		code, stdout, stderr := call(context.Background(), w.peersArgs(method, out, append(more, "--json")...)...)
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
		if !strings.Contains(stderr, method) {
			t.Errorf("%s: standard error does not name the method:\n%s", method, stderr)
		}
		for _, name := range filesOfAnyRun() {
			if _, err := os.Stat(filepath.Join(out, name)); err != nil {
				t.Error(err)
			}
		}
		if h, _, err := models.ReadHead(filepath.Join(out, folder.BestHeadFile)); err != nil || h.Config().Out != 24 {
			t.Errorf("%s: %v", method, err)
		}
		checkKeptShares(t, method, readFile(t, out, train.MetricsFile))
		code, stdout, stderr = call(context.Background(), "eval", out, "--split", "validation", "--json")
		if code != 0 || !strings.Contains(stdout, "precision_at_1") {
			t.Errorf("%s: eval: exit %d\n%s%s", method, code, stdout, stderr)
		}
		code, stdout, stderr = call(context.Background(), "audit", out, "--top", "3", "--json")
		if code != 0 || !strings.Contains(stderr, "judging its embedding with vmf") {
			t.Errorf("%s: audit: exit %d\n%.300s%s", method, code, stdout, stderr)
		}
		code, _, stderr = call(context.Background(), "export", out, "--npy", filepath.Join(w.dir, method+".npy"))
		if code != 0 {
			t.Errorf("%s: export: exit %d\n%s", method, code, stderr)
		}
	}
}

// checkKeptShares checks the share of rows that a run learned from.
func checkKeptShares(t *testing.T, method, text string) {
	t.Helper()
	var first, last float64
	for i, l := range strings.Split(strings.TrimSpace(text), "\n") {
		var line struct {
			Share *float64 `json:"kept_share"`
		}
		if err := json.Unmarshal([]byte(l), &line); err != nil {
			t.Fatalf("%s: line %d: %v", method, i+1, err)
		}
		if line.Share == nil {
			continue
		}
		if last = *line.Share; first == 0 {
			first = last
		}
	}
	want := map[string]float64{peers.CoTeaching: 22. / 32, peers.CoTeachingTemperature: 22. / 32, peers.FCorrection: 1,
		peers.CrossEntropy: 1}[method]
	if first != 1 || want > 0 && last != want || last > 1 {
		t.Errorf("%s: kept share from %v to %v, expected 1 to %v", method, first, last, want)
	}
}

// An interrupted and resumed run of a method leaves the same files as an uninterrupted one.
func TestTrainMethodResumes(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
	for method, settings := range map[string][]string{
		peers.CoTeachingPlus: {"--set", "peers.warm_up=2 epochs", "--set", "checkpoint=7 steps", "--epochs", "5"},
		peers.FCorrection: {"--set", "peers.transition=estimated", "--set", "peers.first_stage=15 steps", "--epochs",
			"5"},
	} {
		whole, cut := filepath.Join(w.dir, method, "whole"), filepath.Join(w.dir, method, "cut")
		mustCall(t, w.peersArgs(method, whole, settings...)...)
		cutAgain(t, 2, w.peersArgs(method, cut, append(settings, "--resume")...), func() []string {
			return []string{"train", "--resume", "--out", cut} // the run knows its method
		})
		sameFiles(t, whole, cut, folder.BestHeadFile, folder.LastHeadFile, train.MetricsFile, train.CheckpointFile,
			folder.ConfigFile)
	}
}

// The published settings of Co-teaching can be configured, and the printed settings read back the same.
func TestTrainStatesPublishedSettings(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "coteaching.yaml")
	write(t, file, `method: co-teaching-plus
length: 200 epochs
sampler: {variant: shuffle, rows: 64}
solver: {name: adam, lr: 1e-3}
schedule: {name: linear, hold: 0.4, beta1: 0.1}
peers: {rate: 0.2, gradual: 10 epochs, exponent: 1, warm_up: 20 epochs}
`)
	code, stdout, stderr := call(context.Background(), "train", "--defaults", "--config", file)
	cfg, err := config.Parse("printed", []byte(stdout), nil)
	if code != 0 || err != nil {
		t.Fatalf("exit %d, %v\n%s%s", code, err, stdout, stderr)
	}
	p := cfg.Peers.In(cfg.Method, 7)
	if cfg.Method != peers.CoTeachingPlus || p.Rate != 0.2 || p.Gradual != 10 || p.WarmUp != 20 || p.Epoch != 7 ||
		cfg.Sampler.Rows != 64 || cfg.Schedule.Beta1 != 0.1 || len(cfg.Losses) != 0 ||
		cfg.Filter.Scorer != config.NoFilter {
		t.Errorf("settings %+v", cfg)
	}
	code, plain, _ := call(context.Background(), "train", "--defaults", "--method", "co-teaching-temperature")
	if cfg, err := config.Parse("printed", []byte(plain), nil); code != 0 || err != nil ||
		cfg.Peers.Classifier != peers.Cosine || cfg.Schedule.Hold != 0.4 || cfg.Solver.LR.Value != 1e-3 {
		t.Errorf("exit %d, %v\n%s", code, err, plain)
	}
}

// filesOfAnyRun returns the files that every run on stored features writes.
func filesOfAnyRun() []string {
	return slices.DeleteFunc(folder.Files(), func(name string) bool {
		return strings.HasSuffix(name, ".onnx") || slices.Contains([]string{folder.WeightsFile,
			folder.ScreenedFile, folder.DecisionsFile, folder.RangeFile, train.DiagnosticsFile}, name)
	})
}
