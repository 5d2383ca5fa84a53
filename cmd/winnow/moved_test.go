package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/run/folder"
)

// TestMovedRuns checks that runs work without flags from any working folder, and after they were moved with their data:
// a head on stored features, a fine-tuned network whose original backbone is missing, and an index made with it.
func TestMovedRuns(t *testing.T) {
	atelier(t)
	t.Setenv("WINNOW_MODELS", filepath.Join(t.TempDir(), "models.json"))
	mustCall(t, "models", "new", "digits", "--arch", "lenet", "--out", "net.onnx")
	mustCall(t, "models", "new", "first", "--arch", "lenet", "--seed", "2", "--out", "first.onnx")
	mustCall(t, "extract", "--manifest", "noisy.csv", "--root", "drawn", "--model", "net.onnx", "--out", "store")
	lines := strings.SplitAfter(readFile(t, "noisy.csv"), "\n")
	write(t, "fewer.csv", strings.Join(append(lines[:5:5], lines[7:]...), ""))
	short := []string{"--root", "drawn", "--dim", "8", "--batch", "6x3", "--steps", "3", "--screen", "none"}
	mustCall(t, append([]string{"train", "--manifest", "noisy.csv", "--features", "store", "--out", "runs/head"},
		short...)...)
	mustCall(t, append([]string{"train", "--manifest", "fewer.csv", "--features", "store", "--out", "runs/fewer"},
		short...)...)
	mustCall(t, append([]string{"train", "--manifest", "noisy.csv", "--model", "first.onnx", "--finetune", "all",
		"--out", "runs/tuned"}, short...)...)
	mustCall(t, "index", "drawn/test", "--model", "runs/tuned", "--out", "index")
	home, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	evaluated := func(at, name string) string {
		run := filepath.Join(at, "runs", name)
		text, _ := mustCall(t, "eval", run, "--json")
		return strings.ReplaceAll(text, run, name)
	}
	was := map[string]string{}
	for _, name := range []string{"head", "fewer", "tuned"} {
		was[name] = evaluated("", name)
	}
	if err := os.Remove("first.onnx"); err != nil {
		t.Fatal(err)
	}
	uses := func(at string) {
		t.Helper()
		for name, before := range was {
			if now := evaluated(at, name); now != before {
				t.Errorf("%s: %s: found %s, expected %s", at, name, now, before)
			}
			mustCall(t, "embed", filepath.Join(at, "runs", name), filepath.Join(at, "drawn", "test"), "--out",
				filepath.Join(t.TempDir(), "e.npy"))
		}
		mustCall(t, "export", filepath.Join(at, "runs/head"), "--onnx", filepath.Join(t.TempDir(), "e.onnx"))
		for _, name := range []string{"head", "fewer", "tuned"} {
			mustCall(t, "report", filepath.Join(at, "runs", name), "--out", filepath.Join(t.TempDir(), "r.html"))
		}
		queries, err := filepath.Glob(filepath.Join(at, "drawn/test/*/000.png"))
		if err != nil || len(queries) == 0 {
			t.Fatal(queries, err)
		}
		mustCall(t, "search", "--index", filepath.Join(at, "index"), queries[0])
		mustCall(t, "train", "--out", filepath.Join(at, "runs/head"), "--resume")
	}
	t.Chdir(t.TempDir())
	uses(home)
	if err := os.CopyFS("moved", os.DirFS(home)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"noisy.csv", "runs", "store", "drawn", "net.onnx"} {
		if err := os.RemoveAll(filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	uses("moved")
	if _, err := os.Stat(filepath.Join("moved/runs/tuned", folder.BestBackboneFile)); err != nil {
		t.Error(err)
	}
}
