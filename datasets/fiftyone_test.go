package datasets

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFiftyOne reads what WriteFile writes as FiftyOne's importer of FiftyOneImageClassificationDataset does by its
// documentation: it identifies a file below data_path by its path without the ending, and labels_path gives the
// number of its class, or null.
func TestFiftyOne(t *testing.T) {
	dir := t.TempDir()
	want := map[string]string{"train/cat.1/a.b.jpg": "cat.1", "train/dog/1.png": "dog", "train/dog/2.jpeg": "dog"}
	for name := range want {
		file := filepath.Join(dir, "data", name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := ReadFile(filepath.Join(dir, "data"), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	labels := filepath.Join(dir, "labels.json")
	if err := WriteFile(labels, d, nil); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(labels)
	if err != nil {
		t.Fatal(err)
	}
	var read struct {
		Classes []string        `json:"classes"`
		Labels  map[string]*int `json:"labels"`
	}
	if err := json.Unmarshal(text, &read); err != nil {
		t.Fatal(err)
	}
	found := 0
	err = fs.WalkDir(os.DirFS(filepath.Join(dir, "data")), ".", func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		found++
		target := read.Labels[strings.TrimSuffix(p, filepath.Ext(p))]
		if target == nil || read.Classes[*target] != want[p] {
			t.Errorf("%s: %v of %q, expected %s", p, target, read.Classes, want[p])
		}
		return nil
	})
	if err != nil || found != 3 || len(read.Labels) != 3 {
		t.Errorf("%v, %d files, %s", err, found, text)
	}
	none := &Dataset{Samples: []Sample{{Path: "a.jpg", Label: Unlabelled, True: Unlabelled, Split: Train}}}
	if err := WriteFile(labels, none, nil); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(labels); string(text) != `{"classes":[],"labels":{"a":null}}`+"\n" {
		t.Errorf("%s", text)
	}
	for paths, refused := range map[string]string{"a.jpg a.png": "differs in its ending only",
		"a.jpg#xywh=1,2,3,4": "is a crop"} {
		bad := &Dataset{}
		for _, p := range strings.Fields(paths) {
			bad.Samples = append(bad.Samples, Sample{Path: p, Label: Unlabelled, True: Unlabelled, Split: Train})
		}
		if err := WriteFile(labels, bad, nil); err == nil || !strings.Contains(err.Error(), refused) {
			t.Errorf("%q: %v, expected %q", paths, err, refused)
		}
	}
	if err := WriteFile(filepath.Join(dir, "x.labelstudio.json"), none, nil); err == nil ||
		!strings.Contains(err.Error(), "cannot be written here") {
		t.Error(err)
	}
}
