package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/papers/cost"
	"winnow/papers/watch"
	"winnow/train"
)

// traceFixture is a world of which 40 % of the training labels are wrong, with a manifest that knows it.
func traceFixture(t *testing.T) (manifest, store string) {
	t.Helper()
	needRuntime(t)
	w := newWorld(t, 3, 0.4)
	var list strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(readFile(t, w.manifest)), "\n") {
		if i == 0 {
			list.WriteString(line + ",true_label\n")
			continue
		}
		list.WriteString(line + ",class" + line[1:3] + "\n") // the path begins with the class
	}
	manifest = filepath.Join(w.dir, "known.csv")
	if err := os.WriteFile(manifest, []byte(list.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return manifest, w.store
}

// Two filters on labels of which 40 % are wrong: both keep more right ones than chance, and everything that the
// page and the numbers promise is there. A run of winnow train on the same manifest knows nothing of the truth.
func TestTrace(t *testing.T) {
	manifest, store := traceFixture(t)
	out := filepath.Join(t.TempDir(), "trace")
	old := filepath.Join(out, "scores-proxysim-7.svg") // of an earlier trace
	if err := os.MkdirAll(out, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, old, "")
	write(t, filepath.Join(out, watch.File), `{"files": ["scores-proxysim-7.svg"]}`)
	code, text, errs := call(t.Context(), "trace", "--manifest", manifest, "--features", store, "--epochs", "6", "--noise-rate", "0.4", "--dim", "24", "--out", out, "--set", "filter.avgsim=1 epoch", "--filters", "vmf,avgsim", "--at", "10,20,9999")
	if code != 0 || !strings.Contains(text, "right among kept") || !strings.Contains(errs, "9999 is behind") || !strings.Contains(errs, "written to "+out) {
		t.Fatalf("exit code %d: %s%s", code, text, errs)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("a drawing of another trace lies beside this one's")
	}
	var result watch.Result
	data, err := os.ReadFile(filepath.Join(out, watch.File))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &result); err != nil || len(result.Runs) != 2 || result.Config["filter.rate"] != "0.4" {
		t.Fatal(err, result.Config)
	}
	for i, name := range []string{"vmf", "avgsim"} {
		run := result.Runs[i]
		if run.Filter != name || len(run.Scores) != 2 || run.Scores[1].Step != 20 || len(run.Diagnoses) != 6 {
			t.Errorf("%s: %d counts of scores, %d diagnoses", run.Filter, len(run.Scores), len(run.Diagnoses))
		}
		if right := 1 - *run.Late.NoiseRate; *run.Late.Accuracy < right+0.1 {
			t.Errorf("%s: %.3f of the kept are right, %.3f of all", name, *run.Late.Accuracy, right)
		}
		if (run.Diagnoses[5].Kappa != nil) != (name == "vmf") {
			t.Errorf("%s: concentrations %v", name, run.Diagnoses[5].Kappa)
		}
	}
	for _, name := range []string{watch.Page, "accuracy.svg", "kappa.svg", "scores-vmf-10.svg", "scores-avgsim-20.svg"} {
		if data, err := os.ReadFile(filepath.Join(out, name)); err != nil || !strings.Contains(string(data), "<svg") {
			t.Errorf("%s: %v", name, err)
		}
	}
	again := filepath.Join(t.TempDir(), "trace")
	if code, _, errs := call(t.Context(), "trace", "--manifest", manifest, "--features", store, "--epochs", "6", "--noise-rate", "0.4", "--dim", "24", "--out", again, "--set", "filter.avgsim=1 epoch", "--filters", "vmf,avgsim", "--at", "10,20,9999", "--quiet"); code != 0 {
		t.Fatal(errs)
	}
	if second, err := os.ReadFile(filepath.Join(again, watch.File)); err != nil || string(second) != string(data) {
		t.Errorf("the same seed, another trace: %v", err)
	}

	run := filepath.Join(t.TempDir(), "run")
	if code, _, errs := call(t.Context(), "train", "--manifest", manifest, "--features", store, "--epochs", "2", "--dim", "24", "--out", run); code != 0 {
		t.Fatal(errs)
	}
	text = readFile(t, run, train.DiagnosticsFile)
	if n := strings.Count(text, "\n"); n != 2 || strings.Count(text, `"judged"`) != 2 {
		t.Errorf("%d diagnoses, expected one of each epoch: %s", n, text)
	}
	if strings.Contains(text, "true") || strings.Contains(text, "right") || strings.Contains(text, "wrong") {
		t.Errorf("a run's diagnostics speak of the truth: %s", text)
	}
	unknown := filepath.Join(filepath.Dir(manifest), "list.csv")
	if code, _, errs := call(t.Context(), "trace", "--manifest", unknown, "--features", store, "--out", out); code != 1 || !strings.Contains(errs, "has no true labels") {
		t.Errorf("without the truth: exit code %d: %s", code, errs)
	}
	for more, want := range map[string]string{
		"":                          "--manifest is missing",
		"--filters nix":             `scorer "nix" is unknown`,
		"--filters none":            "nothing to watch",
		"--manifest a --features b": "--out is missing",
		"--manifest a --features b --out c --at 0":                 "--at: found 0",
		"--manifest a --features b --out c --smooth 1":             "--smooth: found 1",
		"--manifest a --features b --out c --window 0":             "--window: found 0",
		"--manifest a --features b --out c --set method=tcl":       "its own",
		"--manifest a --features b --out c --set correct.visits=3": "trace: correct.visits: found 3, expected 0: what is compared with the truth are the labels as given",
	} {
		if code, out, errs := call(t.Context(), append([]string{"trace"}, strings.Fields(more)...)...); code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d: %s", more, code, errs)
		}
	}
}

func TestCost(t *testing.T) {
	needRuntime(t)
	code, text, errs := call(t.Context(), "cost", "--inputs", "16", "--dim", "8", "--classes", "10", "--images", "8", "--bank", "40", "--batch", "4x2", "--steps", "4", "--repeat", "2", "--json", "--quiet")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var result cost.Result
	if err := json.Unmarshal([]byte(text), &result); err != nil || len(result.Rows) != len(cost.Variants) {
		t.Fatal(err, text)
	}
	for _, row := range result.Rows {
		bare := row.Filter == "none"
		if row.StepMillis.N != 2 || !(row.StepMillis.Least > 0) || row.Kept != 1 || (row.Ratio == 1 && row.Added == 0) != bare || (len(row.Paper) == 0) != bare {
			t.Errorf("%+v", row)
		}
		if row.Loss == "mcl" && row.Bank != 40 || row.Loss == "soft_triple" && (row.Bank == 0) != (bare || row.Filter == "proxysim") {
			t.Errorf("%s with %s has a bank of %d", row.Loss, row.Filter, row.Bank)
		}
	}
	if got := result.Rows[1].Paper["SOP"]; got.Ratio < 1.05 || got.Ratio > 1.06 || got.Added < 19 || got.Added > 20 {
		t.Errorf("the paper's %+v", got)
	}
	for more, want := range map[string]string{"--losses nix": `found "nix"`, "--steps 0": "--steps: found 0", "--rate 1": "rate", "--batch 3": "batch", "extra": "extra"} {
		if code, out, errs := call(t.Context(), append([]string{"cost"}, strings.Fields(more)...)...); code != 2 || out != "" || !strings.Contains(errs, want) {
			t.Errorf("%s: exit code %d: %s", more, code, errs)
		}
	}
}
