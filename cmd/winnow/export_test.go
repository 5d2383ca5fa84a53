package main

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/parquet-go/parquet-go"
	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/models"
	"winnow/run/embedding"
	"winnow/run/export"
	"winnow/run/folder"
)

// slowEmbed computes the head's embedding with loops in float64.
func slowEmbed(t testing.TB, run string, x []float32) []float64 {
	t.Helper()
	h, _, err := models.ReadHead(filepath.Join(run, folder.BestHeadFile))
	if err != nil {
		t.Fatal(err)
	}
	in := make([]float64, len(x))
	for i, v := range x {
		in[i] = float64(v)
	}
	w, bias := h.Linear()
	out := make([]float64, w.Cols)
	for j := range out {
		for i, v := range in {
			out[j] += v * float64(w.Data[i*w.Stride+j])
		}
		if bias != nil {
			out[j] += float64(bias[j])
		}
	}
	in = out
	sum := 0.0
	for _, v := range in {
		sum += v * v
	}
	for j := range in {
		in[j] /= math.Sqrt(sum)
	}
	return in
}

func readNPY(t testing.TB, path string) blas32.General {
	t.Helper()
	data := readFile(t, path)
	a, err := features.ReadNPY(strings.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	x, err := a.Matrix()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// largestDifference returns the largest absolute difference between two matrices; NaN if a value is NaN.
func largestDifference(a, b blas32.General) float64 {
	if a.Rows != b.Rows || a.Cols != b.Cols {
		return math.Inf(1)
	}
	largest := 0.0
	for i := range a.Rows {
		for j, v := range features.Row(a, i) {
			largest = max(largest, math.Abs(float64(v)-float64(features.Row(b, i)[j])))
		}
	}
	return largest
}

// exportResult is the output of "winnow export --json".
type exportResult struct {
	Vectors  *export.Vectors `json:"embeddings"`
	Model    *export.Model
	Database *export.Uploaded
}

func TestExport(t *testing.T) {
	s := newStudio(t)
	out := t.TempDir()
	at := func(name string) string { return filepath.Join(out, name) }
	stdout, stderr := mustCall(t, "export", s.run, "--npy", at("e.npy"), "--csv", at("e.csv"), "--parquet",
		at("e.parquet"), "--onnx", at("e.onnx"), "--json")
	var result exportResult
	if err := json.Unmarshal([]byte(stdout), &result); err != nil {
		t.Fatal(err)
	}
	s.checkVectors(t, at("e"), *result.Vectors)
	s.checkONNX(t, at("e"), *result.Model)
	if !strings.Contains(stderr, "1 unreadable images are left out, the first is 39.png: not an image") {
		t.Errorf("standard error:\n%s", stderr)
	}
	first := readFile(t, at("e.onnx"))
	text, _ := mustCall(t, "export", s.run, "--onnx", at("e.onnx"))
	if readFile(t, at("e.onnx")) != first {
		t.Error("the same export wrote different bytes")
	}
	if !strings.Contains(text, "agrees with winnow's own on 16 images of random pixels: largest difference") ||
		strings.Contains(text, "embeddings  ") {
		t.Errorf("output:\n%s", text)
	}
}

// checkVectors reads every format and compares it with slowEmbed of the stored features.
func (s studio) checkVectors(t *testing.T, base string, result export.Vectors) {
	t.Helper()
	files := []string{base + ".npy", base + ".ids.csv", base + ".csv", base + ".parquet"}
	if diff := cmp.Diff(files, result.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	x := readNPY(t, base+".npy")
	if x.Rows != 59 || x.Cols != 6 || result.Rows != 59 || result.Dim != 6 || len(result.LeftOut) != 1 ||
		result.LeftOut[0].Path != "39.png" {
		t.Fatalf("%d×%d, result %+v", x.Rows, x.Cols, result)
	}
	d, err := datasets.ReadFile(s.manifest, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	store, err := features.Open(s.store)
	if err != nil {
		t.Fatal(err)
	}
	ids := [][]string{{"row", "path", "label", "split"}}
	var rows []embedding.Row
	for _, sample := range d.Samples {
		if sample.Path == "39.png" {
			continue
		}
		row := embedding.Row{Path: sample.Path, Split: sample.Split, Embedding: features.Row(x, len(rows))}
		if sample.Path != "47.png" { // the image without a label
			row.Label = d.Classes[sample.Label]
		}
		ids = append(ids, []string{strconv.Itoa(len(rows)), row.Path, row.Label, row.Split})
		rows = append(rows, row)
		at, _ := store.Lookup([]string{sample.Path})
		stored, err := store.Read(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		for j, want := range slowEmbed(t, s.run, stored.Data) {
			if math.Abs(float64(row.Embedding[j])-want) > 2e-6 {
				t.Errorf("%s: value %d is %v, expected %v", row.Path, j, row.Embedding[j], want)
			}
		}
	}
	if diff := cmp.Diff(ids, table(t, base+".ids.csv")); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
	got, err := parquet.ReadFile[embedding.Row](base + ".parquet")
	if diff := cmp.Diff(rows, got); diff != "" || err != nil {
		t.Errorf("parquet: %v (-want +got):\n%s", err, diff)
	}
	for i, record := range table(t, base+".csv")[1:] {
		for j, text := range record[3:] {
			if v, err := strconv.ParseFloat(text, 32); err != nil || float32(v) != rows[i].Embedding[j] {
				t.Fatalf("csv: row %d, value %d is %q, expected %v", i, j, text, rows[i].Embedding[j])
			}
		}
		if diff := cmp.Diff([]string{rows[i].Path, rows[i].Label, rows[i].Split}, record[:3]); diff != "" {
			t.Errorf("csv (-want +got):\n%s", diff)
		}
	}
}

// checkONNX runs the exported model on one to three images at a time, preprocessed by its own metadata.
func (s studio) checkONNX(t *testing.T, base string, result export.Model) {
	t.Helper()
	data := []byte(readFile(t, base+".onnx"))
	m, err := graph.Read(data)
	if err != nil {
		t.Fatal(err)
	}
	about := map[string]string{}
	for _, p := range m.Metadata {
		if _, twice := about[p.Key]; twice {
			t.Errorf("the metadata contain %s twice", p.Key)
		}
		about[p.Key] = p.Value
	}
	head, err := os.ReadFile(filepath.Join(s.run, folder.BestHeadFile))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"author": "test", "winnow.version": term.Version(),
		"winnow.head_sha256":     models.Sum(head),
		"winnow.backbone_sha256": models.Sum(tinyNetwork()), "winnow.backbone_feature": "embedding"} {
		if about[key] != want {
			t.Errorf("metadata: %s is %q, expected %q", key, about[key], want)
		}
	}
	if m.Opset() != 13 || result.Opset != 13 || result.Output != "embedding_2" || result.SHA256 != models.Sum(data) ||
		result.Bytes != len(data) || result.Dim != 6 {
		t.Errorf("opset %d, result %+v", m.Opset(), result)
	}
	if c := result.Check; c.Images != 16 || !(c.Largest <= 1e-5) {
		t.Errorf("check: %+v", c)
	}
	p, err := backbone.ParsePreprocessing(about["winnow.preprocessing"])
	if err != nil {
		t.Fatal(err)
	}
	session, err := orttest.Runtime(t).NewSession(data, ort.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	x, ids := readNPY(t, base+".npy"), table(t, base+".ids.csv")[1:]
	for at := 0; at < len(ids); {
		n := min(1+at%3, len(ids)-at)
		var pixels []float32
		for _, id := range ids[at : at+n] {
			img, err := backbone.Decode([]byte(readFile(t, s.images, id[1])), backbone.DecodeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			one := make([]float32, p.Size())
			if err := backbone.Preprocess(one, img, p); err != nil {
				t.Fatal(err)
			}
			pixels = append(pixels, one...)
		}
		out := make([]ort.Tensor, 1)
		if err := session.Run([]ort.Tensor{ort.Float32s(pixels, int64(n), 3, 16, 16)}, out); err != nil {
			t.Fatal(err)
		}
		want := x.Data[at*x.Cols : (at+n)*x.Cols]
		if diff := cmp.Diff(want, out[0].F32, cmpopts.EquateApprox(0, 1e-5)); diff != "" || !slices.Equal(out[0].Shape,
			[]int64{int64(n), 6}) {
			t.Errorf("rows from %d: shape %v (-want +got):\n%s", at, out[0].Shape, diff)
		}
		at += n
	}
}
