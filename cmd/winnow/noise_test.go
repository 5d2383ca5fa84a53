package main

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/filters/noiserate"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/inspect"
)

// withTruth returns the world's manifest with the true labels, and its noise rate.
func (w world) withTruth(t *testing.T) (manifest string, rate float64) {
	t.Helper()
	var out strings.Builder
	images := 0
	for i, line := range strings.Split(strings.TrimSpace(readFile(t, w.manifest)), "\n") {
		if i == 0 {
			out.WriteString(line + ",true_label\n")
			continue
		}
		path, _, _ := strings.Cut(line, ",")
		out.WriteString(line + ",class" + path[1:3] + "\n")
		if strings.HasSuffix(line, ",train") {
			images++
		}
	}
	manifest = filepath.Join(w.dir, "truth.csv")
	write(t, manifest, out.String())
	return manifest, float64(len(w.wrong)) / float64(images)
}

func TestAuditRateOnly(t *testing.T) {
	needRuntime(t)
	for seed, rate := range map[uint64]float64{1: 0.3, 2: 0} {
		w := newWorld(t, seed, rate)
		manifest, truth := w.withTruth(t)
		rateOnly := func(labels string, more ...string) (int, string, string) {
			return call(context.Background(), append([]string{"audit", "--rate-only", "--labels", labels, "--features",
				w.store}, more...)...)
		}
		code, stdout, stderr := rateOnly(manifest, "--scorer", "all", "--json")
		if code != 0 {
			t.Fatal(stderr)
		}
		var r inspect.RateReport
		if err := json.Unmarshal([]byte(stdout), &r); err != nil {
			t.Fatal(err)
		}
		if len(r.Estimates) != len(noiserate.Methods()) || r.Images != 320 || r.True == nil ||
			math.Abs(*r.True-truth) > 1e-12 || len(r.Classes) != 20 {
			t.Errorf("%+v, the truth is %v", r, truth)
		}
		if !slices.IsSortedFunc(r.Classes, func(a, b inspect.ClassRate) int { return cmp.Compare(b.Rate, a.Rate) }) {
			t.Errorf("classes: %+v", r.Classes)
		}
		if e := r.Estimates[0]; e.Method != noiserate.Likelihood || math.Abs(e.Rate-truth) > 0.09 || e.Low > e.Rate ||
			e.High < e.Rate {
			t.Errorf("estimate %+v, the truth is %v", e, truth)
		}
		for _, method := range noiserate.Methods() {
			code, stdout, _ = rateOnly(manifest, "--scorer", method)
			if worse := method != noiserate.Likelihood; code != 0 || strings.Contains(stdout,
				"too many where classes are") != worse {
				t.Errorf("%s, exit %d:\n%s", method, code, stdout)
			}
		}
		code, stdout, _ = rateOnly(manifest, "--top", "2")
		if code != 0 || !strings.HasPrefix(stdout, "wrong labels: about ") || !strings.Contains(stdout,
			"the manifest knows: ") || strings.Count(stdout, "\n") != 4 {
			t.Errorf("exit %d\n%s", code, stdout)
		}
		if code, stdout, _ = rateOnly(w.manifest); code != 0 ||
			strings.Contains(stdout, "the manifest knows") {
			t.Errorf("exit %d; true labels are reported for a manifest without them:\n%s", code, stdout)
		}
	}
	fails(t, 1, "list.csv", "audit", "--rate-only", "--labels", "list.csv", "--features", "store")
}

