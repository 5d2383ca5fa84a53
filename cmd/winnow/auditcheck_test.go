package main

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
)

// A command that would overwrite its input or cannot succeed is refused before anything is computed or written.
func TestAuditRefuses(t *testing.T) {
	dir := t.TempDir()
	manifest := filepath.Join(dir, "m.csv")
	const text = "path,label\na.png,a\nb.png,b\n"
	write(t, manifest, text)
	store := filepath.Join(dir, "store")
	base := []string{"audit", "--labels", manifest, "--features", store, "--overwrite"}
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"--clean", manifest, "--drop"}, "--clean " + manifest + ": is read here, expected another " +
			"file to write"},
		{[]string{"--clean", filepath.Join(dir, "..", filepath.Base(dir), "m.csv"), "--drop"}, "is read here"},
		{[]string{"--out", manifest}, "--out " + manifest + ": is read here"},
		{[]string{"--out", "x.csv", "--clean", "x.csv", "--drop"}, "--out and --clean both write x.csv"},
		{[]string{"--out", filepath.Join(dir, "none", "x.csv")}, "there is no folder " + filepath.Join(dir, "none")},
	} {
		code, _, stderr := call(context.Background(), append(append([]string{}, base...), test.args...)...)
		if code == 0 || !strings.Contains(stderr, test.want) {
			t.Errorf("%v: %d: %q, expected %q", test.args, code, stderr, test.want)
		}
		if got := readFile(t, manifest); got != text {
			t.Fatalf("%v: the manifest is now %q", test.args, got)
		}
	}
}

// No command writes over the manifest that it reads.
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
		if code == 0 || !strings.Contains(stderr, "is read here, expected another file to write") {
			t.Errorf("%v: %d: %s", args, code, stderr)
		}
		if readFile(t, manifest) != before {
			t.Fatalf("%v wrote over the manifest", args)
		}
	}
}
