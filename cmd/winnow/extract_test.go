package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/backbone"
	"winnow/backbone/graph"
	"winnow/backbone/ort"
	"winnow/features"
	"winnow/internal/testing/orttest"
	"winnow/run/extraction"
)

// smallNet writes an ONNX classifier of 16×16 images: convolution, pooling, and five classes that extract removes.
func smallNet(t testing.TB, path string, tilt float32) []byte {
	t.Helper()
	b := graph.NewBuilder("small", 13)
	in := b.Input("images", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(16),
		graph.Fixed(16)})
	weights := make([]float32, 7*3*9)
	for i := range weights {
		weights[i] = float32(i%11)/10 - 0.5 + tilt
	}
	w := b.Constant(graph.NewTensor("w", weights, 7, 3, 3, 3))
	maps := b.Node("Relu", []string{b.Node("Conv", []string{in, w}, graph.Ints("strides", 2, 2))})
	pool := b.NodeTo("pool", "Flatten", []string{b.Node("GlobalAveragePool", []string{maps})})
	fc := b.Constant(graph.NewTensor("fc", make([]float32, 35), 7, 5))
	b.Output(b.NodeTo("scores", "MatMul", []string{pool, fc}))
	data := b.Model().Marshal()
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return data
}

// album is a folder of images in two classes, with a manifest. One file is a text, and one is a truncated image.
type album struct{ dir, root, manifest, model, out string }

