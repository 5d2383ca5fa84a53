package main

import (
	"context"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"winnow/run/folder"
	"winnow/train"
)

// pacedArgs returns the arguments of a short self-paced training of the world.
func (w world) pacedArgs(out string, more ...string) []string {
	return append(w.args(out, "--loss", "weighted_multi_similarity", "--filter", "none", "--set", "bank.size=0", "--lr",
		"3e-4", "--epochs", "6",
		"--set", "selfpaced.every=1 epoch", "--set", "selfpaced.lambda_max=3.5", "--set", "selfpaced.mu=3.5"), more...)
}

// roundLine matches the line printed for a round of weights.
var roundLine = regexp.MustCompile(`epoch \d+ \(step \d+\): weights, round \d: λ [\d.]+, mean weight of a ` +
	`class \(MAW\) ` +
	`[01]\.\d{3} ± 0\.\d{3} \(SDAW\); of 320 samples \d+ excluded, \d+ at 1; objective -?[\d.]+ → -?[\d.]+ ` +
	`(not converged )?after \d+ visits\n`)

// TestSelfPacedRun checks a self-paced run: wrong labels get lower weights than right labels, rounds are printed, the
// audit ranks by weights.csv, and an interrupted and resumed run writes the same bytes.
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
		t.Errorf("mean weight of wrong labels %.3f, of right labels %.3f", wrong, right)
	}
	cutAgain(t, 2, w.pacedArgs(cut, "--resume"), func() []string {
		if fileThere(filepath.Join(cut, folder.WeightsFile)) {
			t.Error("an interrupted run has weights.csv")
		}
		return nil
	})
	sameFiles(t, whole, cut, folder.BestHeadFile, folder.LastHeadFile, folder.WeightsFile, train.MetricsFile,
		train.CheckpointFile, folder.ConfigFile)
}
