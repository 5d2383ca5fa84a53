package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"winnow/backbone/graph"
	"winnow/features"
	"winnow/models"
	"winnow/run/embedding"
	"winnow/run/folder"
)

func TestExportFindsItsModel(t *testing.T) {
	s := newStudio(t)
	path, moved, other := filepath.Join(s.dir, "e.onnx"), filepath.Join(s.dir, "moved.onnx"), filepath.Join(s.dir,
		"other.onnx")
	store, err := features.Open(s.store)
	if err != nil || store.ModelFile != s.model {
		t.Fatalf("%v: the store says the model is %q, expected %q", err, store.ModelFile, s.model)
	}
	if err := os.Rename(s.model, moved); err != nil {
		t.Fatal(err)
	}
	s.refused(t, 1, "no model file with this sha256 is known here\nwinnow: name the file with --model FILE, or "+
		"record it: winnow models add FILE", "--onnx", path)
	mustCall(t, "export", s.run, "--onnx", path, "--model", moved)
	write(t, other, string(tinyNetwork())+"\x00")
	m, err := graph.Read(tinyNetwork())
	if err != nil {
		t.Fatal(err)
	}
	m.Producer = "somebody else"
	write(t, other, string(m.Marshal()))
	s.refused(t, 1, "found sha256 "+models.Sum(m.Marshal())+", expected "+models.Sum(tinyNetwork()), "--onnx", path,
		"--model", other)
	s.refused(t, 1, "no model has this name and there is no such file", "--onnx", path, "--model", "nowhere.onnx")
	write(t, s.model, string(m.Marshal())) // the file that the store names is another model now
	s.refused(t, 1, "no model file with this sha256 is known here", "--onnx", path)
	mustCall(t, "models", "add", "--name", "tiny", "--preset", "caffe", "--crop", "16", moved)
	mustCall(t, "export", s.run, "--onnx", path) // the store's preprocessing is used, not the registry's
	s.refused(t, 1, "is read here", "--onnx", moved)
	if readFile(t, moved) != string(tinyNetwork()) {
		t.Error("the model was written over")
	}
}

func TestExportWithoutImages(t *testing.T) {
	s := newStudio(t)
	path, empty := filepath.Join(s.dir, "e.onnx"), t.TempDir()
	s.refused(t, 1, "--root "+empty+": none of the images to check on can be read", "--onnx", path, "--root", empty)
	s.refused(t, 1, filepath.Join(empty, "none")+": no such file", "--onnx", path, "--root",
		filepath.Join(empty, "none"))
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused export left a file")
	}
	moved := filepath.Join(s.dir, "moved")
	if err := os.Rename(s.images, moved); err != nil {
		t.Fatal(err)
	}
	text, stderr := mustCall(t, "export", s.run, "--onnx", path, "--check", "20")
	if !strings.Contains(text, "on 20 pictures of random pixels, as no image could be read (give --root)") ||
		!strings.Contains(stderr, "checking on random pixels") {
		t.Errorf("%s%s", text, stderr)
	}
	text, _ = mustCall(t, "export", s.run, "--onnx", path, "--root", moved, "--check", "1000")
	if !strings.Contains(text, "on 59 images") {
		t.Error(text)
	}
	// Manifests of which some or none of the images are in the store.
	some, none := filepath.Join(s.dir, "some.csv"), filepath.Join(s.dir, "none.csv")
	write(t, some, "path,label,split\nnew.png,a,test\n00.png,a,train\n")
	write(t, none, "path,label,split\nnew.png,a,test\n")
	if text, _ = mustCall(t, "export", s.run, "--onnx", path, "--root", moved, "--manifest",
		some); !strings.Contains(text, "on 1 images") {
		t.Error(text)
	}
	s.refused(t, 1, "the store has no readable image of the manifest", "--onnx", path, "--root", moved, "--manifest",
		none)
	// Other images than those of the features.
	files, err := filepath.Glob(filepath.Join(moved, "*.png"))
	if err != nil || len(files) != 60 {
		t.Fatal(files, err)
	}
	first, before := readFile(t, filepath.Join(moved, "00.png")), readFile(t, path)
	for i, f := range files {
		write(t, f, first)
		if i == 20 { // a third of them
			s.refused(t, 1, "from those of their stored features", "--onnx", path, "--root", moved)
		}
	}
	s.refused(t, 1, "compared look otherwise", "--onnx", path, "--root", moved)
	if readFile(t, path) != before {
		t.Error("a refused export changed the file")
	}
}

func TestExportMisuse(t *testing.T) {
	s := newStudio(t)
	here := func(name string) string { return filepath.Join(s.dir, name) }
	s.refused(t, 2, "name at least one of --npy, --npz, --safetensors, --fvecs, --csv, --tsv, --parquet, --onnx "+
		"FILE, --to URL")
	s.refused(t, 2, "--check: found 0", "--onnx", here("e.onnx"), "--check", "0")
	s.refused(t, 2, "--npy and --csv both write", "--npy", here("a"), "--csv", here("./a"))
	s.refused(t, 2, "both write", "--npy", here("a.npy"), "--csv", here("a.ids.csv"))
	s.refused(t, 2, "--fvecs and --csv both write", "--npy", here("b.npy"), "--fvecs", here("a.fvecs"), "--csv",
		here("a.ids.csv"))
	s.refused(t, 2, "--safetensors and --tsv both write", "--safetensors", here("a.safetensors"), "--tsv",
		here("a.ids.csv"))
	s.refused(t, 2, "winnow export takes one run folder, found 2 arguments", "more", "--csv", here("a"))
	s.refused(t, 1, "there is no folder "+here("none"), "--csv", here("none/a.csv"))
	s.refused(t, 1, "is a folder, expected a file", "--csv", s.images)
	manifest, matrix := readFile(t, s.manifest), readFile(t, s.store, "features.npy")
	s.refused(t, 1, "is read here", "--csv", s.manifest)
	s.refused(t, 1, "is read here", "--npy", filepath.Join(s.store, "features.npy"))
	s.refused(t, 1, "is read here", "--parquet", filepath.Join(s.run, folder.BestHeadFile))
	if readFile(t, s.manifest) != manifest || readFile(t, s.store, "features.npy") != matrix {
		t.Error("a refused export wrote over what it reads")
	}
	lost := s
	lost.run = here("none")
	lost.refused(t, 1, "holds no config.yaml, expected a folder that winnow train wrote", "--csv", here("a.csv"))
}

// On a full disk the old file is kept, and the error names it, not the temporary one.
func TestWriteExportFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "e.npy")
	write(t, path, "older")
	err := embedding.WriteWhole(path, func(w io.Writer) error {
		_, _ = w.Write([]byte("half"))
		return &os.PathError{Op: "write", Path: "temporary", Err: syscall.ENOSPC}
	})
	if err == nil || err.Error() != "export: writing "+path+": no space left on device" {
		t.Error(err)
	}
	if files, _ := os.ReadDir(filepath.Dir(path)); readFile(t, path) != "older" || len(files) != 1 {
		t.Errorf("the folder holds %v", files)
	}
}
