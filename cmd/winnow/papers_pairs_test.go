package main

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/papers/pairs"
	"winnow/run/folder"
)

func pairsJSON(t *testing.T, args ...string) pairs.Result {
	t.Helper()
	return mustJSON[pairs.Result](t, append([]string{"papers", "pairs", "--json"}, args...)...)
}

// corruptWorld returns a world whose manifest has the true labels.
func corruptWorld(t *testing.T, rate string) world {
	t.Helper()
	w := newWorld(t, 1, 0)
	noisy := filepath.Join(t.TempDir(), "noisy.csv")
	mustCall(t, "data", "corrupt", w.manifest, "--noise-rate", rate, "--out", noisy)
	w.manifest = noisy
	return w
}

// TestPairsOfFeatures compares the given labels with symmetric noise of the same rate, and checks the files and
// --pairs.
func TestPairsOfFeatures(t *testing.T) {
	needRuntime(t)
	w := corruptWorld(t, "0.2")
	of := []string{"--manifest", w.manifest, "--features", w.store, "--batch", "64"}
	dir := filepath.Join(t.TempDir(), "out")
	r := pairsJSON(t, append(of, "--out", dir)...)
	if len(r.Labellings) != 2 || r.Compared != r.Images || r.Classes != 20 || r.Seed != 1 {
		t.Fatalf("found %+v", r)
	}
	given, noise := r.Labellings[0], r.Labellings[1]
	if math.Abs(given.Wrong-noise.Wrong) > 1/float64(r.Images) || given.Wrong < 0.1 || given.Wrong > 0.3 {
		t.Errorf("%v and %v of the labels wrong, expected the same", given.Wrong, noise.Wrong)
	}
	for _, l := range r.Labellings {
		all := 0
		for _, d := range l.Cosines.Kinds {
			all += d.Pairs
		}
		if all != r.Images*(r.Images-1)/2 {
			t.Errorf("%s: %d pairs of %d images", l.Name, all, r.Images)
		}
		if c := l.Cosines.Kinds; c[pairs.TruePositive].Median <= c[pairs.FalsePositive].Median ||
			l.Cosines.Nearer >= 0.5 {
			t.Errorf("%s: false positives are as near as true ones: %+v", l.Name, c)
		}
		s := l.Signals
		if len(s.Losses) != 2 || s.PFP < 5*s.PFN || math.Abs(s.PFP-l.Formula.PFP) > 0.1 ||
			math.Abs(s.OfPairs-0.5) > 0.1 || s.Rows != 64*s.Batches {
			t.Errorf("%s: %+v, on paper %+v", l.Name, s, l.Formula)
		}
	}
	if again := pairsJSON(t, of...); again.Labellings[1].Cosines.Overlap != noise.Cosines.Overlap {
		t.Error("the same seed measured something else")
	}
	for _, name := range []string{"cosines-as-given.svg", "cosines-symmetric-noise.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	few := pairsJSON(t, append(of, "--pairs", "1000", "--synthetic", "0.4", "--batches", "3", "--loss", "ntxent",
		"--seed", "2")...)
	if few.Compared != 45 || few.Seed != 2 || few.Labellings[1].Signals.Batches != 3 ||
		math.Abs(few.Labellings[1].Wrong-0.4) > 0.01 || few.Labellings[0].Signals.Losses[0].Name != "ntxent" {
		t.Errorf("found %+v, expected the 990 pairs of 45 images", few)
	}
	code, text, errs := call(t.Context(), append([]string{"papers", "pairs", "--pairs", "1000"}, of...)...)
	for _, want := range []string{"frozen features: pairs of 45 of", "true positives", "symmetric noise",
		"P_FP/(P_FP+P_FN)", "by |∂L/∂s| of scl_rhe"} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("exit code %d: %s%s, expected %q in it", code, errs, text, want)
		}
	}
	if !strings.Contains(errs, "drawn at random") {
		t.Errorf("%q does not say that pairs were left out", errs)
	}
}

// TestPairsOfRun checks that a run's seed, batches, losses and head are used, and that training moved the pairs.
func TestPairsOfRun(t *testing.T) {
	needRuntime(t)
	w := corruptWorld(t, "0.2")
	dir := filepath.Join(t.TempDir(), "run")
	mustCall(t, w.args(dir, "--seed", "5", "--loss", "supcon", "--filter", "none")...)
	r := pairsJSON(t, dir, "--last")
	signals := r.Labellings[0].Signals
	if r.Seed != 5 || r.Head != folder.LastHeadFile || r.Step == nil || len(signals.Losses) != 1 ||
		signals.Losses[0].Name != "supcon" || signals.Rows != 32*signals.Batches {
		t.Errorf("found %+v, expected the run's 8x4, seed 5 and supcon", r)
	}
	frozen := pairsJSON(t, "--manifest", w.manifest, "--features", w.store)
	if a, b := r.Labellings[0].Cosines.Kinds, frozen.Labellings[0].Cosines.Kinds; a[0].Pairs != b[0].Pairs ||
		a[0].Median-a[2].Median <= b[0].Median-b[2].Median {
		t.Errorf("found %+v, expected true positives farther from true negatives than of frozen features: %+v", a, b)
	}
}
