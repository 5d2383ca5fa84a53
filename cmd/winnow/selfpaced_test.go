package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"winnow/run/folder"
	"winnow/run/inspect"
	"winnow/train"
)

// pacedArgs returns the arguments of a short self-paced training of the world.
func (w world) pacedArgs(out string, more ...string) []string {
	return append(w.args(out, "--loss", "weighted_multi_similarity", "--filter", "none", "--set", "bank.size=0", "--lr",
		"3e-4", "--epochs", "6",
		"--set", "selfpaced.every=1 epoch", "--set", "selfpaced.lambda_max=3.5", "--set", "selfpaced.mu=3.5"), more...)
}

// roundLine is what a round of weights prints.
var roundLine = regexp.MustCompile(`epoch \d+ \(step \d+\): weights, round \d: λ [\d.]+, mean weight of a class ` +
	`0\.\d{3} ± 0\.\d{3}; of 320 samples \d+ at 0, \d+ at 1; objective -?[\d.]+ → -?[\d.]+\n`)

// A self-paced run weighs its samples: wrong labels end with lower weights than right ones, rounds are printed, the
// audit ranks by weights.csv, and an interrupted run leaves the same bytes.
func TestSelfPacedRun(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
	whole, cut := filepath.Join(w.dir, "whole"), filepath.Join(w.dir, "cut")
	code, _, stderr := call(context.Background(), w.pacedArgs(whole)...)
	if code != 0 || len(roundLine.FindAllString(stderr, -1)) != 6 {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	rows := table(t, whole, folder.WeightsFile)
	if len(rows) != 321 {
		t.Fatal(len(rows))
	}
	sum, count := map[bool]float64{}, map[bool]float64{}
	for _, row := range rows[1:] {
		v, err := strconv.ParseFloat(row[2], 64)
		if err != nil {
			t.Fatal(err)
		}
		sum[w.wrong[row[0]]] += v
		count[w.wrong[row[0]]]++
	}
	if wrong, right := sum[true]/count[true], sum[false]/count[false]; !(wrong < right-0.1) {
		t.Errorf("wrong labels weigh %.3f, right ones %.3f", wrong, right)
	}
	cutAgain(t, 2, w.pacedArgs(cut, "--resume"), func() []string {
		if fileThere(filepath.Join(cut, folder.WeightsFile)) {
			t.Error("an interrupted run has weights.csv")
		}
		return nil
	})
	sameFiles(t, whole, cut, folder.BestHeadFile, folder.LastHeadFile, folder.WeightsFile, train.MetricsFile,
		train.CheckpointFile, folder.ConfigFile)
	auditsPaced(t, w, whole, rows[1:])
}

// auditsPaced audits by the weights: images of weight 0 are flagged, all are ranked, and weights of other labels
// are refused.
func auditsPaced(t *testing.T, w world, dir string, rows [][]string) {
	known, _ := w.withTruth(t)
	audited := func(args ...string) inspect.Report {
		return mustJSON[inspect.Report](t, append([]string{"audit", dir, "--json", "--manifest", known}, args...)...)
	}
	a := audited()
	weight, zeros := map[string]string{}, 0
	for _, row := range rows {
		weight[row[0]] = row[2]
		if row[2] == "0" {
			zeros++
		}
	}
	if a.Scorer != "selfpaced" || a.Suggests != "vmf" || len(a.Images) != 320 || a.Detection.Removed != zeros ||
		a.Rate != float64(zeros)/320 || a.Detection.AUROC < 0.75 {
		t.Errorf("%s, %s, %d images, rate %v, %d zeros, %+v", a.Scorer, a.Suggests, len(a.Images), a.Rate, zeros,
			a.Detection)
	}
	for i, e := range a.Images {
		if strconv.FormatFloat(e.Score, 'g', -1, 64) != weight[e.Path] || e.Dropped != (e.Score == 0) || i > 0 &&
			e.Score < a.Images[i-1].Score {
			t.Fatalf("place %d: %+v, weight %s", i, e, weight[e.Path])
		}
	}
	if b := audited("--scorer", "selfpaced", "--noise-rate", "0.25"); b.Detection.Removed != 80 || b.Rate != 0.25 ||
		b.Detection.AUROC != a.Detection.AUROC {
		t.Errorf("%+v", b.Detection)
	}
	if v := audited("--scorer", "vmf"); v.Scorer != "vmf" || v.Suggests != "" {
		t.Errorf("%s, %s", v.Scorer, v.Suggests)
	}
	write(t, filepath.Join(w.dir, "other.csv"), strings.Replace(readFile(t, known), ",class03,train", ",class04,train",
		1))
	if code, _, stderr := call(context.Background(), "audit", dir, "--manifest",
		filepath.Join(w.dir, "other.csv")); code != 1 || !strings.Contains(stderr, `found "c0`) ||
		!strings.Contains(stderr, "scorer vmf judges others") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	weights := readFile(t, dir, folder.WeightsFile)
	flipped := []byte(weights)
	flipped[len(flipped)-2] ^= 1 // 0 becomes 1
	write(t, filepath.Join(dir, folder.WeightsFile), string(flipped))
	fails(t, 1, "weights.csv: found sha256", "audit", dir)
	write(t, filepath.Join(dir, folder.WeightsFile), weights)
	if err := os.Remove(filepath.Join(dir, folder.WeightsFile)); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "holds no weights.csv: the training is not finished", "audit", dir)
}
