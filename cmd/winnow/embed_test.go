package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/run/embedding"
)

type jsonLine struct {
	embedding.Row
	Error string `json:"error"`
}

func jsonLines(t *testing.T, text string) (list []jsonLine) {
	t.Helper()
	for line := range strings.Lines(text) {
		var l jsonLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err, line)
		}
		list = append(list, l)
	}
	return list
}

func TestEmbedIsExport(t *testing.T) {
	s := newStudio(t)
	at := func(name string) string { return filepath.Join(s.dir, name) }
	mustCall(t, "export", s.run, "--npy", at("want.npy"), "--onnx", at("run.onnx"))
	want, ids := readNPY(t, at("want.npy")), table(t, at("want.ids.csv"))
	for name, c := range map[string]struct {
		limit float64
		by    []string
	}{"run": {1e-6, []string{s.run}}, "onnx": {1e-5, []string{"--model", at("run.onnx")}},
		"named run": {1e-6, []string{"--model", s.run}}} {
		out := at("got.npy")
		text, stderr := mustCall(t, append(append([]string{"embed"}, c.by...), s.manifest, "--root", s.images, "--out",
			out, "--batch", "7")...)
		got := readNPY(t, out)
		if d := largestDifference(want, got); !(d <= c.limit) {
			t.Errorf("%s: vectors differ by %v", name, d)
		}
		if diff := cmp.Diff(ids, table(t, at("got.ids.csv"))); diff != "" {
			t.Errorf("%s: ids (-export +embed):\n%s", name, diff)
		}
		if !strings.Contains(text, "59 images × 6 values") || !strings.Contains(stderr,
			"1 unreadable images are left out:\n  39.png: not an image") {
			t.Errorf("%s:\n%s%s", name, text, stderr)
		}
	}
	text, _ := mustCall(t, "embed", "--model", s.run, s.manifest, "--root", s.images, "--json")
	rows := 0
	for _, l := range jsonLines(t, text) {
		if rows++; (l.Error == "") != (l.Path != "39.png") {
			t.Errorf("%+v", l)
		}
	}
	if rows != 60 {
		t.Errorf("%d lines", rows)
	}
}

// TestEmbedBackbone checks that a backbone gives the features that extract stores, and unit vectors with --l2.
func TestEmbedBackbone(t *testing.T) {
	s := newStudio(t)
	mustCall(t, "models", "add", "--name", "tiny", "--preset", "unit", "--resize", "18", "--crop", "16", s.model)
	at := func(name string) string { return filepath.Join(s.dir, name) }
	mustCall(t, "embed", "--model", "tiny", s.manifest, "--root", s.images, "--out", at("raw.npy"))
	mustCall(t, "embed", "--model", "tiny", s.manifest, "--root", s.images, "--out", at("unit.npy"), "--l2")
	raw, unit, stored := readNPY(t, at("raw.npy")), readNPY(t, at("unit.npy")), readNPY(t, filepath.Join(s.store,
		"features.npy"))
	copy(stored.Data[20*8:], stored.Data[21*8:]) // leave out the unreadable image
	stored.Rows--
	if d := largestDifference(stored, raw); !(d <= 1e-5) {
		t.Errorf("features differ by %v", d)
	}
	for i := range unit.Rows {
		var length, dot, raws float64
		for j := range unit.Cols {
			u, r := float64(unit.Data[i*8+j]), float64(raw.Data[i*8+j])
			length, dot, raws = length+u*u, dot+u*r, raws+r*r
		}
		if length < 1-1e-6 || length > 1+1e-6 || dot*dot < raws*(1-1e-6) {
			t.Fatalf("row %d has the squared length %v and the product %v of %v", i, length, dot*dot, raws)
		}
	}
}