// --noise-rate auto trains as with the estimate given as a number: in the filter, in config.yaml, and when resumed.
func TestTrainEstimatesTheRate(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 3, 0.3)
	auto, given := filepath.Join(w.dir, "auto"), filepath.Join(w.dir, "given")
	code, _, stderr := call(context.Background(), w.args(auto, "--noise-rate", "auto")...)
	if code != 0 || !strings.Contains(stderr, "estimated from the features: about ") {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	var facts folder.Facts
	if err := json.Unmarshal([]byte(readFile(t, auto, folder.FactsFile)), &facts); err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Load(filepath.Join(auto, folder.ConfigFile), nil)
	if err != nil || facts.NoiseRate == nil || math.Abs(cfg.Filter.Rate.Share-facts.NoiseRate.Rate) > 1e-4 ||
		math.Abs(facts.NoiseRate.Rate-0.3) > 0.12 {
		t.Fatalf("%v: config.yaml has %v, run.json %+v", err, cfg.Filter.Rate, facts.NoiseRate)
	}
	mustCall(t, w.args(given, "--noise-rate", cfg.Filter.Rate.String())...)
	sameFiles(t, auto, given, folder.BestHeadFile, folder.ConfigFile)
	if strings.Contains(readFile(t, given, folder.FactsFile), "noise_rate") {
		t.Error("run.json holds an estimate though the rate was given")
	}
	for _, more := range [][]string{nil, {"--noise-rate", "auto"}} {
		code, stdout, stderr := call(context.Background(), append([]string{"train", "--resume", "--out", auto},
			more...)...)
		if code != 0 || !strings.Contains(stdout, "head.winnow: ") {
			t.Errorf("resumed with %v: exit %d\n%s", more, code, stderr)
		}
	}
	for _, bad := range []string{"nix", "-1", "NaN"} {
		fails(t, 2, "expected a share from 0 to below 1, or auto", w.args(auto, "--noise-rate="+bad)...)
	}
	peers := filepath.Join(w.dir, "peers")
	mustCall(t, w.peersArgs("co-teaching", peers, "--noise-rate", "auto", "--epochs", "2")...)
	if cfg, err := config.Load(filepath.Join(peers, folder.ConfigFile), nil); err != nil || cfg.Peers.Rate.Auto ||
		math.Abs(cfg.Peers.Rate.Share-0.3) > 0.12 {
		t.Errorf("%v: peers.rate is %v", err, cfg.Peers.Rate)
	}
	none := filepath.Join(w.dir, "none")
	mustCall(t, w.args(none, "--noise-rate", "auto", "--filter", "none", "--epochs", "2")...)
	mustCall(t, "audit", none)
}

func TestTrainCorrectsLabels(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 4, 0.3)
	whole, cut := filepath.Join(w.dir, "whole"), filepath.Join(w.dir, "cut")
	settings := []string{"--noise-rate", "0.3", "--set", "filter.avgsim=5 steps", "--set", "checkpoint=7 steps",
		"--set", "correct.visits=2", "--set", "correct.confidence=0.8"}
	stdout, _ := mustCall(t, w.args(whole, append(settings, "--json")...)...)
	var result folder.Result
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	list := table(t, whole, folder.CorrectionsFile)
	if result.Corrected == nil || *result.Corrected != len(list)-1 ||
		strings.Join(list[0], ",") != "path,given,corrected,step,confidence" {
		t.Fatalf("%d lines, the result says %v", len(list), result.Corrected)
	}
	given := map[string]string{}
	for _, line := range strings.Split(readFile(t, w.manifest), "\n") {
		if path, rest, ok := strings.Cut(line, ","); ok {
			given[path], _, _ = strings.Cut(rest, ",")
		}
	}
	right := 0
	for _, c := range list[1:] {
		if c[1] != given[c[0]] {
			t.Errorf("%v: given label %q in the manifest", c, given[c[0]])
		}
		if c[2] == "class"+c[0][1:3] {
			right++
		}
	}
	if n := len(list) - 1; n < 10 || right < n/2 {
		t.Errorf("%d corrections, %d to the true class", n, right)
	}
	cutAgain(t, 3, w.args(cut, append(settings, "--resume")...), nil)
	sameFiles(t, whole, cut, folder.BestHeadFile, folder.LastHeadFile, folder.CorrectionsFile, "metrics.jsonl",
		"checkpoint.winnow")
	for _, c := range []struct{ setting, want string }{
		{"filter.scorer=none", "correct.visits: found 2, but no filter"},
		{"correct.confidence=0", "correction: confidence: found 0, expected a probability above 0 and up to 1"},
		{"correct.visits=-1", "correct.visits: found -1, expected 0 for no correction, or more"},
	} {
		fails(t, 2, c.want, w.args(cut, append(settings, "--set", c.setting)...)...)
	}
}
