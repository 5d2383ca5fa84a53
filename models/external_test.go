package models

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/internal/testing/onnxtest"
)

// A model with its weights in a data file gives the same vectors as the model in a single file, whether the data file
// is read into the model or left to the runtime.
func TestExternalData(t *testing.T) {
	dir := t.TempDir()
	m := classifier(graph.Free("N"), 3, 32)
	model, data := onnxtest.Outside(m.Marshal(), "net.onnx.data", nil)
	file := filepath.Join(dir, "net.onnx")
	put(t, file, model)
	put(t, file+".data", data)
	small := Settings{Size: &Size{32, 32}}.withSize(presets["unit"])
	one := &Backbone{Entry: Entry{File: "one.onnx", Preprocessing: small}, Data: m.Marshal()}
	want, err := Prepare(one, "")
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, filepath.Join(dir, "models.json"))
	b, p, err := r.AddFile(file, "net", Settings{Preset: "unit"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if sum := fmt.Sprintf("%s\n%s net.onnx.data\n", Sum(model), Sum(data)); b.SHA256 != Sum([]byte(sum)) {
		t.Errorf("sha256 %s", b.SHA256)
	}
	if string(p.Model) != string(want.Model) || b.Folder != "" || b.Size != int64(len(model)+len(data)) {
		t.Errorf("the model is another than from one file")
	}
	rep, err := r.Inspect("net", Settings{})
	if err != nil || !slices.Equal(rep.Beside, []string{"net.onnx.data"}) || len(rep.Problems) > 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	expected := runs(t, one, want)

	t.Run("left to the runtime", func(t *testing.T) {
		old := maxWhole
		maxWhole = 100
		t.Cleanup(func() { maxWhole = old })
		b, err := r.Resolve("net", Settings{})
		if err != nil {
			t.Fatal(err)
		}
		p, err := Prepare(b, "")
		if err != nil {
			t.Fatal(err)
		}
		if b.Folder != dir || p.Folder != dir || len(p.Model) >= len(want.Model) {
			t.Errorf("folder %q, %d bytes", p.Folder, len(p.Model))
		}
		if found := runs(t, b, p); !slices.Equal(found.Data, expected.Data) {
			t.Errorf("found %v, expected %v", found.Data, expected.Data)
		}
	})
	data[len(data)-1] ^= 1
	put(t, file+".data", data)
	if _, err := r.Resolve("net", Settings{}); err == nil || !strings.Contains(err.Error(), `with ["net.onnx.data"] `) {
		t.Errorf("a changed data file: %v", err)
	}
}

// A model may name only a regular file in its own folder, of the size that it needs.
func TestExternalRefused(t *testing.T) {
	whole := classifier(graph.Free("N"), 3, 32).Marshal()
	for name, c := range map[string]struct {
		location, want string
		spoil          func(i int, r *onnxtest.Reference)
		make           func(t *testing.T, dir string, data []byte)
	}{
		"missing":  {"d", "not in ", nil, func(*testing.T, string, []byte) {}},
		"up":       {"../d", "named without ..", nil, nil},
		"through":  {"a/../../d", "named without ..", nil, nil},
		"absolute": {"/etc/passwd", "named without ..", nil, nil},
		"empty":    {"", "name (location) is missing", nil, nil},
		"link out": {"d", "expected a regular file", nil, func(t *testing.T, dir string, data []byte) {
			put(t, filepath.Join(filepath.Dir(dir), "out"), data)
			if err := os.Symlink("../out", filepath.Join(dir, "d")); err != nil {
				t.Fatal(err)
			}
		}},
		"folder": {"d", "is a folder", nil, func(t *testing.T, dir string, _ []byte) {
			if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
				t.Fatal(err)
			}
		}},
		"short": {"d", "cut short", nil, func(t *testing.T, dir string, data []byte) {
			put(t, filepath.Join(dir, "d"), data[:len(data)-1])
		}},
		"offset":   {"d", "cut short", func(_ int, r *onnxtest.Reference) { r.Offset = 1<<63 - 1 }, nil},
		"negative": {"d", "expected a number ≥ 0", func(_ int, r *onnxtest.Reference) { r.Offset = -1 }, nil},
		"length":   {"d", "in another file, expected ", func(_ int, r *onnxtest.Reference) { r.Length++ }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "in")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			model, data := onnxtest.Outside(whole, c.location, c.spoil)
			put(t, filepath.Join(dir, "net.onnx"), model)
			if c.make == nil {
				put(t, filepath.Join(dir, "d"), data)
				put(t, filepath.Join(filepath.Dir(dir), "d"), data)
			} else {
				c.make(t, dir, data)
			}
			_, err := readFile(filepath.Join(dir, "net.onnx"))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %v, expected %q", err, c.want)
			}
		})
	}
	// A link inside the folder and a file in a subfolder are accepted.
	dir := t.TempDir()
	_, data := onnxtest.Outside(whole, "d", nil)
	model, _ := onnxtest.Outside(whole, "sub/d", nil)
	put(t, filepath.Join(dir, "net.onnx"), model)
	put(t, filepath.Join(dir, "weights"), data)
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../weights", filepath.Join(dir, "sub", "d")); err != nil {
		t.Fatal(err)
	}
	if s, err := readFile(filepath.Join(dir, "net.onnx")); err != nil || !slices.Equal(s.beside, []string{"sub/d"}) {
		t.Errorf("%v, %v", s.beside, err)
	}
}

// put writes a file.
func put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
