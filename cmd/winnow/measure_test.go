package main

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"winnow/internal/testing/orttest"
	"winnow/run/inspect"
	"winnow/run/measure"
)

// drawnRun trains a head on a few drawn characters, a third of them with wrong labels, in a new working folder.
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

// Without images held out, a training ends with what winnow eval finds on the test images.
func TestTrainEndsWithTheTestImages(t *testing.T) {
	drawnRun(t)
	list := strings.ReplaceAll(readFile(t, "noisy.csv"), ",validation,", ",train,")
	if err := os.WriteFile("tested.csv", []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	said := mustRun(t, "winnow train --manifest tested.csv --root drawn --features features --screen none --epochs 1 "+
		"--out tested")
	found := runJSON[measure.Result](t, "winnow eval tested --json")
	for _, want := range []string{found.Verdict, fmt.Sprintf("\ntrained     %.4f  ", found.PrecisionAt1)} {
		if !strings.Contains(said, want) {
			t.Errorf("winnow train says %q, expected %q", said, want)
		}
	}
}

// A training on a small set holds images out, which measure the last state instead of choosing one. A training on a
// smaller one says why it is not measured.
func TestTrainMeasuresSmallSets(t *testing.T) {
	drawnRun(t)
	for _, c := range []struct {
		classes, each, held int
		says                string
	}{
		{12, 5, 16, "16 images, not all of any class, are held out to measure whether training helped"},
		{12, 4, 12, "3 of 12 classes, 12 images, are held out to measure whether training helped"},
		{6, 5, 0, "too few images to hold some out, so the last lines cannot say whether training helped"},
	} {
		list, counts := "path,label\n", map[string]int{}
		for _, line := range strings.Split(readFile(t, "drawn/manifest.csv"), "\n")[1:] {
			path, label, _ := strings.Cut(line, ",")
			label, _, _ = strings.Cut(label, ",")
			if counts[label] < c.each && (counts[label] > 0 || len(counts) < c.classes) {
				counts[label]++
				list += path + "," + label + "\n"
			}
		}
		if err := os.WriteFile("small.csv", []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
		out, said := mustCall(t, "train", "small.csv", "--features", "features", "--epochs", "1", "--out", "small",
			"--overwrite")
		if !strings.Contains(said, c.says) || !strings.Contains(out, "/head.winnow: the state after step") ||
			!strings.Contains(out, ", the last\n") || strings.Contains(out, "\ntrained  ") != (c.held > 0) {
			t.Errorf("%d classes of %d images: winnow train says %q, %q; expected %q", c.classes, c.each, said, out,
				c.says)
		}
		if c.held == 0 {
			continue
		}
		found := runJSON[measure.Result](t, "winnow eval small --json")
		if verdict, _ := strings.CutPrefix(found.Verdict, "on validation, "); found.N != c.held ||
			strings.Contains(verdict, "chose") || !strings.Contains(out, verdict) {
			t.Errorf("winnow eval says %q of %d images, winnow train %q", found.Verdict, found.N, out)
		}
	}
}

func TestEvalAndAudit(t *testing.T) {
	drawnRun(t)
	result := runJSON[measure.Result](t, "winnow eval run --json --k 1,4")
	if result.N != 160 || len(result.Recall) != 2 || result.PrecisionAt1 != result.Recall[1] || result.Frozen.N != 160 {
		t.Errorf("eval: %+v, expected 160 queries of the test split and the requested recalls", result)
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
}
