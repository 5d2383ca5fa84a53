package main

import (
	"context"
	"strings"
	"testing"
)

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

// A store where a manifest is expected, and the reverse, is reported as what it is.
func TestAuditSwapped(t *testing.T) {
	needRuntime(t)
	w := newWorld(t, 1, 0)
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"audit", "--labels", w.store, "--features", w.manifest}, "--labels: " + w.store +
			" is a feature store, expected a manifest"},
		{[]string{"audit", w.store}, w.store + " is a feature store, expected a manifest"},
		{[]string{"audit", "nowhere"}, "nowhere: there is no such run folder, folder of images, .zip file or manifest"},
	} {
		if code, _, stderr := call(context.Background(), test.args...); code == 0 || !strings.Contains(stderr,
			test.want) {
			t.Errorf("%v: %d: %q, expected %q", test.args, code, stderr, test.want)
		}
	}
}
