package main

import "testing"

// TestCluster checks that winnow cluster prints a script for a command, and refuses a misspelt command line.
func TestCluster(t *testing.T) {
	t.Chdir(t.TempDir())
	extract := []string{"extract", "--manifest", "a.csv", "--model", "glyphnet", "--out", "features"}
	script, _ := mustCall(t, append([]string{"cluster", "slurm", "--tasks", "2", "--sbatch=--mem=1G", "--"},
		extract...)...)
	holds(t, script, " extract --shard auto/2 --manifest a.csv ", " --mem=1G ", " join features\n")
	manifests, _ := mustCall(t, append([]string{"cluster", "kubernetes", "--tasks", "2", "--image", "winnow", "--claim",
		"birds", "--"}, extract...)...)
	holds(t, manifests, "completions: 2\n")
	fails(t, 2, "did you mean --shard?",
		append([]string{"cluster", "slurm", "--tasks", "2", "--", "extract", "--sard", "1/2"}, extract[1:]...)...)
	fails(t, 1, "features.parts", "cluster", "status", "features")
}
