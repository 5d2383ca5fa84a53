package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/backbone/graph"
	"winnow/cmd/winnow/line"
	"winnow/cmd/winnow/term"
	"winnow/models"
)

// modelsRun runs winnow models.
func modelsRun(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	return call(t.Context(), append([]string{"models"}, args...)...)
}

// modelsFile writes a small classifier of images of 3×16×16 whose tensors are named after the name.
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

// TestModelsWrong checks that every misuse and every bad file gives one line and the documented exit code, and does not
// change the registry.
func TestModelsWrong(t *testing.T) {
	dir := t.TempDir()
	registry := filepath.Join(dir, "models.json")
	t.Setenv("WINNOW_MODELS", registry)
	t.Setenv("WINNOW_MODEL_DIRS", "")
	file := modelsFile(t, dir, "tiny")
	if code, _, errs := modelsRun(t, "add", file, "--name", "mine", "--preset", "imagenet"); code != 0 {
		t.Fatal(errs)
	}
	before, err := os.ReadFile(registry)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	half, text := filepath.Join(dir, "half.onnx"), filepath.Join(dir, "text.onnx")
	for path, data := range map[string][]byte{half: whole[:len(whole)/2], text: []byte("not a model at all")} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"show"}, 2, "found 0 arguments, expected one name or file"},
		{[]string{"show", "a", "b"}, 2, "found 2 arguments"},
		{[]string{"list", "x"}, 2, `found the argument "x"`},
		{[]string{"add", file, "--nme", "x"}, 2, "nme"},
		{[]string{"frobnicate"}, 2, "frobnicate"},
		{[]string{"add", file, "--name", "mine"}, 1, `name "mine" is taken`},
		{[]string{"add", half, "--name", "half"}, 1, "half.onnx: cut short"},
		{[]string{"show", half}, 1, "half.onnx: cut short"},
		{[]string{"add", text, "--name", "text"}, 1, "text.onnx: "},
		{[]string{"add", file, "--name", "two", "--preset", "imagine"}, 1,
			`preset "imagine" is unknown (did you mean "imagenet"?): known are`},
		{[]string{"add", file, "--name", "two", "--preset", "imagenet", "--output", "nothing"}, 1, `tensor "nothing"`},
		{[]string{"show", "nothing"}, 1, "no such file"},
		{[]string{"remove", "resnet50"}, 1, "winnow's own"},
	} {
		code, out, errs := modelsRun(t, c.args...)
		lines := 1
		if strings.Contains(c.want, ".onnx: ") {
			lines = 2 // what to do about a damaged file
		}
		if code != c.code || !strings.Contains(errs, c.want) || c.args[0] != "frobnicate" && c.code == 1 &&
			(out != "" || strings.Count(errs, "\n") != lines) {
			t.Errorf("%q: code %d, %q, %q, expected %d and %q", c.args, code, out, errs, c.code, c.want)
		}
	}
	if code, out, errs := modelsRun(t, "get", "dinov3-small"); code != 1 || out != "" ||
		!strings.Contains(errs, "if you accept it: winnow models get dinov3-small --accept-licence\n") {
		t.Errorf("get without its licence: code %d, %q, %q", code, out, errs)
	}
	after, err := os.ReadFile(registry)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the registry changed (%v)", err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*.tmp-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

func TestFlagsFirst(t *testing.T) {
	app := term.NewApp(commands(), os.Stdout, os.Stderr)
	for in, want := range map[string]string{
		"winnow models add F --name N":                "winnow models add --name N F",
		"winnow models add F --name=N --json":         "winnow models add --name=N --json F",
		"winnow models list --json":                   "winnow models list --json",
		"winnow --device cpu models show F --crop 5":  "winnow --device cpu models show --crop 5 F",
		"winnow -q models show F G --json":            "winnow -q models show --json F G",
		"winnow models show --json -- --name":         "winnow models show --json -- --name",
		"winnow models add F -- --name N":             "winnow models add F -- --name N",
		"winnow models show models":                   "winnow models show models",
		"winnow models add F --unknown G":             "winnow models add --unknown F G",
		"winnow models add --name":                    "winnow models add --name",
		"winnow":                                      "winnow",
		"winnow models show F --threads 2 --json -q":  "winnow --threads 2 -q models show --json F",
		"winnow extract --device=cpu --out O":         "winnow --device=cpu extract --out O",
		"winnow models --quiet list -h":               "winnow --quiet models list -h",
		"winnow models show -- --quiet":               "winnow models show -- --quiet",
		"winnow models add - --name N":                "winnow models add --name N -",
		"winnow models add F --mean 1,2,3 --exact -h": "winnow models add --mean 1,2,3 --exact -h",
		"winnow train --finetune":                     "winnow train --finetune=all",
		"winnow train --finetune --out O":             "winnow train --finetune=all --out O",
		"winnow train --finetune stage4 --out O":      "winnow train --finetune stage4 --out O",
		"winnow train --finetune=stage4":              "winnow train --finetune=stage4",
		"winnow train --finetune -h":                  "winnow train --finetune=all -h",
	} {
		if got := line.FlagsFirst(app, strings.Fields(in)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: found %s", in, strings.Join(got, " "))
		}
	}
}
