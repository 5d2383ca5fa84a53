package main

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets"
)

// TestCorruptModels runs every noise model and checks the numbers that are specific to it.
func TestCorruptModels(t *testing.T) {
	w := newWorld(t, 3, 0) // 20 training classes of 16 images
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
