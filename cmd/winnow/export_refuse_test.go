package main

import (
	"os"
	"path/filepath"
	"testing"

	"winnow/backbone/graph"
	"winnow/features"
	"winnow/models"
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
