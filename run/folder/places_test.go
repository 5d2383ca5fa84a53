package folder_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"winnow/run/config"
	"winnow/run/folder"
)

// Locate finds data that moved together with their run. It does not change edited entries, names that are not files,
// and runs without recorded places.
func TestLocate(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"a/m.csv", "a/net.onnx", "a/images/1.png", "a/run/none"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir("a")
	data := config.Data{Manifest: "m.csv", Root: "images", Model: "net.onnx"}
	places := folder.PlacesOf("run", data, "net.onnx")
	if len(places) != 4 {
		t.Errorf("places %v", places)
	}
	if got := folder.PlacesOf("run", config.Data{Manifest: "m.csv", Model: "glyphnet"}, ""); len(got) != 1 {
		t.Errorf("the name of a model has a place: %v", got)
	}
	if err := folder.Begin("run", config.Run{Data: data}, "", folder.Facts{Places: places}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename("../a", "../b"); err != nil {
		t.Fatal(err)
	}
	t.Chdir("..")
	if got, want := folder.Locate("b/run", data), (config.Data{Manifest: "b/m.csv", Root: "b/images",
		Model: "b/net.onnx"}); got != want {
		t.Errorf("found %+v, expected %+v", got, want)
	}
	edited := config.Data{Manifest: "other.csv", Features: "store"}
	if got := folder.Locate("b/run", edited); got != edited {
		t.Errorf("found %+v, expected %+v", got, edited)
	}
	r := &folder.Run{Dir: "b/run", Config: config.Run{Data: config.Data{Model: "net.onnx"}}}
	if files := r.BackboneFiles(); !slices.Contains(files, "b/net.onnx") {
		t.Errorf("backbones %v", files)
	}
	if err := os.WriteFile("b/run/"+folder.FactsFile, []byte(`{"manifest": "m.csv"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"b/run", "b", "none"} {
		if got := folder.Locate(dir, data); got != data {
			t.Errorf("%s: found %+v, expected %+v", dir, got, data)
		}
	}
}
