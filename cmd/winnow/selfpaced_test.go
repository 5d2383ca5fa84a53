package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"winnow/cmd/winnow/progress"
	"winnow/filters/selfpaced"
	"winnow/run/folder"
	"winnow/run/inspect"
	"winnow/train"
)

// pacedArgs are those of a short self-paced training of the world.
func (w world) pacedArgs(out string, more ...string) []string {
	return append(w.args(out, "--loss", "weighted_multi_similarity", "--filter", "none", "--set", "bank.size=0", "--lr",
		"3e-4", "--epochs", "6",
		"--set", "selfpaced.every=1 epoch", "--set", "selfpaced.lambda_max=3.5", "--set", "selfpaced.mu=3.5"), more...)
}

// A run weighs its samples: wrong labels end with lower weights than right ones, rounds are told, weights.csv holds
// what the audit ranks by, and a run that was cut leaves the same bytes.
func TestSelfPacedRun(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
	whole, cut := filepath.Join(w.dir, "whole"), filepath.Join(w.dir, "cut")
	code, _, stderr := call(context.Background(), w.pacedArgs(whole)...)
	if code != 0 || strings.Count(stderr, "weights, round") != 6 || !strings.Contains(stderr, "of 320 samples") {
		t.Fatalf("exit %d\n%s", code, stderr)
	}
	rows, err := csv.NewReader(strings.NewReader(readFile(t, whole, folder.WeightsFile))).ReadAll()
	if err != nil || len(rows) != 321 {
		t.Fatal(len(rows), err)
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
	for i := 0; ; i++ {
		ctx, cancel := context.WithCancel(context.Background())
		watch := &cancelAfter{n: 2, cancel: cancel}
		code := execute(ctx, append([]string{"winnow"}, w.pacedArgs(cut, "--resume")...), new(bytes.Buffer), watch)
		cancel()
		if code == 0 {
			if i == 0 {
				t.Error("the run was never cut")
			}
			break
		}
		if _, err := os.Stat(filepath.Join(cut, folder.WeightsFile)); code != 130 || i > 20 || err == nil {
			t.Fatalf("exit %d, %v\n%s", code, err, watch)
		}
	}
	for _, name := range []string{folder.BestHeadFile, folder.LastHeadFile, folder.WeightsFile, train.MetricsFile,
		train.CheckpointFile, folder.ConfigFile} {
		if readFile(t, whole, name) != readFile(t, cut, name) {
			t.Errorf("%s differs between the whole and the resumed run", name)
		}
	}
	auditsPaced(t, w, whole, rows[1:])
}

// auditsPaced audits by the weights: as many zeros as there are are called wrong, ties are ranked, and weights of
// other labels are refused.
func auditsPaced(t *testing.T, w world, dir string, rows [][]string) {
	truth := strings.ReplaceAll(readFile(t, w.manifest), "path,label,split", "path,label,split,true_label")
	lines := strings.Split(strings.TrimSpace(truth), "\n")
	for i, line := range lines[1:] {
		path, _, _ := strings.Cut(line, "/")
		lines[i+1] = line + ",class" + strings.TrimPrefix(path, "c")
	}
	known := filepath.Join(w.dir, "known.csv")
	write(t, known, strings.Join(lines, "\n")+"\n")
	audited := func(args ...string) (a inspect.Report) {
		code, stdout, stderr := call(context.Background(), append([]string{"audit", dir, "--json", "--manifest", known},
			args...)...)
		if code != 0 {
			t.Fatal(stderr)
		}
		if err := json.Unmarshal([]byte(stdout), &a); err != nil {
			t.Fatal(err)
		}
		return a
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
		!strings.Contains(stderr, "--scorer vmf judges others") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
	if err := os.Remove(filepath.Join(dir, folder.WeightsFile)); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := call(context.Background(), "audit", dir); code != 1 || !strings.Contains(stderr,
		"holds no weights.csv: the training is not finished") {
		t.Errorf("exit %d\n%s", code, stderr)
	}
}

func TestSelfPacedMisuse(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 2, 0.3)
	plain := filepath.Join(w.dir, "plain")
	if code, _, stderr := call(context.Background(), w.args(plain, "--epochs", "1", "--loss", "contrastive", "--filter",
		"none")...); code != 0 {
		t.Fatal(stderr)
	}
	for want, args := range map[string][]string{
		"no loss of the run weighs its samples":        w.args(plain, "--set", "selfpaced.every=1 epoch"),
		"--scorer: selfpaced is about runs that weigh": {"audit", plain, "--scorer", "selfpaced"},
	} {
		if code, _, stderr := call(context.Background(), args...); code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("exit %d, expected 2 and …%s…\n%s", code, want, stderr)
		}
	}
}

// A round reads as a person expects.
func TestDescribeRound(t *testing.T) {
	got := progress.DescribeRound(train.Weighing{Epoch: 3, Step: 12, Round: selfpaced.Round{Number: 2, Lambda: 3,
		Mean: 0.8125, Deviation: 0.25, Before: -1.5, Objective: -2, Excluded: 4, Full: 7}}, 20)
	if want := "epoch 3 (step 12): weights, round 2: λ 3, mean weight of a class 0.812 ± 0.250; of 20 samples 4 at " +
		"0, 7 at 1; objective -1.5 → -2"; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// A backbone that is trained too: each round looks at the features that the network gives then, and the audit at
// those of the last network.
func TestSelfPacedFinetune(t *testing.T) {
	atelier(t)
	settings := []string{"--loss", "weighted_multi_similarity", "--filter", "none", "--set", "selfpaced.every=5 steps",
		"--set", "finetune.batch_norm=train",
		"--set", "finetune.chunk=9", "--set", "selfpaced.lambda_max=3", "--set", "selfpaced.visits=100",
		"--backbone-lr", "0.01"}
	_, stderr := mustCall(t, tuneArgs("whole", "all", settings...)...)
	if n := strings.Count(stderr, "weights, round"); n != 3 { // after 5, 10 and 12 steps
		t.Errorf("%d rounds\n%s", n, stderr)
	}
	for i := 0; ; i++ {
		ctx, cancel := context.WithCancel(context.Background())
		watch := &cancelAfter{n: 2, cancel: cancel}
		code := execute(ctx, append([]string{"winnow"}, tuneArgs("cut", "all", append(settings, "--resume")...)...),
			new(bytes.Buffer), watch)
		cancel()
		if code == 0 {
			break
		}
		if code != 130 || i > 20 {
			t.Fatalf("exit %d\n%s", code, watch)
		}
	}
	for _, name := range []string{folder.LastHeadFile, folder.LastBackboneFile, folder.WeightsFile, train.MetricsFile,
		train.CheckpointFile} {
		if readFile(t, "whole", name) != readFile(t, "cut", name) {
			t.Errorf("%s differs between the whole and the resumed run", name)
		}
	}
	still, _ := mustCall(t, tuneArgs("still", "all", append(settings, "--backbone-lr", "0", "--json")...)...)
	if readFile(t, "whole", folder.WeightsFile) == readFile(t, "still", folder.WeightsFile) {
		t.Errorf("the weights do not see the backbone's training\n%s", still)
	}
	var a inspect.Report
	stdout, _ := mustCall(t, "audit", "whole", "--json")
	if err := json.Unmarshal([]byte(stdout), &a); err != nil || a.Scorer != "selfpaced" ||
		a.Backbone != filepath.Join("whole", folder.LastBackboneFile) || a.Detection == nil {
		t.Errorf("%v: %s, %s", err, a.Scorer, a.Backbone)
	}
}
