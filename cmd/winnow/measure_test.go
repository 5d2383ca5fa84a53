package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/internal/testing/orttest"
	"winnow/run/inspect"
	"winnow/run/measure"
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
}

func TestEvalQueryGallery(t *testing.T) {
	drawnRun(t)
	text, err := os.ReadFile("noisy.csv")
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if strings.Contains(line, ",test,") {
			at++
			lines[i] = strings.Replace(line, ",test,", map[bool]string{true: ",query,", false: ",gallery,"}[at%4 == 0],
				1)
		}
	}
	if err := os.WriteFile("parted.csv", []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	r := runJSON[measure.Result](t, "winnow eval run --manifest parted.csv --json")
	if r.Split != "query" || r.N != 40 {
		t.Errorf("%d queries of %s, expected 40 of query", r.N, r.Split)
	}
}

// Images without a label are neither queries nor wrong answers.
func TestEvalLeavesOutUnlabelled(t *testing.T) {
	drawnRun(t)
	text, err := os.ReadFile("noisy.csv")
	if err != nil {
		t.Fatal(err)
	}
	without, blank := "", ""
	for i, line := range strings.SplitAfter(string(text), "\n") {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if i%3 == 0 && len(fields) == 4 && fields[2] == "test" {
			blank += fields[0] + ",,test,\n"
			continue
		}
		without, blank = without+line, blank+line
	}
	measured := func(name, list string) (r measure.Result) {
		if err := os.WriteFile(name, []byte(list), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(mustRun(t, "winnow eval run --json --manifest "+name)), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
	want, got := measured("without.csv", without), measured("blank.csv", blank)
	if got.Unlabelled == 0 || want.Unlabelled != 0 {
		t.Errorf("%d and %d unlabelled images", got.Unlabelled, want.Unlabelled)
	}
	got.Unlabelled = 0
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(measure.Result{})); diff != "" {
		t.Errorf("unlabelled images change the measurement (-without +with):\n%s", diff)
	}
}

func TestEvalMisuse(t *testing.T) {
	drawnRun(t)
	for line, want := range map[string]struct {
		code int
		text string
	}{
		"winnow eval":                    {2, "takes one run folder"},
		"winnow eval run --k 0":          {2, `--k: "0" is not a number of neighbours`},
		"winnow eval run --max-mem lots": {2, "is not a size"},
		"winnow eval run --max-mem 8B":   {1, "--max-mem allows 8"},
		"winnow eval run --split gallery": {1, "no readable image in the split gallery; it has train, " +
			"validation, test"},
		"winnow eval drawn":                 {1, "expected a folder that winnow train wrote"},
		"winnow audit run --scorer vfm":     {2, `"vfm" cannot audit (did you mean "vmf"?), expected one of combined`},
		"winnow audit run --out list.xls":   {2, "ends in none of .csv"},
		"winnow eval run --manifest no.csv": {1, "name it with --manifest"},
	} {
		var stdout, stderr bytes.Buffer
		code := execute(context.Background(), strings.Fields(line), &stdout, &stderr)
		if code != want.code || !strings.Contains(stderr.String(), want.text) {
			t.Errorf("%s: exit code %d, %q; expected %d and %q", line, code, stderr.String(), want.code, want.text)
		}
	}
}
