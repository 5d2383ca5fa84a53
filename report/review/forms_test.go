package review

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
)

// TestExportWithoutServer checks the corrected manifest in its own format and as CSV, depending on the extension, and
// the list of all decisions.
func TestExportWithoutServer(t *testing.T) {
	w := newWorld(t, 40)
	w.decide("t", 200, on(0, "relabel", other(w.list[0].Given), 0), on(1, "keep", "", 0), on(2, "drop", "", 0))
	dir := w.dir
	w.review.Decisions.Close()
	f := Files{Manifest: location.At(w.manifest), Out: filepath.Join(dir, "o.csv"), List: filepath.Join(dir, "d.csv")}
	e, err := Export(f)
	if err != nil || e.Rows != 39 || e.Relabelled != 1 || e.Dropped != 1 || e.Kept != 1 || e.Undecided != 37 {
		t.Fatalf("%+v, %v", e, err)
	}
	d, err := datasets.ReadFile(f.Out, datasets.ReadOptions{})
	if err != nil || len(d.Samples) != 39 || len(d.Columns) != 1 || d.Columns[0] != "photographer" {
		t.Fatalf("%v, columns %q", err, d.Columns)
	}
	for _, s := range d.Samples {
		if s.Path == w.list[2].Path || s.Path == w.list[0].Path && d.LabelName(s) != other(w.list[0].Given) {
			t.Errorf("%+v is %s", s, d.LabelName(s))
		}
	}
	if list := w.read("d.csv"); strings.Count(list, "\n") != 4 {
		t.Errorf("listed %s", list)
	}
	f.Audit = filepath.Join(dir, "suspects.csv")
	if err := suspects.WriteFile(f.Audit, w.list); err != nil {
		t.Fatal(err)
	}
	if e, err := Export(f); err != nil || e.Undecided != 33 { // the audit has 36 images, 3 are decided
		t.Errorf("%+v, %v", e, err)
	}
	if f.Decisions = filepath.Join(dir, "none.db"); true {
		if _, err := Export(f); err == nil || !strings.Contains(err.Error(), "none.db") {
			t.Errorf("without decisions: %v", err)
		}
	}
	if w.review.Decisions, err = nil, os.Remove(f.Out); err != nil {
		t.Error(err)
	}
	w.server.Close()
	w.open(nil)
}

// TestCheckOut checks which extensions are accepted as the manifest's own format, and which as CSV.
func TestCheckOut(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"m.csv": "path,label\na.jpg,x\n",
		"m.jsonl": `{"path": "a.jpg", "label": "x"}` + "\n", "coco.json": `{"images": [{"id": 1, "file_name": "a"}]}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		manifest, out, refused string
	}{
		{"m.csv", "o.csv", ""}, {"m.jsonl", "o.jsonl", ""}, {"m.jsonl", "o.csv", ""}, {"coco.json", "o.json", ""},
		{"coco.json", "o.csv", ""}, {"m.csv", "", ""}, {"m.csv", "o.json", "does not end in .csv"},
		{"coco.json", "o.jsonl", "does not end in .json"},
	} {
		err := Files{Manifest: location.At(dir).Join(c.manifest), Out: c.out}.CheckOut(nil)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
