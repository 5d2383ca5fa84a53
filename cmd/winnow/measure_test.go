package main

import (
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/models"
	"winnow/run/inspect"
	"winnow/run/measure"
	"winnow/train"
)

// drawnRun trains a head on a few drawn characters in a new working folder. A third of the labels are wrong.
func drawnRun(t *testing.T) {
	t.Helper()
	orttest.Runtime(t)
	drawnFiles.here(t, func() {
		for _, line := range []string{
			"winnow data glyphs --out drawn --classes 24 --images 20",
			"winnow data corrupt drawn/manifest.csv --noise-rate 0.33 --out noisy.csv",
			"winnow extract --manifest noisy.csv --root drawn --model glyphnet --out features",
			"winnow train --manifest noisy.csv --root drawn --features features --noise-rate 0.33 --screen none " +
				"--epochs 10 --out run",
		} {
			mustRun(t, line)
		}
	})
}

var drawnFiles fixture

func TestEvalAndAudit(t *testing.T) {
	drawnRun(t)
	result := runJSON[measure.Result](t, "winnow eval run --json --k 1,4")
	if result.N != 160 || len(result.Recall) != 2 || result.PrecisionAt1 != result.Recall[1] || result.Frozen.N != 160 {
		t.Errorf("eval: %+v, expected 160 queries of the test split and the recalls asked for", result)
	}
	small := mustRun(t, "winnow eval run --json --k 1,4 --max-mem 192MiB")
	var blocked measure.Result
	if err := json.Unmarshal([]byte(small), &blocked); err != nil {
		t.Fatal(err)
	}
	if blocked.MAPAtR != result.MAPAtR || blocked.PrecisionAt1 != result.PrecisionAt1 {
		t.Errorf("with little memory P@1 %v and MAP@R %v, expected %v and %v", blocked.PrecisionAt1, blocked.MAPAtR,
			result.PrecisionAt1, result.MAPAtR)
	}
	a := runJSON[inspect.Report](t, "winnow audit run --json --out suspects.csv")
	if a.Detection == nil || a.Detection.Samples != 240 || a.Detection.AUROC < 0.8 || len(a.Images) != 240 {
		t.Errorf("audit: %d images, detection %+v, expected 240 and an AUROC over 0.8", len(a.Images), a.Detection)
	}
	lines := table(t, "suspects.csv")
	if len(lines) != 241 || lines[1][1] != a.Images[0].Path || lines[1][8] != a.Images[0].True {
		t.Errorf("suspects.csv: %d lines; the first is %q, expected %+v", len(lines), lines[1], a.Images[0])
	}
	mustRun(t, "winnow audit run --out suspects.jsonl --scorer avgsim --top 3")
	if n := strings.Count(readFile(t, "suspects.jsonl"), "\n"); n != 240 {
		t.Errorf("suspects.jsonl: %d lines", n)
	}
}

// A run with the filter ProxySim is audited by stored features and its own proxies. By the proxies alone, the ranking
// is that of the formula.
func TestAuditByProxies(t *testing.T) {
	drawnRun(t)
	mustRun(t, "winnow train --manifest noisy.csv --root drawn --features features --noise-rate 0.33 --screen none "+
		"--epochs 5 --loss soft_triple --set losses.0.settings.centers=2 --filter proxysim --out soft")
	both := runJSON[inspect.Report](t, "winnow audit soft --json")
	a := runJSON[inspect.Report](t, "winnow audit soft --scorer proxysim --json")
	if a.Scorer != "proxysim" || len(a.Images) != 240 || a.Detection == nil || a.Detection.AUROC < 0.6 {
		t.Fatalf("%d images by %s, detection %+v", len(a.Images), a.Scorer, a.Detection)
	}
	params, err := train.ReadLossParams("soft")
	if err != nil || len(params) != 1 {
		t.Fatal(params, err)
	}
	h, _, err := models.ReadHead("soft/last.winnow")
	if err != nil {
		t.Fatal(err)
	}
	data, err := readTrainData("noisy.csv", "features")
	if err != nil {
		t.Fatal(err)
	}
	z, err := h.Embed(data.Train.X)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]float64{}
	for i, id := range data.Train.IDs {
		sum, own := 0.0, 0.0
		for k := range data.Classes {
			best := math.Inf(-1)
			for _, row := range [][]float32{features.Row(params[0].Matrix(), 2*k), features.Row(params[0].Matrix(), 2*k+
				1)} {
				var dot, norm float64
				for j, v := range row {
					dot += float64(v) * float64(features.Row(z, i)[j])
					norm += float64(v) * float64(v)
				}
				best = max(best, dot/math.Sqrt(norm))
			}
			sum += math.Exp(best)
			if k == data.Train.Labels[i] {
				own = math.Exp(best)
			}
		}
		want[data.Paths[id]] = own / sum
	}
	for i, image := range a.Images[1:] { // ranked by the proxies' P; the scores are calibrated
		before := a.Images[i]
		if want[image.Path] < want[before.Path]-1e-5 || image.Score < before.Score {
			t.Errorf("%s, score %v, stands after %s, %v; the proxies say %v and %v", image.Path, image.Score,
				before.Path, before.Score, want[image.Path], want[before.Path])
		}
	}
	if both.Scorer != "combined" || !strings.Contains(both.Why, "of the run's proxysim (counts ") ||
		both.Detection.AP < a.Detection.AP {
		t.Errorf("by %s, %s: AP %.3f, by the proxies alone %.3f", both.Scorer, both.Why, both.Detection.AP,
			a.Detection.AP)
	}
	page := mustRun(t, "winnow audit soft --scorer proxysim --top 1")
	if !strings.Contains(page, "by the run's proxies, which have learnt from this image too") {
		t.Errorf("the output does not say that the proxies have seen the images:\n%s", page)
	}
	fails(t, 2, "by the proxies of a run with the filter proxysim, which this run does not have", "audit", "run",
		"--scorer", "proxysim")
	if err := os.Remove("soft/" + train.CheckpointFile); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "the proxies of soft cannot be used", "audit", "soft", "--scorer", "proxysim")
	if err := json.Unmarshal([]byte(mustRun(t, "winnow audit soft --json")), &a); err != nil ||
		!strings.Contains(a.Why, "of the run's vmf (counts ") {
		t.Errorf("without proxies judged by %s, %s, %v; expected vmf", a.Scorer, a.Why, err)
	}
}