func newAlbum(t testing.TB, n int) album {
	t.Helper()
	dir := t.TempDir()
	a := album{dir, filepath.Join(dir, "images"), filepath.Join(dir, "list.csv"), filepath.Join(dir, "small.onnx"),
		filepath.Join(dir, "store")}
	list := "path,label\n"
	for i := range n {
		path := fmt.Sprintf("c%d/%03d.jpg", i%2, i)
		list += fmt.Sprintf("%s,%d\n", path, i%2)
		var out bytes.Buffer
		img := image.NewNRGBA(image.Rect(0, 0, 24+i, 21))
		for p := range img.Pix {
			img.Pix[p] = uint8(p*(i+3) | 0x0f)
		}
		img.SetNRGBA(0, 0, color.NRGBA{1, 2, 3, 255})
		encode := func() error { return jpeg.Encode(&out, img, nil) }
		if i%3 == 0 {
			encode = func() error { return png.Encode(&out, img) } // the file name still ends in .jpg
		}
		if err := encode(); err != nil {
			t.Fatal(err)
		}
		data := out.Bytes()
		switch i {
		case 2:
			data = []byte("path,label\n")
		case 5:
			data = data[:len(data)/2]
		}
		if err := os.MkdirAll(filepath.Join(a.root, filepath.Dir(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(a.root, path), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list += "c0/000.jpg,0\n" // a second row for an image, whose features are computed once
	if err := os.WriteFile(a.manifest, []byte(list), 0o644); err != nil {
		t.Fatal(err)
	}
	smallNet(t, a.model, 0)
	t.Setenv("WINNOW_MODELS", filepath.Join(dir, "models.json"))
	return a
}

// extract runs winnow extract on the album.
func (a album) extract(t testing.TB, ctx context.Context, more ...string) (code int, stdout, stderr string) {
	t.Helper()
	return call(ctx, append([]string{"--ort-lib", orttest.Runtime(t).Library(), "extract", "--manifest", a.manifest,
		"--root", a.root, "--model", a.model, "--out", a.out, "--preset", "imagenet", "--resize", "18", "--crop", "16",
		"--batch", "4"}, more...)...)
}

// mustExtract runs winnow extract, which must succeed.
func (a album) mustExtract(t testing.TB, more ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := a.extract(t, t.Context(), more...)
	if code != 0 {
		t.Fatalf("extract %v: exit code %d\n%s%s", more, code, stdout, stderr)
	}
	return stdout, stderr
}

// fails runs winnow extract, which must fail, see the function fails.
func (a album) fails(t testing.TB, code int, want string, more ...string) {
	t.Helper()
	got, stdout, stderr := a.extract(t, t.Context(), more...)
	checkFailed(t, code, want, append([]string{"extract"}, more...), got, stdout, stderr)
}

func TestExtractCommand(t *testing.T) {
	a := newAlbum(t, 13)
	code, out, errs := a.extract(t, t.Context(), "--json")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	var got extraction.Result
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatal(err)
	}
	if got.Rows != 13 || got.Dim != 7 || got.Output != "pool" || got.Complete || got.Resumed != 0 ||
		len(got.Bad) != 2 ||
		got.Bad[0].Path != "c0/002.jpg" || got.Bad[1].Row != 5 || !strings.HasPrefix(got.Bad[1].Reason, "jpeg: ") {
		t.Errorf("result %+v", got)
	}
	s, err := features.Open(a.out)
	if err != nil {
		t.Fatal(err)
	}
	x, err := s.Read(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	a.compare(t, x.Data)
	before := a.files(t)

	code, out, errs = a.extract(t, t.Context())
	if code != 0 || !strings.Contains(out, "nothing to do") || !strings.Contains(out,
		"they were not tried again: --overwrite") {
		t.Errorf("again: exit code %d: %s%s", code, out, errs)
	}
	if code, _, errs = a.extract(t, t.Context(), "--strict"); code != 1 || !strings.Contains(errs,
		"c0/002.jpg: not an image") {
		t.Errorf("--strict on a store with unreadable images: exit code %d: %s", code, errs)
	}
	other := filepath.Join(a.dir, "other.onnx")
	smallNet(t, other, 0.25)
	for want, flags := range map[string][]string{
		"made with model":                        {"--model", other},
		`made with preprocessing {"resize":18`:   {"--resize", "20"},
		`"exif":true}, expected {"resize":18`:    {"--exif=false"},
		"made with tensor pool, expected scores": {"--output", "scores"},
	} {
		code, _, errs = a.extract(t, t.Context(), flags...)
		if code != 1 || !strings.Contains(errs, want) || !strings.Contains(errs, "--overwrite") {
			t.Errorf("%v: exit code %d: %s", flags, code, errs)
		}
	}
	if diff := cmp.Diff(before, a.files(t)); diff != "" {
		t.Errorf("the store has changed:\n%s", diff)
	}
	if code, _, errs = a.extract(t, t.Context(), "--model", other, "--overwrite"); code != 0 {
		t.Errorf("overwrite: exit code %d: %s", code, errs)
	}
	if cmp.Equal(before, a.files(t)) {
		t.Error("--overwrite left the old store")
	}
}

// compare checks the rows against the output of the model, computed image by image without the command.
func (a album) compare(t *testing.T, got []float32) {
	t.Helper()
	rt := orttest.Runtime(t)
	model, err := os.ReadFile(a.model)
	if err != nil {
		t.Fatal(err)
	}
	m, err := graph.Read(model)
	if err != nil {
		t.Fatal(err)
	}
	b := graph.Extend(m)
	b.SetOutputs("pool")
	net, err := ort.NewNetwork(rt, b.Model().Marshal(), "pool", ort.NetworkInput{Channels: 3, Height: 16, Width: 16})
	if err != nil {
		t.Fatal(err)
	}
	defer net.Close()
	p := backbone.Preprocessing{Resize: 18, Crop: 16, Interpolation: "bilinear", Channels: "RGB", Scale: 1. / 255,
		Mean: [3]float32{0.485, 0.456, 0.406}, Std: [3]float32{0.229, 0.224, 0.225}}
	for i := range 13 {
		row := features.NewMatrix(1, 7)
		data, err := os.ReadFile(filepath.Join(a.root, fmt.Sprintf("c%d/%03d.jpg", i%2, i)))
		if err != nil {
			t.Fatal(err)
		}
		if img, err := backbone.Decode(data, backbone.DecodeOptions{}); err == nil {
			pixels := make([]float32, p.Size())
			if err := backbone.Preprocess(pixels, img, p); err != nil {
				t.Fatal(err)
			}
			if err := net.Infer(row, pixels, 1); err != nil {
				t.Fatal(err)
			}
		} else if i != 2 && i != 5 {
			t.Fatal(err)
		}
		for j, v := range row.Data {
			if d := v - got[7*i+j]; d > 1e-5 || d < -1e-5 {
				t.Errorf("image %d: value %d is %v, expected %v", i, j, got[7*i+j], v)
			}
		}
	}
}

func (a album) files(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, name := range []string{"features.npy", "paths.txt", "store.json"} {
		data, err := os.ReadFile(filepath.Join(a.out, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	return files
}

// TestExtractInterrupted checks that an interrupted extraction exits with 130, and that the next run completes it to
// the same bytes as an uninterrupted extraction.
func TestExtractInterrupted(t *testing.T) {
	a := newAlbum(t, 29)
	a.mustExtract(t)
	want := a.files(t)
	a.out = filepath.Join(a.dir, "stopped")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code, _, errs := a.extract(t, ctx); code != 130 || !strings.Contains(errs, "interrupted") {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	a.mustExtract(t)
	if diff := cmp.Diff(want, a.files(t)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
