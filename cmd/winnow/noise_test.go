package main

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"winnow/filters/noiserate"
	"winnow/run/folder"
	"winnow/run/inspect"
)

// withTruth returns the world's manifest with an added column of true labels, and its noise rate.
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
		rateOnly := func(labels string, more ...string) string {
			stdout, _ := mustCall(t, append([]string{"audit", "--rate-only", "--labels", labels, "--features", w.store},
				more...)...)
			return stdout
		}
		var r inspect.RateReport
		if err := json.Unmarshal([]byte(rateOnly(manifest, "--json")), &r); err != nil {
			t.Fatal(err)
		}
		if e := r.Estimate; e.Method != noiserate.Likelihood || math.Abs(e.Rate-truth) > 0.09 || e.Low > e.Rate ||
			e.High < e.Rate || r.Images != 320 || r.True == nil || math.Abs(*r.True-truth) > 1e-12 {
			t.Errorf("%+v, the true rate is %v", r, truth)
		}
		stdout := rateOnly(manifest)
		if !strings.HasPrefix(stdout, "wrong labels: about ") || !strings.Contains(stdout, "by the true labels") ||
			strings.Count(stdout, "\n") != 2 {
			t.Errorf("found %s", stdout)
		}
		if stdout = rateOnly(w.manifest); strings.Contains(stdout, "by the true labels") {
			t.Errorf("true labels are reported for a manifest without them:\n%s", stdout)
		}
	}
}

// TestTrainEstimatesTheRate checks that --noise-rate auto trains as with the estimate given as a number: in the filter,
// in config.yaml, and when resumed.
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
	cfg, err := folder.Settings(auto)
	if err != nil || facts.NoiseRate == nil || math.Abs(cfg.Filter.Rate.Share-facts.NoiseRate.Rate) > 1e-4 ||
		math.Abs(facts.NoiseRate.Rate-0.3) > 0.12 {
		t.Fatalf("%v: config.yaml has %v, run.json %+v", err, cfg.Filter.Rate, facts.NoiseRate)
	}
	mustCall(t, w.args(given, "--noise-rate", cfg.Filter.Rate.String())...)
	sameFiles(t, auto, given, folder.BestHeadFile, folder.ConfigFile)
	if strings.Contains(readFile(t, given, folder.FactsFile), "noise_rate") {
		t.Error("run.json contains an estimate although the rate was given")
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
}
