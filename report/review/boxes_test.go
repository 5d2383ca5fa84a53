package review

import (
	"bytes"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
)

// Crops become the rectangles of their pictures, with the suggested labels as predictions, and come back as decisions:
// kept, relabelled, deleted; by their ids or, where there are none, by where they are.
func TestBoxesThereAndBack(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 200, 100))); err != nil {
		t.Fatal(err)
	}
	write("p.png", picture.Bytes())
	write("q.png", picture.Bytes())
	paths := []string{"p.png#xywh=10:20:30:41&id=1", "p.png#xywh=50:20:30:40&id=2", "p.png#xywh=0:0:200:100&id=3",
		"q.png#xywh=7:7:7:7&id=1"}
	write("m.csv", []byte("path,label\n"+strings.Join(paths, ",heron\n")+",stork\n"))
	list := []suspects.Suspect{{Rank: 1, Path: paths[1], Given: "heron", Suggested: "stork", Dropped: true, Score: .1}}
	for i, p := range []string{paths[0], paths[2], paths[3]} {
		given := []string{"heron", "heron", "stork"}[i]
		list = append(list, suspects.Suspect{Rank: i + 2, Path: p, Given: given, Suggested: given, Dropped: true,
			Score: .5})
	}
	f := Files{Manifest: location.At(dir).Join("m.csv"), Audit: filepath.Join(dir, "suspects.csv"),
		Out: filepath.Join(dir, "tasks.labelstudio.json")}
	if err := suspects.WriteFile(f.Audit, list); err != nil {
		t.Fatal(err)
	}
	e, err := Export(f)
	if err != nil || e.Rows != 2 {
		t.Fatalf("%+v, %v", e, err)
	}
	if config, err := os.ReadFile(e.Studio.Config); err != nil || !strings.Contains(string(config),
		"<RectangleLabels name=\"label\" toName=\"image\">\n    <Label value=\"heron\"/>") {
		t.Errorf("%s, %v", config, err)
	}
	var tasks []map[string]any
	text, err := os.ReadFile(f.Out)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &tasks); err != nil {
		t.Fatal(err)
	}
	results := tasks[0]["predictions"].([]any)[0].(map[string]any)["result"].([]any)
	value := func(i int) map[string]any { return results[i].(map[string]any)["value"].(map[string]any) }
	if len(results) != 3 || value(0)["x"] != 5.0 || value(0)["height"] != 41.0 ||
		!cmp.Equal(value(1)["rectanglelabels"], []any{"stork"}) ||
		!cmp.Equal(value(2)["rectanglelabels"], []any{"heron"}) {
		t.Errorf("%v", results)
	}
	for i := range tasks {
		tasks[i]["id"] = i + 1
	}
	value(0)["rectanglelabels"] = []string{"crane"}
	tasks[0]["annotations"] = []any{map[string]any{"id": 1, "completed_by": 7, "result": results[:2]}}
	sent, err := json.Marshal(tasks)
	if err != nil {
		t.Fatal(err)
	}
	minimal, err := json.Marshal([]any{map[string]any{"id": 1, "annotator": 7, "annotation_id": 1, "image": "x",
		"boxes": tasks[0]["data"].(map[string]any)["boxes"], "label": []any{flat(results[0]), flat(results[1])}}})
	if err != nil {
		t.Fatal(err)
	}
	want := Taken{Control: "label", Reviewers: []string{"Label Studio 7"}, New: 3, Dropped: 1, Relabelled: 2,
		Strangers: []string{}, NewLabels: []string{"crane"}}
	for name, text := range map[string][]byte{"export.json": sent, "minimal.json": minimal} {
		write(name, text)
		f.Import, f.Decisions = filepath.Join(dir, name), filepath.Join(dir, name+".db")
		taken, err := Take(f)
		want.Path, want.Tasks, want.Open = f.Import, 1, 0
		if name == "export.json" {
			want.Tasks, want.Open = 2, 1
		}
		if diff := cmp.Diff(want, taken); err != nil || diff != "" {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		f.Out = filepath.Join(dir, "fixed.csv")
		if _, err := Export(f); err != nil {
			t.Fatal(err)
		}
		d, err := datasets.ReadFile(f.Out, datasets.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range d.Samples {
			got = append(got, s.Path+" "+d.LabelName(s))
		}
		if diff := cmp.Diff([]string{paths[0] + " crane", paths[1] + " stork", paths[3] + " stork"}, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// flat is a region as JSON_MIN has it.
func flat(result any) map[string]any {
	r := result.(map[string]any)
	out := r["value"].(map[string]any)
	out["original_width"], out["original_height"] = r["original_width"], r["original_height"]
	return out
}
