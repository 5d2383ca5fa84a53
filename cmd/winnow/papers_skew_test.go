package main

import (
	"path/filepath"
	"strings"
	"testing"

	"winnow/papers/pairs"
	"winnow/run/folder"
)

func skewJSON(t *testing.T, args ...string) pairs.Skew {
	t.Helper()
	return mustJSON[pairs.Skew](t, append([]string{"papers", "skew", "--json"}, args...)...)
}

// TestTheorySkewOfFeatures measures frozen features, with the paper's settings and with every flag.
func TestTheorySkewOfFeatures(t *testing.T) {
	w := newWorld(t, 1, 0.2)
	of := []string{"--manifest", w.manifest, "--features", w.store}
	r := skewJSON(t, of...)
	if r.Classes != 20 || r.Batches < 5 || r.Rows != 60*r.Batches || r.Margin != 0.2 || r.Beta != 1.4 || r.Seed != 1 ||
		r.Run != "" {
		t.Errorf("found %+v, expected an epoch of batches of 12x5 of 20 classes", r)
	}
	// Most dimensions of these features are noise, so positives are as far as negatives. The nearest negative beyond a
	// positive is nearly arbitrary, and the window d_an < d_ap + α cuts off the far ones.
	if r.Random.Eta == nil || *r.Random.Eta <= *r.Fixed.Eta || r.Random.Limit.Bound >= r.Fixed.Limit.Bound ||
		len(r.NegativeBins) != 20 {
		t.Errorf("found %+v and %+v, expected less skew of fixed mining", r.Random, r.Fixed)
	}
	if again := skewJSON(t, of...); *again.Random.Eta != *r.Random.Eta || again.Random.Pairs != r.Random.Pairs {
		t.Error("the same seed measured something else")
	}
	other := skewJSON(t, append(of, "--seed", "2", "--batches", "30", "--batch", "8x4", "--margin", "0.1", "--beta",
		"1")...)
	if other.Batches != 30 || other.Rows != 30*32 || other.Margin != 0.1 || other.Beta != 1 || other.Seed != 2 {
		t.Errorf("found %+v", other)
	}
	code, text, errs := call(t.Context(), append([]string{"papers", "skew"}, of...)...)
	for _, want := range []string{"batches of 60 training images, 20 classes", "random semi-hard", "fixed semi-hard",
		"= η₋", "noise below, K = 20", "more batches"} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("exit code %d: %s%s, expected %q in it", code, errs, text, want)
		}
	}
}

// TestTheorySkewOfRun checks that a run's batches, seed, margins and head are used, and that training moved the pairs.
func TestTheorySkewOfRun(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 1, 0.2)
	dir := filepath.Join(t.TempDir(), "run")
	code, _, errs := call(t.Context(), w.args(dir, "--seed", "5", "--loss", "triplet", "--set",
		"losses.0.settings.distance=l2",
		"--set", "losses.0.settings.margin=0.3", "--set", "losses.0.settings.select=random_semihard", "--filter",
		"none")...)
	if code != 0 {
		t.Fatal(errs)
	}
	r := skewJSON(t, dir)
	if r.Seed != 5 || r.Margin != 0.3 || r.Beta != 1.4 || r.Rows != 32*r.Batches || r.Batches < 10 ||
		r.Head != folder.BestHeadFile {
		t.Errorf("found %+v, expected the run's 8x4, seed 5 and margin 0.3", r)
	}
	last, frozen := skewJSON(t, dir, "--last"), skewJSON(t, "--manifest", w.manifest, "--features", w.store, "--batch",
		"8x4", "--margin", "0.3", "--seed", "5")
	if last.Step == nil || *last.Step != 8*last.Batches || r.Step == nil || *r.Step > *last.Step {
		t.Errorf("found the states after steps %v and %v, expected the latter to be the end of 8 epochs", r.Step,
			last.Step)
	}
	if last.Head != folder.LastHeadFile || *last.Random.Eta == *frozen.Random.Eta ||
		last.Negatives != frozen.Negatives {
		t.Errorf("found %+v of the last state and %+v of frozen features, expected the same batches and other pairs",
			last.Random, frozen.Random)
	}
	code, text, _ := call(t.Context(), "papers", "skew", dir)
	if want := dir + ", head.winnow (after step "; code != 0 || !strings.Contains(text, want) {
		t.Errorf("found %s, expected %q", text, want)
	}
}
