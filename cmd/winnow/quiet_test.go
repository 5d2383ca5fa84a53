package main

import "testing"

// TestQuiet checks that with --quiet long commands print nothing on standard error.
func TestQuiet(t *testing.T) {
	atelier(t)
	for _, args := range [][]string{
		{"data", "check", "noisy.csv", "--root", "drawn"},
		{"extract", "--manifest", "noisy.csv", "--root", "drawn", "--model", "glyphnet", "--out", "store"},
		{"train", "--manifest", "noisy.csv", "--root", "drawn", "--features", "store", "--dim", "8", "--batch", "6x3",
			"--steps", "6", "--screen", "none", "--out", "run"},
		{"eval", "run"},
		{"audit", "run", "--out", "suspects.csv"},
		{"audit", "--features", "store", "--manifest", "noisy.csv"},
		{"map", "run", "--out", "map.svg", "--iterations", "20"},
		{"report", "run", "--out", "report.html"},
		{"export", "run", "--npy", "e.npy", "--onnx", "e.onnx"},
		{"embed", "run", "drawn/test", "--out", "v.npy"},
		{"index", "drawn/test", "--model", "run", "--out", "index"},
		{"papers", "pairs", "run"},
	} {
		if _, stderr := mustCall(t, append([]string{"--quiet"}, args...)...); stderr != "" {
			t.Errorf("%v: found %q, expected nothing", args, stderr)
		}
	}
}
