package models

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/internal/testing/reference"
)

// classifier returns a small network for images of planes×side×side; a side of -1 is free.
func classifier(batch graph.Dim, planes, side int64) *graph.Model {
	b := graph.NewBuilder("classifier", 13)
	x := b.Input("image", graph.Float32, graph.Shape{batch, graph.Fixed(planes), {Size: side}, {Size: side}})
	c := b.Node("Conv", []string{x, tensor(b, 6, planes, 3, 3)})
	pooled := b.Node("Flatten", []string{b.Node("GlobalAveragePool", []string{c})})
	b.Output(b.NodeTo("logits", "Gemm", []string{pooled, tensor(b, 6, 10)}))
	return b.Model()
}

// fileOf returns a backbone as if read from a file.
func fileOf(e Entry, data []byte) *Backbone { return &Backbone{Entry: e, Data: data} }

// tensor adds random weights.
func tensor(b *graph.Builder, dims ...int64) string {
	n := int64(1)
	for _, d := range dims {
		n *= d
	}
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	values := make([]float32, n)
	for i := range values {
		values[i] = 0.1 * (2*rng.Float32() - 1)
	}
	return b.Constant(graph.NewTensor("w", values, dims...))
}

// save writes a model into a new folder and returns the path.
func save(t *testing.T, name string, m *graph.Model) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, m.Marshal(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestResolveReal finds the real models by name in a folder and by path under another name, and runs what Prepare
// makes of them, as the extraction does.
func TestResolveReal(t *testing.T) {
	folder := filepath.Dir(reference.Asset(t, "models/squeezenet1.1.onnx"))
	r := open(t, filepath.Join(t.TempDir(), "models.json"), folder)
	for name, dim := range map[string]int{"googlenet-bvlc": 1024, "mobilenetv2-features": 1280, "squeezenet1.1": 512,
		"resnet50v2-stage3-features": 1024} {
		t.Run(name, func(t *testing.T) {
			b, err := r.Resolve(name, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			renamed := filepath.Join(t.TempDir(), "renamed.bin")
			if err := os.WriteFile(renamed, b.Data, 0o644); err != nil {
				t.Fatal(err)
			}
			other, err := r.Resolve(renamed, Settings{})
			if err != nil || other.Name != name || other.Preprocessing != b.Preprocessing || len(other.Warnings) > 0 {
				t.Errorf("renamed: found %q, %v, %v", other.Name, other.Warnings, err)
			}
			p, err := Prepare(b, "")
			if err != nil || p.Dim != dim || p.Tensor != "features" || len(p.Warnings) > 0 {
				t.Fatalf("found %q, %d numbers, %v, %v", p.Tensor, p.Dim, p.Warnings, err)
			}
			runs(t, b, p)
		})
	}
}

// runs loads a prepared backbone as a network and returns the vectors of two images, which must differ.
func runs(t *testing.T, b *Backbone, p *Prepared) blas32.General {
	t.Helper()
	side := b.Preprocessing.Crop
	net, err := ort.NewNetwork(orttest.Runtime(t), p.Model, p.Tensor,
		ort.NetworkInput{Name: p.Input, Channels: b.Preprocessing.Planes(), Height: side, Width: side,
			Folder: p.Folder})
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	if net.Dim() != p.Dim {
		t.Fatalf("the network gives %d numbers, Prepare said %d", net.Dim(), p.Dim)
	}
	pixels := make([]float32, 2*b.Preprocessing.Planes()*side*side)
	for i := range len(pixels) / 2 {
		pixels[i] = float32(i%7) - 3
	}
	z := features.NewMatrix(2, p.Dim)
	if err := net.Infer(z, pixels, 2); err != nil {
		t.Fatal(err)
	}
	same := true
	for i := range p.Dim {
		same = same && z.Data[i] == z.Data[p.Dim+i]
	}
	if same {
		t.Error("two different images have the same vector")
	}
	return z
}

// A file that winnow wrote records its preprocessing; settings override it.
func TestResolveByMetadata(t *testing.T) {
	r := &Registry{path: filepath.Join(t.TempDir(), "models.json")}
	caffe := presets["caffe"]
	caffe.Resize, caffe.Crop = 0, 32
	m := classifier(graph.Free("N"), 3, 32)
	m.Metadata = append(m.Metadata, graph.Property{Key: PreprocessingKey, Value: caffe.Key()})
	file := save(t, "tuned.onnx", m)
	b, err := r.Resolve(file, Settings{})
	if err != nil || b.Preprocessing != caffe || len(b.Warnings) != 0 {
		t.Errorf("found %+v, %q, %v, expected %+v", b, b.Warnings, err, caffe)
	}
	if b, err = r.Resolve(file, Settings{Preset: "unit"}); err != nil || b.Preprocessing.Channels != "RGB" ||
		b.Preprocessing.Crop != 32 {
		t.Errorf("found %+v, %v", b, err)
	}
	m.Metadata[len(m.Metadata)-1].Value = "{}"
	if _, err = r.Resolve(save(t, "broken.onnx", m), Settings{}); err == nil ||
		!strings.Contains(err.Error(), "broken.onnx: metadata winnow.preprocessing: ") {
		t.Errorf("found %v", err)
	}
}

func TestPrepareAtAnotherSize(t *testing.T) {
	at := func(m *graph.Model, side int) (*Prepared, error) {
		p := presets["imagenet"]
		p.Crop, p.Resize = side, side
		return Prepare(fileOf(Entry{File: "net.onnx", Preprocessing: p}, m.Marshal()), "")
	}
	for _, batch := range []graph.Dim{graph.Free("N"), graph.Free(""), graph.Fixed(1)} {
		p, err := at(classifier(batch, 3, 299), 100)
		if err != nil || p.Dim != 6 || len(p.Warnings) != 1 ||
			p.Warnings[0] != "net.onnx: made for images of 299×299, used with 100×100" {
			t.Errorf("%v: %+v, %v", batch, p, err)
			continue
		}
		m, err := graph.Read(p.Model)
		if err != nil {
			t.Fatal(err)
		}
		if in := m.Graph.Inputs[0].Shape; in[2] != graph.Fixed(100) || in[0].Known() || p.Batch != 0 {
			t.Errorf("%v: input %v", batch, in)
		}
	}
	flat := func(side int64) *graph.Model { // every position has its own weights
		b := graph.NewBuilder("flat", 13)
		x := b.Input("image", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(side),
			graph.Fixed(side)})
		y := b.Node("Flatten", []string{b.Node("Conv", []string{x, tensor(b, 6, 3, 3, 3)})})
		b.Output(b.NodeTo("logits", "Gemm", []string{y, tensor(b, 6*(side-2)*(side-2), 10)}))
		return b.Model()
	}
	shaped := func() *graph.Model { // the same number of values, but not one row per image
		b := graph.NewBuilder("shaped", 13)
		x := b.Input("image", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(10),
			graph.Fixed(10)})
		to := b.Constant(graph.NewTensor("to", []int64{-1, 300}, 2))
		b.Output(b.NodeTo("logits", "Gemm", []string{b.Node("Reshape", []string{x, to}), tensor(b, 300, 10)}))
		return b.Model()
	}
	for name, c := range map[string]struct {
		m    *graph.Model
		side int
	}{"flat": {flat(16), 12}, "shaped": {shaped(), 20}, "too small": {classifier(graph.Free("N"), 3, 16), 2}} {
		if p, err := at(c.m, c.side); err == nil ||
			!strings.Contains(err.Error(), "the network's vector would not be the same") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}

// A file that differs from its entry is rejected with an error that contains both checksums.
func TestChanged(t *testing.T) {
	dir := t.TempDir()
	r := open(t, filepath.Join(dir, "models.json"), dir)
	path := save(t, "m.onnx", classifier(graph.Free("N"), 3, 224))
	b, _, err := r.AddFile(path, "m", Settings{Preset: "imagenet"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	changed := classifier(graph.Free("N"), 3, 112).Marshal()
	if err := os.WriteFile(path, changed, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resolve("m", Settings{}); err == nil || !strings.Contains(err.Error(), Sum(changed)) ||
		!strings.Contains(err.Error(), b.SHA256) {
		t.Errorf("found %v, expected both sums", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "squeezenet1.1.onnx"), changed, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Resolve("squeezenet1.1", Settings{}); err == nil || !strings.Contains(err.Error(), Sum(changed)) {
		t.Errorf("found %v, expected both sums", err)
	}
	report, err := r.Inspect("m", Settings{})
	if err != nil || report.Found || len(report.Problems) != 1 {
		t.Errorf("found %+v, %v, expected one problem", report, err)
	}
}

// fixedBatch is a network whose batch size also appears in the target of a Reshape.
func fixedBatch(n int64) *graph.Model {
	b := graph.NewBuilder("fixed", 13)
	x := b.Input("image", graph.Float32, graph.Shape{graph.Fixed(n), graph.Fixed(3), graph.Fixed(224),
		graph.Fixed(224)})
	pooled := b.Node("GlobalAveragePool", []string{b.Node("Conv", []string{x, tensor(b, 6, 3, 3, 3)})})
	to := b.Constant(graph.NewTensor("to", []int64{n, 6}, 2))
	b.Output(b.NodeTo("logits", "Gemm", []string{b.Node("Reshape", []string{pooled, to}), tensor(b, 6, 10)}))
	return b.Model()
}

// channelsLast is the network of classifier for images [N,H,W,C]; if plain, it starts as TensorFlow's exporters
// start a graph.
func channelsLast(batch graph.Dim, side int64, plain bool) *graph.Model {
	b := graph.NewBuilder("last", 13)
	last := b.Input("image", graph.Float32, graph.Shape{batch, {Size: side}, {Size: side}, graph.Fixed(3)})
	if !plain {
		last = b.Node("Identity", []string{last})
	}
	x := b.Node("Transpose", []string{last}, graph.Ints("perm", 0, 3, 1, 2))
	c := b.Node("Conv", []string{x, tensor(b, 6, 3, 3, 3)})
	pooled := b.Node("Flatten", []string{b.Node("GlobalAveragePool", []string{c})})
	b.Output(b.NodeTo("logits", "Gemm", []string{pooled, tensor(b, 6, 10)}))
	return b.Model()
}

// A network for single images with channels last gives the same vectors as the same network for batches of images
// with channels first.
func TestPrepareChannelsLast(t *testing.T) {
	e := Entry{Name: "f", File: "f.onnx", Preprocessing: presets["imagenet"]}
	p, err := Prepare(fileOf(e, classifier(graph.Free("N"), 3, 224).Marshal()), "")
	if err != nil {
		t.Fatal(err)
	}
	want := runs(t, &Backbone{Entry: e}, p)
	for _, plain := range []bool{true, false} {
		for _, batch := range []graph.Dim{graph.Free("N"), graph.Fixed(1)} {
			path := save(t, "f.onnx", channelsLast(batch, 224, plain))
			b, err := open(t, filepath.Join(t.TempDir(), "models.json")).Resolve(path, Settings{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := Prepare(b, "")
			if err != nil || p.Batch != 0 || p.Dim != 6 || len(p.Warnings) != 0 {
				t.Fatalf("plain %v, %v: %+v, %v", plain, batch, p, err)
			}
			if found := runs(t, b, p); !slices.Equal(found.Data, want.Data) {
				t.Errorf("plain %v, %v: found %v, expected %v", plain, batch, found.Data, want.Data)
			}
		}
	}
}

func TestPrepare(t *testing.T) {
	fixed := classifier(graph.Fixed(4), 3, 224)
	e := Entry{Name: "f", File: "f.onnx", Preprocessing: presets["imagenet"]}
	p, err := Prepare(fileOf(e, fixedBatch(4).Marshal()), "")
	if err != nil || p.Dim != 6 || p.Batch != 0 || p.FixedBatch != 4 || len(p.Warnings) != 0 {
		t.Fatalf("found %+v, %v", p.Warnings, err)
	}
	free := runs(t, &Backbone{Entry: e}, p)
	p.Refix(e)
	if p.Batch != 4 || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0], "exactly 4 images") {
		t.Fatalf("found %+v", p.Warnings)
	}
	if found := runs(t, &Backbone{Entry: e}, p); !slices.Equal(found.Data, free.Data) {
		t.Errorf("found %v, %v with a free batch", found.Data, free.Data)
	}
	if p, err = Prepare(fileOf(e, fixed.Marshal()), ""); err != nil || p.Batch != 0 || len(p.Warnings) != 0 {
		t.Fatalf("found %+v, %v, expected any number of images", p.Warnings, err)
	}
	runs(t, &Backbone{Entry: e}, p)
	if p, err = Prepare(fileOf(e, fixed.Marshal()), "Conv"); err != nil || p.Dim != 6 || p.Cut != "Conv" || p.Tensor == "Conv" {
		t.Errorf("found %+v, %v, expected the maps averaged", p, err)
	}
	e.Input = "data"
	if _, err := Prepare(fileOf(e, fixed.Marshal()), ""); err == nil ||
		!strings.Contains(err.Error(), `found the input "image", expected "data"`) {
		t.Errorf("found %v", err)
	}
	if _, err := Prepare(fileOf(e, fixed.Marshal()[:500]), ""); err == nil ||
		!strings.HasPrefix(err.Error(), "graph: f.onnx: the data is cut short") {
		t.Errorf("found %v", err)
	}
	if _, err := Prepare(fileOf(e, fixed.Marshal()), "Con"); err == nil ||
		!strings.Contains(err.Error(), `expected one like ["Conv"]`) {
		t.Errorf("found %v", err)
	}
}

// TestResNet18 adds a ResNet-18 with random weights as a user of torchvision would, by name alone.
func TestResNet18(t *testing.T) {
	r := open(t, filepath.Join(t.TempDir(), "models.json"))
	path := save(t, "resnet18.onnx", resNet18())
	b, p, err := r.AddFile(path, "resnet18", Settings{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if b.Preprocessing != presets["imagenet"] || p.Dim != 512 || p.Cut != "pooled" || len(b.Warnings) > 0 {
		t.Errorf("found %+v, %d numbers at %q (%s), %v", b.Preprocessing, p.Dim, p.Cut, p.Why, b.Warnings)
	}
	found, err := r.Resolve("resnet18", Settings{})
	if err != nil || found.Path != path {
		t.Fatalf("found %+v, %v", found, err)
	}
	runs(t, found, p)
	report, err := r.Inspect("resnet18", Settings{})
	if err != nil || report.Feature == nil || report.Feature.Dim != 512 ||
		report.Structure.Parameters != 11689512-4800-4800 {
		t.Errorf("found %+v, %v", report, err)
	}
}

// resNet18 is torchvision's architecture with the normalisations folded in: torchvision's has 11,689,512
// parameters, of which the 4,800 scales and 4,800 shifts of the normalisations are absent here.
func resNet18() *graph.Model {
	b := graph.NewBuilder("resnet18", 17)
	x := b.Input("input", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(224),
		graph.Fixed(224)})
	conv := func(x string, out, in, kernel, stride int64) string {
		pad := kernel / 2
		return b.Node("Conv", []string{x, tensor(b, out, in, kernel, kernel)}, graph.Ints("strides", stride, stride),
			graph.Ints("pads", pad, pad, pad, pad))
	}
	relu := func(x string) string { return b.Node("Relu", []string{x}) }
	x = relu(conv(x, 64, 3, 7, 2))
	x = b.Node("MaxPool", []string{x}, graph.Ints("kernel_shape", 3, 3), graph.Ints("strides", 2, 2),
		graph.Ints("pads", 1, 1, 1, 1))
	in := int64(64)
	for stage, out := range []int64{64, 128, 256, 512} {
		for block := range 2 {
			stride, way := int64(1), x
			if stage > 0 && block == 0 {
				stride = 2
				way = conv(x, out, in, 1, 2)
			}
			y := conv(relu(conv(x, out, in, 3, stride)), out, out, 3, 1)
			x, in = relu(b.Node("Add", []string{y, way})), out
		}
	}
	pooled := b.NodeTo("pooled", "Flatten", []string{b.Node("GlobalAveragePool", []string{x})}, graph.Int("axis", 1))
	b.Output(b.NodeTo("logits", "Gemm", []string{pooled, tensor(b, 1000, 512), tensor(b, 1000)},
		graph.Int("transB", 1)))
	return b.Model()
}
