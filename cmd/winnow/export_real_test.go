package main

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"testing"

	"winnow/internal/testing/reference"
)

// Photographs through real networks: extracted, trained and exported by the commands.
func TestExportRealBackbones(t *testing.T) {
	needRuntime(t)
	photos, err := zip.OpenReader(reference.Asset(t, "data/imagenette-val-sample.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer photos.Close()
	for _, name := range []string{"mobilenetv2-features", "googlenet-bvlc"} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("WINNOW_MODELS", filepath.Join(t.TempDir(), "models.json"))
			t.Setenv("WINNOW_MODEL_DIRS", filepath.Dir(reference.Asset(t, "models/"+name+".onnx")))
			dir := t.TempDir()
			s := studio{dir: dir, images: filepath.Join(dir, "images"), manifest: filepath.Join(dir, "list.csv"),
				store: filepath.Join(dir, "store"), run: filepath.Join(dir, "run")}
			s.unpack(t, &photos.Reader, 5, 2)
			mustCall(t, "extract", "--manifest", s.manifest, "--root", s.images, "--model", name, "--out", s.store)
			mustCall(t, "train", "--manifest", s.manifest, "--root", s.images, "--features", s.store, "--out", s.run,
				"--dim", "16", "--batch", "5x2", "--steps", "5", "--screen", "none")
			npy, onnx := filepath.Join(dir, "e.npy"), filepath.Join(dir, "e.onnx")
			stdout, _ := mustCall(t, "export", s.run, "--npy", npy, "--onnx", onnx, "--json")
			var result exportResult
			if err := json.Unmarshal([]byte(stdout), &result); err != nil {
				t.Fatal(err)
			}
			c := result.Model.Check
			t.Logf("%s: joined and own differ by %.2g", result.Model.Input, c.Largest)
			if !(c.Largest <= 1e-5) || readNPY(t, npy).Rows != 10 {
				t.Errorf("result %+v", result.Model)
			}
		})
	}
}

// unpack writes the first images of the first classes and their manifest.
func (s studio) unpack(t testing.TB, photos *zip.Reader, classes, each int) {
	t.Helper()
	list, seen := "path,label,split\n", map[string]int{}
	for _, f := range photos.File {
		class := path.Base(path.Dir(f.Name))
		if f.FileInfo().IsDir() || seen[class] == each || seen[class] == 0 && len(seen) == classes {
			continue
		}
		seen[class]++
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close(), os.MkdirAll(filepath.Join(s.images, class), 0o755)); err != nil {
			t.Fatal(err)
		}
		name := class + "/" + path.Base(f.Name)
		write(t, filepath.Join(s.images, name), string(data))
		list += name + "," + class + ",train\n"
	}
	write(t, s.manifest, list)
}
