package models

import (
	"os"
	"path/filepath"
	"testing"

	"winnow/models/architecture"
)

// The best known backbone whose file exists wins, then the one that the user added last. Compiled-in networks
// and networks with random weights are never chosen.
func TestChoose(t *testing.T) {
	dir := t.TempDir()
	r, err := Open(filepath.Join(dir, "models.json"), dir)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want, wantWhy string) {
		t.Helper()
		if name, why, ok := r.Choose(); name != want || why != wantWhy || ok != (want != "") {
			t.Errorf("found %q (%s), %v, expected %q (%s)", name, why, ok, want, wantWhy)
		}
	}
	there := func(file string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	expect("", "")
	for _, name := range []string{"mine", "yours", "gone"} {
		if name != "gone" {
			there(name + ".onnx")
		}
		r.user = append(r.user, Entry{Name: name, File: filepath.Join(dir, name+".onnx"), SHA256: "0",
			Preprocessing: presets["imagenet"]})
	}
	expect("yours", "the last added of 2 installed backbones")
	if e, gone := r.Missing(); !gone || e.Name != "gone" {
		t.Errorf("found %q missing, %v", e.Name, gone)
	}
	network, err := architecture.Find("lenet")
	if err != nil {
		t.Fatal(err)
	}
	made := network.Model(1)
	if err := os.WriteFile(filepath.Join(dir, "gone.onnx"), made.Marshal(), 0o644); err != nil {
		t.Fatal(err)
	}
	expect("yours", "the last added of 3 installed backbones")
	made.Metadata = architecture.Trained(made.Metadata)
	if err := os.WriteFile(filepath.Join(dir, "gone.onnx"), made.Marshal(), 0o644); err != nil {
		t.Fatal(err)
	}
	expect("gone", "the last added of 3 installed backbones")
	there("squeezenet1.1.onnx")
	expect("squeezenet1.1", "the best known of 4 installed backbones")
	there("googlenet-bvlc.onnx")
	there("mobilenetv2-features.onnx")
	there("resnet50v2-stage3-features.onnx")
	expect("mobilenetv2-features", "the best known of 7 installed backbones")
	if e, gone := r.Missing(); gone {
		t.Errorf("found %q missing", e.Name)
	}
}
