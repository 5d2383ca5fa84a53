package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"winnow/audit"
	"winnow/run/inspect"
)

func TestAuditCrossfit(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 3, 0.3)
	manifest, _ := w.withTruth(t)
	out := filepath.Join(w.dir, "clean.csv")
	audit := func(more ...string) (inspect.Report, string) {
		t.Helper()
		args := []string{"audit", "--manifest", manifest, "--features", w.store, "--scorer", audit.Crossfit, "--json"}
		code, stdout, stderr := call(context.Background(), append(args, more...)...)
		var a inspect.Report
		if err := json.Unmarshal([]byte(stdout), &a); code != 0 || err != nil {
			t.Fatalf("%d: %v\n%s", code, err, stderr)
		}
		return a, stdout
	}
	a, first := audit("--clean", out, "--drop", "--precision", "0.8")
	if a.Detection.AUROC < 0.85 {
		t.Errorf("AUROC %v", a.Detection.AUROC)
	}
	if gone := len(table(t, manifest)) - len(table(t, out)); gone < 20 || gone > 150 {
		t.Errorf("%d rows dropped at an expected precision of 0.8", gone)
	}
	if _, again := audit(); again != first {
		t.Error("the same seed gives another result")
	}
	if _, other := audit("--seed", "2"); other == first {
		t.Error("another seed divides the images alike")
	}
}

func TestAuditCrossfitStops(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 3, 0.3)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	out := filepath.Join(w.dir, "suspects.csv")
	code, _, stderr := call(ctx, "audit", "--manifest", w.manifest, "--features", w.store, "--scorer", audit.Crossfit,
		"--out", out)
	if code != 130 || fileThere(out) {
		t.Errorf("%d, %q written: %v\n%s", code, out, fileThere(out), stderr)
	}
}

func fileThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
