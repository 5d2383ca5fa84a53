package review

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/datasets/location"
)

// Decisions are exported in every form, chosen by the file's name or by the form's name.
func TestForms(t *testing.T) {
	f, list := shelf(t)
	decide(t, f, list)
	dir := f.Manifest.Parent().Path()
	want := map[string]string{list[0].Path: list[0].Suggested, list[1].Path: list[1].Given, list[3].Path: list[3].Given}
	for _, c := range []struct {
		out  string
		form Form
	}{
		{"fixed.csv", ""}, {"metadata.csv", ""}, {"metadata.jsonl", ""}, {"table.csv", Table},
		{"x.csv", imagefolder}, {"x.jsonl", imagefolder},
	} {
		g := f
		g.Out, g.Form = filepath.Join(dir, c.out), c.form
		e, err := Export(g)
		if err != nil || e.Rows != 39 || e.Relabelled != 1 {
			t.Errorf("%s: %+v, %v", c.out, e, err)
			continue
		}
		d, err := datasets.ReadFile(g.Out, datasets.ReadOptions{})
		if err != nil || len(d.Samples) != 39 || len(d.Columns) != 1 || d.Columns[0] != "photographer" {
			t.Errorf("%s: %v, columns %q", c.out, err, d.Columns)
			continue
		}
		for _, s := range d.Samples {
			if label, ok := want[s.Path]; ok && d.Classes[s.Label] != label || s.Path == list[2].Path {
				t.Errorf("%s: %+v is %s, expected %q", c.out, s, d.Classes[s.Label], label)
			}
		}
		text, _ := os.ReadFile(g.Out)
		if folder := strings.Contains(string(text[:80]), "file_name"); folder != (c.form == imagefolder ||
			strings.HasPrefix(c.out, "metadata")) {
			t.Errorf("%s begins with %s", c.out, text[:80])
		}
	}
	f.Out = filepath.Join(dir, "labels.json")
	if _, err := Export(f); err != nil {
		t.Fatal(err)
	}
	var labels struct {
		Classes []string
		Labels  map[string]*int
	}
	text, err := os.ReadFile(f.Out)
	if err == nil {
		err = json.Unmarshal(text, &labels)
	}
	key := strings.TrimSuffix(list[0].Path, ".png")
	if err != nil || len(labels.Labels) != 39 || labels.Labels[key] == nil ||
		labels.Classes[*labels.Labels[key]] != list[0].Suggested {
		t.Errorf("%v: %s", err, text)
	}
	f.Out = filepath.Join(dir, "issues.cleanlab.csv")
	if e, err := Export(f); err != nil || e.Rows != 36 {
		t.Fatal(e, err)
	}
	in, err := os.Open(f.Out)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rows, err := csv.NewReader(in).ReadAll()
	if err != nil || strings.Join(rows[0], ",") != "path,is_label_issue,label_score,given_label,suggested_label" {
		t.Fatal(err, rows[0])
	}
	for i, want := range []string{"true," + list[0].Suggested, "false," + list[1].Given,
		"true," + list[2].Suggested, "true," + list[3].Suggested} {
		if got := rows[i+1][1] + "," + rows[i+1][4]; got != want || rows[i+1][0] != list[i].Path {
			t.Errorf("%v, expected %s", rows[i+1], want)
		}
	}
}

func TestFormOf(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"m.csv": "path,label\na.jpg,x\n",
		"m.jsonl": `{"path": "a.jpg", "label": "x"}` + "\n", "coco.json": `{"images": [{"id": 1, "file_name": "a"}]}`,
		"metadata.csv": "file_name,label\na.jpg,x\n"}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		manifest, out string
		form, want    Form
		refused       string
	}{
		{"m.csv", "o.csv", "", InPlace, ""},
		{"m.jsonl", "o.jsonl", "", InPlace, ""},
		{"m.jsonl", "o.csv", "", Table, ""},
		{"coco.json", "o.json", "", InPlace, ""},
		{"coco.json", "labels.json", "", InPlace, ""},
		{"coco.json", "o.csv", "", Table, ""},
		{"coco.json", "o.labelstudio.json", "", labelStudio, ""},
		{"m.csv", "labels.json", "", fiftyOne, ""},
		{"m.csv", "O.CLEANLAB.csv", "", cleanlab, ""},
		{"metadata.csv", "below/metadata.csv", "", InPlace, ""},
		{"m.csv", "metadata.csv", "", imagefolder, ""},
		{"m.csv", "o", fiftyOne, fiftyOne, ""},
		{"m.csv", "", "", "", ""},
		{"m.csv", "o.json", "", "", `"o.json" does not end in .csv: the corrected manifest has the form of`},
		{"coco.json", "o.jsonl", "", "", `does not end in .json or .csv`},
		{"m.csv", "o.csv", "excel", "", `form: "excel" is unknown, expected one of [manifest csv imagefolder fiftyone`},
	} {
		got, err := Files{Manifest: location.At(dir).Join(c.manifest), Out: c.out, Form: c.form}.FormOf()
		if got != c.want || (err == nil) != (c.refused == "") || err != nil &&
			!strings.Contains(err.Error(), c.refused) {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

func TestFormsRefuse(t *testing.T) {
	f, _ := shelf(t)
	dir := f.Manifest.Parent().Path()
	f.Audit, f.Out = "", filepath.Join(dir, "x.cleanlab.csv")
	if err := os.WriteFile(f.decisionsFile(), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Export(f); err == nil || !strings.Contains(err.Error(), "name the file of suspects") {
		t.Error(err)
	}
	f.Out, f.Root = filepath.Join(dir, "x.labelstudio.json"), location.At(t.TempDir())
	if _, err := Export(f); err == nil || !strings.Contains(err.Error(), "Label Studio shows files of a folder") {
		t.Error(err)
	}
	if _, err := os.Stat(f.Out); err == nil {
		t.Error("a part was written")
	}
	if err := os.WriteFile(f.Manifest.Path(), []byte("path,label\n\"images/00/Photo 0000.png#xywh=1,2,3,4\",x\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	f.Root = location.At(dir)
	if _, err := Export(f); err == nil || !strings.Contains(err.Error(), "Photo 0000.png: its size, which the boxes need") {
		t.Error(err)
	}
}

// The server sends every form and refuses unknown names.
func TestDownloadForms(t *testing.T) {
	w := newWorld(t, 40)
	for path, want := range map[string]string{
		"/api/export.csv":                  "path,label,split,photographer\n",
		"/api/export.csv?form=csv":         "path,label,split,photographer\n",
		"/api/export.csv?form=imagefolder": "file_name,label,split,photographer\n",
		"/api/export.csv?form=fiftyone":    `{"classes":["class a"`,
		"/api/export.csv?form=cleanlab":    "path,is_label_issue,",
		"/api/labelstudio.xml":             "<View>\n",
	} {
		if status, text := w.ask("GET", path, "", nil); status != http.StatusOK || !strings.HasPrefix(text, want) {
			t.Errorf("%s: %d, %.200s", path, status, text)
		}
	}
	if status, text := w.ask("GET", "/api/export.csv?form=excel", "", nil); status != http.StatusBadRequest ||
		!strings.Contains(text, "is unknown") {
		t.Errorf("%d, %s", status, text)
	}
}
