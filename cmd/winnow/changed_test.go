package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/models"
)

// TestChangedNetwork changes a network's file after it was recorded and used for a store, an index and a run. Every
// command that needs the network must report both checksums; commands that need only stored vectors must work.
func TestChangedNetwork(t *testing.T) {
	s := newStudio(t)
	at := func(name string) string { return filepath.Join(s.dir, name) }
	index, photos := at("index"), []string{"--root", s.images, "--model", s.model}
	mustCall(t, append([]string{"index", s.manifest, "--out", index}, photos...)...)
	changed := bytes.Clone(tinyNetwork())
	before := models.Sum(changed)
	changed[len(changed)/2] ^= 1
	after, image := models.Sum(changed), filepath.Join(s.images, "07.png")
	needs := [][]string{
		{"search", "--index", index, image},
		{"search", "--index", s.store, image},
		{"index", s.manifest, "--root", s.images, "--out", index, "--add"},
		{"index", s.manifest, "--root", s.images, "--out", at("other"), "--model", s.run},
		{"embed", s.run, s.manifest, "--root", s.images, "--out", at("e.npy")},
		{"export", s.run, "--onnx", at("e.onnx")},
		{"export", s.run, "--onnx", at("e.onnx"), "--model", s.model},
	}
	stored := [][]string{
		{"eval", s.run},
		{"export", s.run, "--npy", at("stored.npy")},
		{"search", "--index", index, "07.png"},
	}
	check := func(when string) {
		t.Helper()
		for _, args := range needs {
			if code, _, stderr := call(t.Context(), args...); code != 1 || !strings.Contains(stderr, before[:12]) ||
				!strings.Contains(stderr, after[:12]) || !strings.Contains(stderr, "tiny") {
				t.Errorf("%s: winnow %s: exit code %d, expected both sums: %s", when, strings.Join(args, " "), code, stderr)
			}
		}
		for _, args := range stored {
			mustCall(t, args...)
		}
	}
	mustCall(t, "models", "add", s.model, "--name", "tiny", "--preset", "unit", "--size", "16")
	write(t, s.model, string(changed))
	for _, model := range []string{"tiny", s.model} {
		needs = append(needs,
			[]string{"extract", "--manifest", s.manifest, "--root", s.images, "--out", at("made"), "--model", model},
			[]string{"audit", s.manifest, "--root", s.images, "--out", at("suspects.csv"), "--model", model},
			[]string{"index", s.manifest, "--root", s.images, "--out", at("made"), "--model", model},
			[]string{"train", "--manifest", s.manifest, "--root", s.images, "--out", at("made"), "--model", model,
				"--finetune", "all", "--batch", "4x4"})
	}
	check("recorded")
	for _, name := range []string{"made", "other", "e.onnx", "e.npy", "suspects.csv"} {
		if _, err := os.Lstat(at(name)); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	text, _ := mustCall(t, "models", "show", "tiny")
	holds(t, text, before, after, "not usable")
	mustCall(t, "models", "remove", "tiny")
}
