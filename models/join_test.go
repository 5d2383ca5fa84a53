package models

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/features"
	"winnow/head"
	"winnow/internal/atomicfile"
)

// tinyBackbone averages the three channels of 8×8 images and classifies; version changes its bytes.
func tinyBackbone(feature string, version int64) []byte {
	b := graph.NewBuilder("tiny", 13)
	x := b.Input("image", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(8), graph.Fixed(8)})
	x = b.NodeTo(b.Fresh(feature), "Flatten", []string{b.Node("GlobalAveragePool", []string{x})}, graph.Int("axis", 1))
	b.Output(b.Node("Gemm", []string{x, b.Constant(graph.NewTensor("classes", make([]float32, 6), 3, 2))}))
	m := b.Model()
	m.Version = version
	m.Metadata = []graph.Property{{Key: "a", Value: "kept"}, {Key: "b", Value: "old"}, {Key: "b", Value: "older"},
		{Key: "winnow.architecture", Value: "tiny"}, {Key: "winnow.seed", Value: "1"}}
	return m.Marshal()
}

func tinyEntry() Entry {
	p := presets["unit"]
	p.Resize, p.Crop = 8, 8
	return Entry{Name: "tiny", File: "tiny.onnx", Preprocessing: p}
}

func TestJoin(t *testing.T) {
	h, err := head.New(t.Context(), head.Config{In: 3, Out: 2, Bias: true,
		Init: head.Random}, features.NewMatrix(0, 3), rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	for feature, output := range map[string]string{"pool": "embedding", "embedding": "embedding_2"} {
		p, err := Prepare(fileOf(tinyEntry(), tinyBackbone(feature, 1)), "")
		if err != nil {
			t.Fatal(err)
		}
		j, err := Join(p, h, map[string]string{"c": "new", "b": "newer"})
		if err != nil {
			t.Fatal(err)
		}
		m, err := graph.Read(j.Model)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]graph.Property{{Key: "a", Value: "kept"}, {Key: "b", Value: "newer"},
			{Key: "c", Value: "new"}}, m.Metadata); diff != "" {
			t.Errorf("metadata (-want +got):\n%s", diff)
		}
		out := m.Graph.Outputs
		if j.Output != output || len(out) != 1 || out[0].Name != output || out[0].Shape.String() != "[N,2]" ||
			j.Dim != 2 || j.Opset != 13 || j.Input.Name != "image" {
			t.Errorf("%s: joined %v, its outputs %v", feature, j, out)
		}
		ops := ""
		for _, n := range m.Graph.Nodes {
			ops += " " + n.Op
		}
		if ops != " GlobalAveragePool Flatten Gemm ReduceL2 Clip Div Identity" {
			t.Errorf("nodes:%s", ops)
		}
	}
	wide, err := head.New(t.Context(), head.Config{In: 5, Out: 2, Init: head.Random}, features.NewMatrix(0, 5),
		rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	p, err := Prepare(fileOf(tinyEntry(), tinyBackbone("pool", 1)), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Join(p, wide, nil); err == nil || !strings.Contains(err.Error(), "with D = 5") {
		t.Errorf("a head of another dimension: %v", err)
	}
}

func TestRecallAndMatch(t *testing.T) {
	dir := t.TempDir()
	first, second := tinyBackbone("pool", 1), tinyBackbone("pool", 2)
	put := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := atomicfile.WriteBytes(path, data); err != nil {
			t.Fatal(err)
		}
		return path
	}
	one, two := put("one.onnx", first), put("two.onnx", second)
	r, err := Open(filepath.Join(dir, "models.json"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Recall(Sum(first)); !errors.Is(err, ErrNoBackbone) {
		t.Errorf("an unknown model: %v", err)
	}
	if _, err := r.Recall(Sum(first), two, filepath.Join(dir, "none.onnx")); !errors.Is(err, ErrNoBackbone) {
		t.Errorf("a hint at another file: %v", err)
	}
	if b, err := r.Recall(Sum(first), two, one); err != nil || b.Path != one || string(b.Data) != string(first) {
		t.Errorf("a good hint: %v, %v", b, err)
	}
	if _, _, err := r.AddFile(one, "mine", Settings{Preset: "unit"}, nil); err != nil {
		t.Fatal(err)
	}
	if b, err := r.Recall(Sum(first)); err != nil || b.Name != "mine" {
		t.Errorf("an entry: %v, %v", b, err)
	}
	if b, err := r.Match("mine", Sum(first)); err != nil || b.Path != one {
		t.Errorf("by name: %v, %v", b, err)
	}
	if _, err := r.Match(two, Sum(first)); err == nil ||
		err.Error() != `models: "`+two+`": found sha256 `+Sum(second)+`, expected `+Sum(first) {
		t.Errorf("another file: %v", err)
	}
	put("one.onnx", second)
	if _, err := r.Recall(Sum(first)); err == nil ||
		!strings.Contains(err.Error(), "it was changed or is another model") {
		t.Errorf("a changed file: %v", err)
	}
	data := compiledFiles()["glyphnet.onnx"]
	if data == nil {
		t.Skip("glyphnet is not part of this build")
	}
	if b, err := r.Recall(Sum(data)); err != nil || b.Name != "glyphnet" {
		t.Errorf("the compiled one: %v, %v", b, err)
	}
}

// The preprocessing of every entry survives being stored in a feature store and in an exported model.
func TestPreprocessingText(t *testing.T) {
	for _, e := range knownEntries() {
		p, err := backbone.ParsePreprocessing(e.Preprocessing.Key())
		if err != nil || p != e.Preprocessing {
			t.Errorf("%s: %v, %+v", e.Name, err, p)
		}
	}
}
