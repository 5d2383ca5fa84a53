package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/models"
	"winnow/run/inspect"
	"winnow/run/measure"
	"winnow/train"
)

// drawnRun trains a head on a few drawn characters, a third of whose labels are wrong, in the working folder.
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
	var result measure.Result
	if err := json.Unmarshal([]byte(mustRun(t, "winnow eval run --json --k 1,4")), &result); err != nil {
		t.Fatal(err)
	}
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
	var a inspect.Report
	if err := json.Unmarshal([]byte(mustRun(t, "winnow audit run --json --out suspects.csv")), &a); err != nil {
		t.Fatal(err)
	}
	if a.Detection == nil || a.Detection.Samples != 240 || a.Detection.AUROC < 0.8 || len(a.Images) != 240 {
		t.Errorf("audit: %d images, detection %+v, expected 240 and an AUROC over 0.8", len(a.Images), a.Detection)
	}
	file, err := os.ReadFile("suspects.csv")
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(file)).ReadAll()
	if err != nil || len(lines) != 241 || lines[1][1] != a.Images[0].Path || lines[1][8] != a.Images[0].True {
		t.Errorf("suspects.csv: %d lines, %v; the first is %q, expected %+v", len(lines), err, lines[1], a.Images[0])
	}
	mustRun(t, "winnow audit run --out suspects.jsonl --scorer avgsim --top 3")
	if file, err = os.ReadFile("suspects.jsonl"); err != nil || bytes.Count(file, []byte("\n")) != 240 {
		t.Errorf("suspects.jsonl: %d lines, %v", bytes.Count(file, []byte("\n")), err)
	}
}

// A run filtered by ProxySim is audited by its own proxies: the scores are those of the formula.
func TestAuditByProxies(t *testing.T) {
	drawnRun(t)
	mustRun(t, "winnow train --manifest noisy.csv --root drawn --features features --noise-rate 0.33 --screen none "+
		"--epochs 5 --loss soft_triple --set losses.0.settings.centers=2 --filter proxysim --out soft")
	var a inspect.Report
	if err := json.Unmarshal([]byte(mustRun(t, "winnow audit soft --json")), &a); err != nil {
		t.Fatal(err)
	}
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
	if page := mustRun(t, "winnow audit soft --top 1"); !strings.Contains(page, "by the run's proxies, which have "+
		"learnt from this image too") {
		t.Errorf("nothing says what the proxies know:\n%s", page)
	}
	var asked inspect.Report
	if err := json.Unmarshal([]byte(mustRun(t, "winnow audit soft --scorer proxysim --json")), &asked); err != nil ||
		asked.Scorer != "proxysim" || asked.Images[7].Score != a.Images[7].Score {
		t.Errorf("asked for, the proxies judge otherwise: %s, %v", asked.Scorer, err)
	}
	if code, _, stderr := call(context.Background(), "audit", "run", "--scorer", "proxysim"); code != 2 ||
		!strings.Contains(stderr, "was trained with --filter proxysim, and this one was not") {
		t.Errorf("a run without proxies: %d: %s", code, stderr)
	}
	if err := os.Remove("soft/" + train.CheckpointFile); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(context.Background(), "audit", "soft", "--scorer", "proxysim"); code != 1 ||
		!strings.Contains(stderr, "the proxies of soft cannot be used") {
		t.Errorf("asked for proxies that are gone: %d: %s", code, stderr)
	}
	if err := json.Unmarshal([]byte(mustRun(t, "winnow audit soft --json")), &a); err != nil || a.Scorer != "vmf" {
		t.Errorf("without proxies judged by %s, %v; expected vmf", a.Scorer, err)
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
	var r measure.Result
	if err := json.Unmarshal([]byte(mustRun(t, "winnow eval run --manifest parted.csv --json")), &r); err != nil {
		t.Fatal(err)
	}
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

func TestDemoSmall(t *testing.T) {
	orttest.Runtime(t)
	dir := filepath.Join(t.TempDir(), "demo")
	args := []string{"winnow", "-q", "demo", "--classes", "24", "--images", "16", "--seed", "3", "--set",
		"length=2 epochs", "--out", dir}
	var stdout, stderr bytes.Buffer
	if code := execute(context.Background(), args, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr.String())
	}
	text, err := os.ReadFile(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"seed", "noise_rate", "frozen", "whitened", "topline", "unfiltered", "prism",
		"detection", "seconds"} {
		if got[key] == nil {
			t.Errorf("result.json has no %q", key)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"PRISM vMF-Sim", "data:image/png;base64,", "<svg", "The most suspect labels",
		"Retrieval examples"} {
		if !bytes.Contains(page, []byte(want)) {
			t.Errorf("report.html holds no %q", want)
		}
	}
	if bytes.Contains(page, []byte("ZgotmplZ")) {
		t.Error("report.html holds something the template refused")
	}
}
