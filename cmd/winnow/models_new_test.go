package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/models"
	"winnow/models/architecture"
)

// TestModelsNew makes networks and finds them by name; the same seed gives the same bytes.
func TestModelsNew(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("WINNOW_MODELS", filepath.Join(dir, "registry", "models.json"))
	t.Setenv("WINNOW_MODEL_DIRS", "")
	code, out, errs := modelsRun(t, "new", "digits", "--arch", "lenet")
	made := filepath.Join(dir, "registry", "digits.onnx")
	if code != 0 || errs != "" || !strings.HasPrefix(out, "made digits: "+made+", 635320 parameters drawn with seed "+
		"1, feature features of 500 numbers, resize to 28×28") {
		t.Fatalf("code %d, %q, %q", code, out, errs)
	}
	code, out, errs = modelsRun(t, "show", "digits", "--json")
	var report models.Report
	if err := json.Unmarshal([]byte(out), &report); err != nil || code != 0 || errs != "" {
		t.Fatalf("show: code %d, %v, %q", code, err, errs)
	}
	if !report.Found || report.Feature == nil || report.Feature.Dim != 500 || report.Preprocessing.Scale != 1./256 ||
		len(report.Problems) > 0 {
		t.Errorf("show: found %+v", report)
	}

	for _, again := range []string{"a", "b"} {
		if code, _, errs = modelsRun(t, "new", again, "--arch", "cifar_resnet8", "--seed", "7", "--out",
			filepath.Join(dir, again)); code != 0 {
			t.Fatal(errs)
		}
	}
	code, _, errs = modelsRun(t, "new", "c", "--arch", "cifar_resnet8", "--seed", "8", "--out", filepath.Join(dir, "c"))
	if code != 0 {
		t.Fatal(errs)
	}
	files := map[string]string{}
	for _, name := range []string{"a", "b", "c"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(data)
	}
	if files["a"] != files["b"] || files["a"] == files["c"] {
		t.Error("the same seed gave another file, or another seed the same")
	}

	// A network that was removed from the registry can be made again if its file has the same bytes.
	if code, _, errs = modelsRun(t, "remove", "digits"); code != 0 {
		t.Fatal(errs)
	}
	if code, _, errs = modelsRun(t, "new", "digits", "--arch", "lenet", "--seed", "2"); code != 1 ||
		!strings.Contains(errs, "exists with sha256") {
		t.Errorf("code %d, %q, expected that the other file is kept", code, errs)
	}
	if code, _, errs = modelsRun(t, "new", "digits", "--arch", "lenet"); code != 0 {
		t.Error(errs)
	}
}

func TestModelsArchitectures(t *testing.T) {
	code, out, _ := modelsRun(t, "architectures")
	for _, want := range []string{"NAME ", "\nlenet ", "\nglyphnet ", "\nconvnet4 ", "1×28×28", "\ncifar_resnet "} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("code %d, no %q in\n%s", code, want, out)
		}
	}
	code, out, _ = modelsRun(t, "architectures", "--json")
	var list []architecture.Network
	if err := json.Unmarshal([]byte(out), &list); err != nil || code != 0 || len(list) != 6 || list[0].Dim != 64 ||
		list[0].Parameters == 0 {
		t.Errorf("code %d, %v, found %+v", code, err, list)
	}
}

func TestModelsNewWrong(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("WINNOW_MODELS", filepath.Join(dir, "models.json"))
	t.Setenv("WINNOW_MODEL_DIRS", "")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"new", "--arch", "lenet"}, 2, "found 0 arguments, expected one name"},
		{[]string{"new", "x"}, 2, "--arch missing"},
		{[]string{"new", "x", "--arch", "lenett"}, 1, `"lenett" is unknown (did you mean "lenet"?): known are`},
		{[]string{"new", "../x", "--arch", "lenet"}, 1, "expected a word without spaces, slashes"},
		{[]string{"new", "glyphnet", "--arch", "glyphnet"}, 1, `name "glyphnet" is taken`},
		{[]string{"architectures", "a"}, 2, "expected none"},
	} {
		code, out, errs := modelsRun(t, c.args...)
		if code != c.code || !strings.Contains(errs, c.want) || out != "" {
			t.Errorf("%q: code %d, %q, %q, expected %d and %q", c.args, code, out, errs, c.code, c.want)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*")); err != nil || len(left) > 1 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}
