package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/features"
)

// TestCorruptModels runs every model of noise and checks what is special in its summary.
func TestCorruptModels(t *testing.T) {
	w := newWorld(t, 3, 0) // 20 training classes of 16
	out := filepath.Join(w.dir, "noisy.csv")
	type report = datasets.NoiseReport
	exact := func(r report) bool { return r.Corrupted == 80 && r.ClassDeviation == 0 }
	for line, special := range map[string]func(r report) bool{
		"--noise symmetric --count exact":     func(r report) bool { return r.Corrupted == 80 },
		"--noise symmetric --count per-class": exact,
		"--own": func(r report) bool {
			return r.ClassDeviation > 0.03 && r.ClassDeviation < 0.25
		},
		"--noise pair":  func(r report) bool { return r.Classes == 20 },
		"--noise bspml": func(r report) bool { return r.Corrupted == 80 && r.ClassMin == 0.25 },
		"--noise small-cluster --features STORE": func(r report) bool {
			return r.Corrupted == 80 && r.Labels == 15 && r.ClassMax == 1
		},
		"--noise small-cluster --features STORE --one-shot": func(r report) bool {
			return r.Corrupted == 80 && r.Labels == 15
		},
		"--noise human-like --features STORE":                       exact,
		"--noise human-like --features STORE --similar 1 --nearest": exact,
	} {
		args := strings.Fields("data corrupt --noise-rate 0.25 --json --out OUT MANIFEST " + line)
		for i, a := range args {
			args[i] = strings.NewReplacer("OUT", out, "MANIFEST", w.manifest, "STORE", w.store).Replace(a)
		}
		code, stdout, errs := call(t.Context(), args...)
		var r report
		if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil {
			t.Errorf("%s: exit code %d: %s%v", line, code, errs, err)
			continue
		}
		if r.Samples != 320 || math.Abs(r.Rate-0.25) > 0.1 || !special(r) {
			t.Errorf("%s: found %s", line, stdout)
		}
		if text := readFile(t, out); !strings.HasPrefix(text, "path,label,split,true_label\n") {
			t.Errorf("%s: no true labels: %.50q", line, text)
		}
	}
}

func TestCorruptRefuses(t *testing.T) {
	w := newWorld(t, 3, 0)
	bad := newWorld(t, 3, 0)
	d, err := datasets.ReadFile(bad.manifest, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	bad.makeStore(t, d.Paths(), nil, []features.Bad{{Row: 5, Path: d.Samples[5].Path, Reason: "torn"}})
	zero := newWorld(t, 3, 0)
	zero.makeStore(t, d.Paths(), nil, nil)
	out := filepath.Join(w.dir, "noisy.csv")
	for want, c := range map[string]struct {
		code int
		args string
	}{
		`--noise: "loud" is unknown, expected symmetric, pair, bspml, cifar10, cifar100, small-cluster, human-like`: {2,
			"--noise loud"},
		"noise rate is 1.5": {2, "--noise-rate 1.5"},
		"noise rate is -1": {2,
			"--noise human-like --features STORE --noise-rate=-1"},
		"--own does not go with --noise pair": {2, "--noise pair --own"},
		"--features does not go with --noise bspml": {2,
			"--noise bspml --features STORE"},
		"--nearest does not go with --noise sym": {2, "--nearest"},
		"--one-shot does not go with --noise human-like, only with small-cluster": {2,
			"--noise human-like --features STORE --one-shot"},
		"--noise small-cluster needs --features": {2, "--noise small-cluster"},
		"features: row 0: squared norm is 0": {1,
			"--noise small-cluster --features ZERO"},
		"--noise human-like needs --features": {2, "--noise human-like"},
		`--count: "few" is unknown`:           {2, "--count few"},
		"--similar: found 0, expected 1 or more": {2,
			"--noise human-like --features STORE --similar 0"},
		"none of the 20 classes": {1, "--noise cifar10"},
		"features BAD: 1 of the train images could": {1,
			"--noise human-like --features BAD"},
		"features: DIR/nowhere: no feature store": {1,
			"--noise human-like --features DIR/nowhere"},
	} {
		args := append([]string{"data", "corrupt", w.manifest, "--out", out, "--noise-rate", "0.2"},
			strings.Fields(strings.NewReplacer("STORE", w.store, "BAD", bad.store, "ZERO", zero.store, "DIR",
				w.dir).Replace(c.args))...)
		code, _, errs := call(t.Context(), args...)
		want = strings.NewReplacer("BAD", bad.store, "DIR", w.dir).Replace(want)
		if code != c.code || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit code %d: %s, expected %d and one line with %q", c.args, code, errs, c.code, want)
		}
	}
}
