package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"winnow/internal/atomicfile"
	"winnow/internal/vectorfile"
	"winnow/run/embedding"
)

// zipped puts the studio's images into a folder of a zip file.
func (s studio) zipped(t testing.TB) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	entries, err := os.ReadDir(s.images)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		w, err := z.Create(path.Join("photos", e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(readFile(t, s.images, e.Name()))); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(s.dir, "photos.zip")
	write(t, file, out.String())
	return file
}

// typed makes text the standard input.
func typed(t *testing.T, text string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "stdin")
	write(t, file, text)
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	old := os.Stdin
	os.Stdin = f
	t.Cleanup(func() { os.Stdin = old; f.Close() })
}

type jsonLine struct {
	vectorfile.Row
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
	// Every form holds the same rows.
	var rows []vectorfile.Row
	for i, id := range ids[1:] {
		rows = append(rows, vectorfile.Row{Path: id[1], Label: id[2], Split: id[3],
			Embedding: readNPY(t, at("got.npy")).Data[i*6 : i*6+6]})
	}
	for _, form := range []string{"csv", "parquet", "jsonl", "npz", "safetensors", "fvecs", "tsv"} {
		text, _ := mustCall(t, "embed", "--model", s.run, s.manifest, "--root", s.images, "--out", at("got."+form),
			"--batch", "7", "--json")
		var result embedding.Written
		if err := json.Unmarshal([]byte(text), &result); err != nil {
			t.Fatal(err)
		}
		if result.Rows != 59 || result.Dim != 6 || len(result.LeftOut) != 1 || result.LeftOut[0].Path != "39.png" ||
			!strings.HasPrefix(result.LeftOut[0].Reason, "not an image") {
			t.Errorf("%+v", result)
		}
	}
	mustCall(t, "embed", "--model", s.run, s.manifest, "--root", s.images, "--out", at("again.npy"), "--batch", "7")
	again := readNPY(t, at("again.npy"))
	for i := range rows {
		rows[i].Embedding = again.Data[i*6 : i*6+6]
	}
	got, err := parquet.ReadFile[vectorfile.Row](at("got.parquet"))
	if diff := cmp.Diff(rows, got); diff != "" || err != nil {
		t.Errorf("parquet: %v (-want +got):\n%s", err, diff)
	}
	for _, form := range []vectorfile.Form{"csv", "npz", "safetensors", "fvecs", "tsv"} {
		if err := vectorfile.WriteRows(at("want."+string(form)), form, 6, atomicfile.Write, rows); err != nil {
			t.Fatal(err)
		}
		wanted := form.Files(at("want." + string(form)))
		for i, file := range form.Files(at("got." + string(form))) {
			if readFile(t, file) != readFile(t, wanted[i]) {
				t.Errorf("%s differs from %s", file, wanted[i])
			}
		}
	}
	var lines []vectorfile.Row
	for _, l := range jsonLines(t, readFile(t, at("got.jsonl"))) {
		lines = append(lines, l.Row)
	}
	if diff := cmp.Diff(rows, lines); diff != "" {
		t.Errorf("jsonl (-want +got):\n%s", diff)
	}
}

func TestEmbedTakesImagesFromAnywhere(t *testing.T) {
	s := newStudio(t)
	archive := s.zipped(t)
	by := []string{"embed", "--model", s.run, "--json"}
	lines := func(args ...string) map[string][]float32 {
		text, _ := mustCall(t, append(by, args...)...)
		list := map[string][]float32{}
		for _, l := range jsonLines(t, text) {
			if (l.Error != "") != strings.HasSuffix(l.Path, "39.png") || (l.Error == "") != (len(l.Embedding) == 6) {
				t.Errorf("%+v", l)
			}
			list[filepath.Base(l.Path)] = l.Embedding
		}
		return list
	}
	want := lines(s.images)
	if len(want) != 60 {
		t.Fatalf("%d lines, expected 60", len(want))
	}
	if diff := cmp.Diff(want, lines(archive)); diff != "" {
		t.Errorf("zip (-folder +zip):\n%s", diff)
	}
	inZip := filepath.Join(s.dir, "inzip.csv")
	write(t, inZip, strings.ReplaceAll(strings.TrimSpace(readFile(t, s.manifest)), "\n", "\nphotos/"))
	if got := lines(inZip, "--root", archive); len(got) != 60 || got["00.png"] == nil {
		t.Errorf("manifest in a zip file: %d", len(got))
	}
	// The order is that of the arguments; standard input may name missing images.
	typed(t, "07.png\r\n\nnone.png\n39.png\n03.png\n")
	text, _ := mustCall(t, append(by, "-", "--root", s.images)...)
	var order []string
	for _, l := range jsonLines(t, text) {
		order = append(order, l.Path+" "+l.Error)
	}
	if len(order) != 4 || order[0] != "07.png " || order[1] != "none.png file does not exist" &&
		!strings.HasPrefix(order[1], "none.png no such file") || !strings.HasPrefix(order[2], "39.png not an image") ||
		order[3] != "03.png " {
		t.Errorf("%q", order)
	}
	file := filepath.Join(s.images, "08.png")
	text, _ = mustCall(t, append(by, file, filepath.Join(s.images, "02.png"), file)...)
	if l := jsonLines(t, text); len(l) != 2 || l[0].Path != filepath.ToSlash(file) {
		t.Errorf("%+v", l)
	}
}

