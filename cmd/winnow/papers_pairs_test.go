package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets/location"
	"winnow/papers/theory"
	"winnow/run/folder"
)

// TestPairs runs winnow papers pairs on frozen features, and on a run with its losses, batches and head. On the run,
// true positives must be farther from true negatives.
func TestPairs(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 1, 0)
	noisy, dir := filepath.Join(t.TempDir(), "noisy.csv"), filepath.Join(t.TempDir(), "out")
	mustCall(t, "data", "corrupt", w.manifest, "--noise-rate", "0.2", "--out", noisy)
	w.manifest = noisy
	code, text, errs := call(t.Context(), "papers", "pairs", "--manifest", w.manifest, "--features", w.store, "--out",
		dir)
	for _, want := range []string{"frozen features: pairs of", "true positives", "symmetric noise",
		"P_FP/(P_FP+P_FN)", "by |∂L/∂s| of scl_rhe"} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("exit code %d: %s%s, expected %q in it", code, errs, text, want)
		}
	}
	for _, name := range []string{"cosines-as-given.svg", "cosines-symmetric-noise.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	run := filepath.Join(t.TempDir(), "run")
	mustCall(t, w.args(run, "--seed", "5", "--loss", "supcon", "--filter", "none")...)
	compare := func(o theory.PairOptions) theory.PairResult {
		r, err := theory.ComparePairs(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	trained := compare(theory.PairOptions{Run: run, Data: folder.Options{Last: true}})
	frozen := compare(theory.PairOptions{Data: folder.Options{Manifest: location.At(w.manifest), Features: w.store}})
	signals := trained.Labellings[0].Signals
	if len(signals.Losses) != 1 || signals.Losses[0].Name != "supcon" || signals.Rows != 32*signals.Batches {
		t.Errorf("found %+v, expected the run's 8x4 and supcon", signals)
	}
	if a, b := trained.Labellings[0].Cosines.Kinds, frozen.Labellings[0].Cosines.Kinds; a[0].Pairs != b[0].Pairs ||
		a[0].Mean-a[2].Mean <= b[0].Mean-b[2].Mean {
		t.Errorf("found %+v, expected a larger margin of true positives than for frozen features: %+v", a, b)
	}
}
