package main

import (
	"context"
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"winnow/losses"
	"winnow/run/folder"
	"winnow/train"
)

// TestTrainWithEveryLoss trains with every loss of the catalog against the batch and, if possible, against the bank.
// All steps except the first (with an empty bank) must have a loss, all values must be finite, and validation must run.
func TestTrainWithEveryLoss(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 3, 0.2)
	for _, e := range losses.Catalog {
		terms := []string{e.Name}
		if e.Against == losses.Both {
			terms = append(terms, e.Name+":bank:0.5")
		}
		for i, term := range terms {
			t.Run(term, func(t *testing.T) {
				out := filepath.Join(w.dir, "runs", strings.ReplaceAll(term, ":", "-"))
				args := w.args(out)
				args = append(args[:len(args)-2], "--steps", "12", "--loss", term, "--filter", "none", "--set",
					"validation.every=12 steps")
				mustCall(t, args...)
				var result folder.Result
				if err := json.Unmarshal([]byte(readFile(t, out, folder.ResultFile)), &result); err != nil {
					t.Fatal(err)
				}
				if v := result.Validation; v.Whitened.PrecisionAt1 < 0.3 {
					t.Errorf("the data are too hard: %+v", v)
				}
				steps := 0
				for line := range strings.Lines(readFile(t, out, train.MetricsFile)) {
					var fact struct {
						Step     int
						Loss     *float64
						Skipped  bool
						Gradient float64 `json:"gradient_norm"`
					}
					if err := json.Unmarshal([]byte(line), &fact); err != nil {
						t.Fatal(err)
					}
					if fact.Loss == nil {
						continue
					}
					steps++
					if math.IsNaN(*fact.Loss) || fact.Step > 1+i && (fact.Skipped || fact.Gradient == 0) {
						t.Errorf("step %d: %s", fact.Step, line)
					}
				}
				if steps != 12 {
					t.Errorf("%d steps in the metrics, expected 12", steps)
				}
			})
		}
	}
}

// TestTrainOnUnlabelledImages checks that images without a label are used in the batches of the adapted triplet loss,
// which has a semi-supervised part.
func TestTrainOnUnlabelledImages(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 4, 0)
	lines := strings.SplitAfter(readFile(t, w.manifest), "\n")
	for i := 3; i < len(lines); i += 4 {
		if fields := strings.Split(strings.TrimSpace(lines[i]), ","); len(fields) == 3 && fields[2] == "train" {
			lines[i] = fields[0] + ",," + fields[2] + "\n"
		}
	}
	write(t, w.manifest, strings.Join(lines, ""))
	run := func(name string, more ...string) string {
		out := filepath.Join(w.dir, "runs", name)
		args := w.args(out, append([]string{"--loss", "adapted_triplet", "--filter", "none"}, more...)...)
		_, stderr := mustCall(t, args...)
		if !strings.Contains(stderr, "80 images of the train split have no label") {
			t.Errorf("%s: standard error:\n%s", name, stderr)
		}
		return readFile(t, out, folder.LastHeadFile)
	}
	if run("without") == run("with", "--set", "sampler.unlabelled=16") {
		t.Error("images without a label changed nothing")
	}
	code, _, stderr := call(context.Background(), w.args(filepath.Join(w.dir, "runs", "no"), "--loss", "triplet",
		"--set", "sampler.unlabelled=16")...)
	if want := "sampler.unlabelled: found 16, but no loss of the run learns from images without a label: expected 0, " +
		"or the loss adapted_triplet"; code == 0 || !strings.Contains(stderr, want) {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}