// A backbone alone gives the features that extract stores, and with --l2 unit vectors.
func TestEmbedBackbone(t *testing.T) {
	s := newStudio(t)
	mustCall(t, "models", "add", "--name", "tiny", "--preset", "unit", "--resize", "18", "--crop", "16", s.model)
	at := func(name string) string { return filepath.Join(s.dir, name) }
	mustCall(t, "embed", "--model", "tiny", s.manifest, "--root", s.images, "--out", at("raw.npy"))
	mustCall(t, "embed", "--model", "tiny", s.manifest, "--root", s.images, "--out", at("unit.npy"), "--l2")
	raw, unit, stored := readNPY(t, at("raw.npy")), readNPY(t, at("unit.npy")), readNPY(t, filepath.Join(s.store,
		"features.npy"))
	copy(stored.Data[20*8:], stored.Data[21*8:]) // the unreadable one
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

func TestEmbedRefuses(t *testing.T) {
	s := newStudio(t)
	here := func(name string) string { return filepath.Join(s.dir, name) }
	if err := os.Mkdir(here("empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, here("no.png"), "no")
	write(t, here("broken.zip"), "no")
	write(t, here("clash.csv"), "path,label\n"+filepath.Join(s.images, "00.png")+",a\n")
	manifest := readFile(t, s.manifest)
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "found neither", nil},
		{2, "and no images", []string{s.run}},
		{2, "name a file to write with --out", []string{s.run, s.images}},
		{2, "does not end in .npy, .npz, .safetensors, .fvecs, .csv, .tsv, .parquet, .jsonl", []string{s.run, s.images,
			"--out", here("x.txt")}},
		{2, "--batch: found 0", []string{s.run, s.images, "--json", "--batch", "0"}},
		{2, "--workers: found -1", []string{s.run, s.images, "--json", "--workers", "-1"}},
		{2, "--backbone names the backbone of a run folder", []string{"--model", s.model, s.images, "--json",
			"--backbone", s.model}},
		{1, "no model has this name", []string{here("none"), s.images, "--json"}},
		{1, "holds no config.yaml", []string{here("empty"), s.images, "--json"}},
		{1, "no image in this folder", []string{s.run, here("empty"), "--json"}},
		{1, "no such file", []string{s.run, here("none.png"), "--json"}},
		{1, "broken.zip: zip: not a valid zip file", []string{s.run, here("broken.zip"), "--json"}},
		{1, "none of the first 1 images can be read", []string{s.run, here("no.png"), "--json"}},
		{1, "there is no folder", []string{s.run, s.images, "--out", here("none/x.csv")}},
		{1, "is read here", []string{"--model", here("x.npy"), s.images, "--out", here("x.npy")}},
	} {
		if strings.Contains(c.want, "is read here") {
			write(t, here("x.npy"), readFile(t, s.model))
		}
		fails(t, c.code, c.want, append([]string{"embed"}, c.args...)...)
	}
	if readFile(t, s.manifest) != manifest {
		t.Error("the manifest was changed")
	}
	// After an interrupt the old file is still there, and no other.
	for _, form := range embedding.Endings() {
		out := filepath.Join(t.TempDir(), "e"+form)
		write(t, out, "older")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		code, _, stderr := call(ctx, "embed", s.run, s.images, "--out", out)
		files, err := os.ReadDir(filepath.Dir(out))
		if code != 130 || readFile(t, out) != "older" || len(files) != 1 || err != nil {
			t.Errorf("%s: exit %d, the folder holds %v\n%s", form, code, files, stderr)
		}
	}
	// The new place of a moved backbone is given by --backbone.
	moved := here("moved.onnx")
	if err := os.Rename(s.model, moved); err != nil {
		t.Fatal(err)
	}
	fails(t, 1, "name the model's file with --backbone FILE", "embed", s.run, s.images, "--json")
	mustCall(t, "embed", s.run, s.images, "--json", "--backbone", moved)
}
