package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/testing/orttest"
)

// winnow cluster slurm refuses a misspelt command before any machine runs it.
// winnow cluster status reports parts that were made by hand.
func TestCluster(t *testing.T) {
	orttest.Runtime(t)
	t.Chdir(t.TempDir())
	mustCall(t, "data", "glyphs", "--out", "drawn", "--classes", "12", "--images", "10")
	extract := []string{"extract", "--manifest", "drawn/manifest.csv", "--root", "drawn", "--model", "glyphnet",
		"--out", "features"}
	dry, _ := mustCall(t, append(extract, "--dry-run")...)
	if !strings.Contains(dry, "120 images × 1 views × 192 values: 90.0 KiB\n") || !strings.Contains(dry,
		"120 of them tried, 0 unreadable: ") {
		t.Errorf("a dry run: %s", dry)
	}
	if _, err := os.Stat("features"); err == nil {
		t.Error("a dry run left a store")
	}
	script, _ := mustCall(t, append([]string{"cluster", "slurm", "--tasks", "2", "--mem", "1GiB", "--time",
		"00:05:00", "--"}, extract...)...)
	holds(t, script, " extract --shard auto/2 --manifest drawn/manifest.csv ",
		"#SBATCH --time=00:05:00\n", "#SBATCH --mem=1024M\n")
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "--sard is not a flag of this command",
			append([]string{"cluster", "slurm", "--tasks", "2", "--", "extract", "--sard", "1/2"}, extract[1:]...)},
		{1, "features.parts", []string{"cluster", "status", "features"}},
	} {
		fails(t, c.code, c.want, c.args...)
	}
	mustCall(t, append(extract, "--shard", "1/2")...)
	code, out, errs := call(t.Context(), "cluster", "status", "features")
	if code != 1 || !strings.Contains(out, "features: 1 of 2 parts of winnow extract are there\n  2  missing\n") ||
		!strings.Contains(errs, "1 parts are missing") {
		t.Errorf("exit code %d: %s%s", code, out, errs)
	}
	mustCall(t, append(extract, "--shard", "2/2")...)
	if out, _ := mustCall(t, "cluster", "status", "features"); !strings.Contains(out,
		"2 of 2 parts of winnow extract are there\nnext: winnow join features\n") {
		t.Error(out)
	}
	manifests, _ := mustCall(t, append([]string{"cluster", "kubernetes", "--tasks", "2", "--mem", "1GiB", "--image",
		"winnow", "--claim", "birds", "--"}, extract...)...)
	if !strings.Contains(manifests, "completions: 2\n") || strings.Contains(manifests, filepath.Base(os.Args[0])) {
		t.Error(manifests)
	}
}
