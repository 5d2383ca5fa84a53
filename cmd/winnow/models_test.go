package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/models"
)

// modelsRun runs winnow models.
func modelsRun(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return call(t.Context(), append([]string{"models"}, args...)...)
}

// modelsFile writes a small classifier of 3×16×16 images whose tensor names contain name.
func modelsFile(t *testing.T, dir, name string) string {
	t.Helper()
	b := graph.NewBuilder(name, 13)
	x := b.Input("image", graph.Float32, graph.Shape{graph.Free("N"), graph.Fixed(3), graph.Fixed(16), graph.Fixed(16)})
	w := make([]float32, 4*3*9)
	c := b.Node("Conv", []string{x, b.Constant(graph.NewTensor("w", w, 4, 3, 3, 3))})
	pooled := b.NodeTo(name+"_pooled", "Flatten", []string{b.Node("GlobalAveragePool", []string{c})})
	b.Output(b.NodeTo("logits", "Gemm", []string{pooled, b.Constant(graph.NewTensor("fc", w[:12], 4, 3))}))
	path := filepath.Join(dir, name+".onnx")
	if err := os.WriteFile(path, b.Model().Marshal(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestModels adds a backbone, lists it, shows it and removes it.
func TestModels(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("WINNOW_MODELS", filepath.Join(dir, "models.json"))
	t.Setenv("WINNOW_MODEL_DIRS", dir)
	file := modelsFile(t, dir, "tiny")

	code, out, errs := modelsRun(t, "add", file, "--name", "mine", "--preset", "caffe", "--mean", "1,2,3")
	if code != 0 || errs != "" || !strings.HasPrefix(out, "added mine: "+file+", feature tiny_pooled of 4 numbers, "+
		"resize the shorter side to 18") {
		t.Fatalf("add: code %d, %q, %q", code, out, errs)
	}
	code, out, _ = modelsRun(t, "list")
	if code != 0 || !strings.Contains(out, "\nmine ") || !strings.Contains(out, "BGR 16×16") || !strings.Contains(out,
		"\nresnet50 ") {
		t.Errorf("list: code %d\n%s", code, out)
	}
	code, out, _ = modelsRun(t, "list", "--json")
	var list []struct {
		Name       string
		Own, Found bool
		Path       string
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 {
		t.Fatalf("list --json: code %d, %v", code, err)
	}
	if last := list[len(list)-1]; last.Name != "mine" || !last.Own || !last.Found || last.Path != file {
		t.Errorf("list --json: found %+v", last)
	}
	for _, name := range []string{"mine", file} {
		code, out, errs = modelsRun(t, "show", name, "--json")
		var report models.Report
		if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 || errs != "" {
			t.Fatalf("show --json: code %d, %v, %q", code, err, errs)
		}
		if report.Name != "mine" || report.Feature == nil || report.Feature.Dim != 4 ||
			report.Preprocessing.Mean != [3]float32{1, 2, 3} || report.Structure.Parameters != 120 {
			t.Errorf("show --json: found %+v", report)
		}
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	code, out, _ = modelsRun(t, "show", "--output", "Conv", "mine")
	for _, want := range []string{"feature  Conv, 4 numbers", "input    image float32 [N,3,16,16]",
		"mean [1 2 3]", "sha256   " + models.Sum(data)} {
		if code != 0 || !strings.Contains(out, "\n"+want) && !strings.Contains(out, ", "+want) {
			t.Errorf("show: code %d, no %q in\n%s", code, want, out)
		}
	}
	if code, out, _ = modelsRun(t, "remove", "mine"); code != 0 || !strings.HasPrefix(out, "removed mine from ") {
		t.Errorf("remove: code %d, %q", code, out)
	}
	if code, out, errs = modelsRun(t, "show", file); code != 0 || !strings.Contains(errs, "ImageNet's is assumed") ||
		!strings.Contains(out, "\nfeature ") {
		t.Errorf("show of an unknown file: code %d, %q\n%s", code, errs, out)
	}
}
