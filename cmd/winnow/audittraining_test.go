package main

import (
	"encoding/json"
	"os"
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
	refusesOthers(t, w, whole, known)
}

// refusesOthers audits by other labels, a damaged table and a run without a record, which are refused in one line.
func refusesOthers(t *testing.T, w world, dir, known string) {
	t.Helper()
	other := filepath.Join(w.dir, "other.csv")
	write(t, other, strings.Replace(readFile(t, known), ",class03,train", ",class04,train", 1))
	fails := func(want string, exit int, args ...string) {
		t.Helper()
		fails(t, exit, want, append([]string{"audit", dir, "--scorer", "ensemble"}, args...)...)
	}
	fails("scorer vmf judges others", 1, "--manifest", other)
	fails("--include-eval: the training of", 2, "--include-eval", "--clean", filepath.Join(w.dir, "c.csv"), "--drop")
	path := filepath.Join(dir, folder.SamplesFile)
	write(t, path, strings.Replace(readFile(t, path), "path,label", "path,class", 1))
	fails("it has changed since the training", 1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	fails("holds no samples.csv", 2)
}

// A run without the record that a scorer needs says how to get it; a run without a filter can record scores.
func TestAuditByTrainingMisuse(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
	out := func(name string, args ...string) string {
		dir := filepath.Join(w.dir, name)
		mustCall(t, w.args(dir, append([]string{"--epochs", "2"}, args...)...)...)
		return dir
	}
	for _, c := range []struct{ dir, scorer, want string }{
		{out("plain", "--filter", "none", "--loss", "proxy_anchor"), "ensemble", "train with scores.watch=vmf"},
		{filepath.Join(w.dir, "plain"), "small-loss", "the loss proxy_anchor, with the settings of the run, is no " +
			"sum of terms of single images"},
		{out("silent", "--set", "scores.record=false"), "ensemble", "scores.record is false"},
		{out("paced", "--loss", "weighted_multi_similarity", "--filter", "none", "--set", "selfpaced.every=1 epoch"),
			"small-loss", "expected the scorer selfpaced"},
		{out("peers", "--method", "co-teaching", "--batch", "32"), "forgetting",
			"the method of the run, co-teaching, judges no embedding"},
	} {
		fails(t, 2, c.want, "audit", c.dir, "--scorer", c.scorer)
	}
	mustCall(t, "audit", filepath.Join(w.dir, "peers"), "--scorer", "small-loss")
	known, _ := w.withTruth(t)
	watched := out("watched", "--filter", "none", "--set", "scores.watch=avgsim", "--set", "bank.size=0", "--loss",
		"proxy_anchor")
	stdout, _ := mustCall(t, "audit", watched, "--scorer", "ensemble", "--json", "--manifest", known)
	var a inspect.Report
	if err := json.Unmarshal([]byte(stdout), &a); err != nil || a.Detection.AUROC < 0.8 {
		t.Errorf("%v: %+v", err, a.Detection)
	}
	for want, args := range map[string][]string{
		"the filter vmf gives the scores already": w.args(filepath.Join(w.dir, "no"), "--set", "scores.watch=vmf"),
		"scores.window: found 0":                  w.args(filepath.Join(w.dir, "no"), "--set", "scores.window=0"),
		"scores.record is false": w.args(filepath.Join(w.dir, "no"), "--set", "scores.record=false",
			"--set", "scores.window=0.3"),
		"trains logits": w.args(filepath.Join(w.dir, "no"), "--method", "co-teaching",
			"--batch", "32", "--set", "scores.watch=vmf"),
		`scores.watch: found "proxysim"`: w.args(filepath.Join(w.dir, "no"), "--filter", "none", "--set",
			"scores.watch=proxysim"),
	} {
		fails(t, 2, want, args...)
	}
}

// Fine-tuning keeps the same record, and the page of its report ranks by it.
func TestAuditByTrainingFinetuned(t *testing.T) {
	atelier(t)
	settings := []string{"--loss", "norm_softmax", "--noise-rate", "0.3", "--augment", "digits", "--screen", "combined"}
	mustCall(t, tuneArgs("whole", "all", settings...)...)
	cutAgain(t, 2, tuneArgs("cut", "all", append(settings, "--resume")...), nil)
	sameFiles(t, "whole", "cut", folder.SamplesFile, train.CheckpointFile)
	var a inspect.Report
	stdout, _ := mustCall(t, "audit", "whole", "--scorer", "small-loss", "--json")
	if err := json.Unmarshal([]byte(stdout), &a); err != nil || a.Backbone != filepath.Join("whole",
		folder.LastBackboneFile) || len(a.LeftOut) == 0 || len(a.Images)+len(a.LeftOut) != 72 {
		t.Errorf("%v: %s, %d images, %d left out", err, a.Backbone, len(a.Images), len(a.LeftOut))
	}
	mustCall(t, "report", "whole", "--scorer", "small-loss", "--out", "r.html", "--no-map")
	page := readFile(t, "r.html")
	holds(t, page, "Scores of the given labels, by small-loss", "Here by small-loss: minus the loss of the image alone")
	fails(t, 2, "--scorer: found", "report", "whole", "--scorer", "centres", "--out", "r.html")
}
