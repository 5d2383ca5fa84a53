package main

import (
	"context"
	"strings"
	"testing"
)

// TestManifestIsKept checks that no command overwrites the manifest that it reads.
func TestManifestIsKept(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 1, 0.3)
	manifest, _ := w.withTruth(t)
	before := readFile(t, manifest)
	for _, args := range [][]string{
		{"data", "corrupt", manifest, "--noise-rate", "0.1", "--out", manifest},
		{"data", "topline", manifest, "--noise-rate", "0.1", "--out", manifest},
		{"map", "--manifest", manifest, "--features", w.store, "--split", "train", "--out", manifest},
		{"audit", "--manifest", manifest, "--features", w.store, "--clean", manifest, "--drop"},
	} {
		code, _, stderr := call(context.Background(), args...)
		if code == 0 || !strings.Contains(stderr, "is an input of this command, expected another file") {
			t.Errorf("%v: %d: %s", args, code, stderr)
		}
		if readFile(t, manifest) != before {
			t.Fatalf("%v changed the manifest", args)
		}
	}
}
