package review

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/audit/suspects"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/report/review/decisions"
)

// shelf is a manifest of 40 images with an audit of 36 of them, and files in the images' places.
func shelf(t testing.TB) (Files, []suspects.Suspect) {
	t.Helper()
	dir := t.TempDir()
	text, list := made(40, rand.New(rand.NewPCG(1, 2)))
	f := Files{Manifest: location.At(dir).Join("m.csv"), Audit: filepath.Join(dir, "suspects.csv")}
	files := map[string]string{f.Manifest.Path(): text}
	for i := range 40 {
		files[filepath.Join(dir, pathOf(i))] = "x"
	}
	for name, data := range files {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range list { // each suspect has a suggestion of its own, but for the last
		list[i].Suggested = "class " + string(rune('a'+(int(list[i].Given[6]-'a')+1)%4))
	}
	list[11].Suggested = list[11].Given
	if err := suspects.WriteFile(f.Audit, list); err != nil {
		t.Fatal(err)
	}
	return f, list
}

// decide makes Ann's decisions about suspects: relabelled, kept, dropped, unsure.
func decide(t testing.TB, f Files, list []suspects.Suspect) {
	t.Helper()
	s, err := decisions.Open(f.decisionsFile())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var changes []decisions.Change
	for i, action := range []decisions.Action{decisions.Relabel, decisions.Keep, decisions.Drop, decisions.Unsure} {
		c := decisions.Change{Path: list[i].Path, Given: list[i].Given, Action: action}
		if action == decisions.Relabel {
			c.Label = list[i].Suggested
		}
		changes = append(changes, c)
	}
	if _, err := s.Decide(decisions.Author{Reviewer: "Ann"}, changes); err != nil {
		t.Fatal(err)
	}
}

// studioTask is a task as Label Studio's documentation has it.
type studioTask struct {
	ID          int              `json:"id"`
	Data        map[string]any   `json:"data"`
	Annotations []map[string]any `json:"annotations"`
	Predictions []struct {
		Version string           `json:"model_version"`
		Score   *float64         `json:"score"`
		Result  []map[string]any `json:"result"`
	} `json:"predictions"`
}

func chosen(control string, values ...string) []map[string]any {
	return []map[string]any{{"id": "x1", "from_name": control, "to_name": "image", "type": "choices",
		"value": map[string]any{"choices": values}}}
}

// Tasks are exported, annotated as Label Studio would store it, and come back as decisions.
func TestLabelStudioThereAndBack(t *testing.T) {
	f, list := shelf(t)
	decide(t, f, list)
	f.Out = filepath.Join(f.Manifest.Parent().Path(), "tasks.labelstudio.json")
	e, err := Export(f)
	if err != nil {
		t.Fatal(err)
	}
	root := f.Manifest.Parent().Path()
	if e.Rows != 13 || e.Relabelled != 1 || e.Dropped != 1 || e.Kept != 1 || e.Studio == nil ||
		e.Studio.Storage != root || e.Studio.Environment[documentRoot] != filepath.Dir(root) ||
		e.Studio.Environment[servingEnabled] != "true" {
		t.Errorf("%+v, %+v", e, e.Studio)
	}
	for _, want := range []string{servingEnabled + "=true", documentRoot + "=" + filepath.Dir(root), e.Studio.Config} {
		if !strings.Contains(e.Text(), want) {
			t.Errorf("%s\nexpected %s", e.Text(), want)
		}
	}
	var tasks []studioTask
	text, err := os.ReadFile(f.Out)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &tasks); err != nil || len(tasks) != 13 {
		t.Fatal(len(tasks), err)
	}
	checkTasks(t, tasks, list, filepath.Base(root))
	checkConfig(t, e.Studio.Config)
	f.Import = filepath.Join(root, "export.json")
	f.Out = filepath.Join(root, "fixed.csv")
	if err := os.WriteFile(f.Import, annotate(t, tasks, list), 0o600); err != nil {
		t.Fatal(err)
	}
	f.Audit = ""
	taken, err := Take(f)
	if err != nil {
		t.Fatal(err)
	}
	want := Taken{Path: f.Import, Tasks: 14, Control: "label",
		Reviewers: []string{"Label Studio 7",
			"bob@example.com"}, New: 7, Kept: 2, Dropped: 1, Relabelled: 2, Unsure: 2, Sent: 3, Open: 4,
		Strangers: []string{"99"}, NewLabels: []string{"class z"}}
	if diff := cmp.Diff(want, taken); diff != "" {
		t.Error(diff)
	}
	e, err = Export(f)
	if err != nil || e.Dropped != 2 || e.Relabelled != 2 || e.Kept != 2 || e.Disagreed != 1 || e.Unsure != 3 {
		t.Errorf("%+v, %v", e, err)
	}
	d, err := datasets.ReadFile(f.Out, datasets.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range d.Samples {
		got[s.Path] = d.Classes[s.Label]
	}
	for i, want := range []string{list[0].Suggested, list[1].Given, "", list[3].Given, list[4].Given, "class z", "",
		list[7].Given, list[8].Given, list[9].Given} {
		if got[list[i].Path] != want {
			t.Errorf("suspect %d: %q, expected %q", i, got[list[i].Path], want)
		}
	}
	again, err := Take(f)
	if want.New = 0; err != nil || !cmp.Equal(want, again) {
		t.Errorf("again: %+v, %v", again, err)
	}
}

func checkTasks(t *testing.T, tasks []studioTask, list []suspects.Suspect, root string) {
	t.Helper()
	for i, task := range tasks[:13] {
		e := list[i]
		if want := "/data/local-files/?d=" + strings.ReplaceAll(root+"/"+e.Path, " ",
			"%20"); task.Data["image"] != want || task.Data["path"] != e.Path ||
			task.Data["given_label"] != e.Given || task.Data["rank"] != float64(e.Rank) {
			t.Errorf("task %d: %+v, expected %q", i, task.Data, want)
		}
		if i == 11 {
			if len(task.Predictions) > 0 {
				t.Errorf("the given label is suggested: %+v", task.Predictions)
			}
			continue
		}
		p := task.Predictions[0]
		value := fmt.Sprint(p.Result[0]["value"])
		if !strings.HasPrefix(p.Version, "winnow suspects.csv ") || p.Score == nil ||
			*p.Score-*e.SuggestedScore > 1e-5 || value != fmt.Sprintf("map[choices:[%s]]", e.Suggested) ||
			p.Result[0]["from_name"] != "label" || p.Result[0]["to_name"] != "image" ||
			p.Result[0]["type"] != "choices" {
			t.Errorf("task %d: %+v", i, p)
		}
		if (len(task.Annotations) > 0) != (i < 3) {
			t.Errorf("task %d: annotations %v", i, task.Annotations)
		}
	}
}

// checkConfig reads the labelling configuration.
func checkConfig(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type choice struct {
		Value string `xml:"value,attr"`
	}
	var view struct {
		Image struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		}
		Choices []struct {
			Name   string   `xml:"name,attr"`
			To     string   `xml:"toName,attr"`
			Choice []choice `xml:"Choice"`
		}
	}
	if err := xml.Unmarshal(text, &view); err != nil {
		t.Fatal(err)
	}
	if view.Image.Name != "image" || view.Image.Value != "$image" || len(view.Choices) != 2 ||
		view.Choices[0].Name != "label" || view.Choices[0].To != "image" || len(view.Choices[0].Choice) != 4 ||
		view.Choices[0].Choice[0].Value != "class a" || len(view.Choices[1].Choice) != 1 {
		t.Errorf("%+v of\n%s", view, text)
	}
}

// annotate makes of tasks the export in which 7 and Bob have annotated some.
func annotate(t *testing.T, tasks []studioTask, list []suspects.Suspect) []byte {
	t.Helper()
	for i := range tasks {
		tasks[i].ID = 100 + i
		for k := range tasks[i].Annotations {
			tasks[i].Annotations[k]["id"], tasks[i].Annotations[k]["completed_by"] = 500+i, 1
		}
	}
	add := func(i int, by any, cancelled bool, result []map[string]any) {
		tasks[i].Annotations = append(tasks[i].Annotations,
			map[string]any{"id": 600 + i, "completed_by": by, "was_cancelled": cancelled, "result": result,
				"updated_at": "2024-05-01T10:00:00Z"})
	}
	add(4, 7, false, chosen("label", list[4].Given))
	add(5, 7, false, chosen("label", "class z"))
	add(6, 7, false, chosen("winnow", "drop this image"))
	add(7, 7, true, nil)
	add(8, 7, false, chosen("label", "class a", "class b"))
	add(9, 7, false, chosen("label", list[9].Given))
	add(9, map[string]any{"id": 8, "email": "bob@example.com"}, false, chosen("label", list[9].Suggested))
	tasks = append(tasks, studioTask{ID: 99, Data: map[string]any{"image": "/data/local-files/?d=other/1.png"}})
	text, err := json.Marshal(tasks)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// An export of a project that winnow did not make names files, before which the document root stands.
func TestTakeByFile(t *testing.T) {
	f, _ := shelf(t)
	f.Import = filepath.Join(t.TempDir(), "min.json")
	for _, text := range []string{"PATH,label\n", "{}", `[{"id": `} {
		if err := os.WriteFile(f.Import, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Take(f); err == nil || !strings.Contains(err.Error(), f.Import) {
			t.Errorf("%q: %v, expected an error that names the file", text, err)
		}
		if _, err := os.Stat(f.decisionsFile()); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("%q: %s was begun, %v", text, f.decisionsFile(), err)
		}
	}
	annotated := func(image string, id int, choice string) string {
		return fmt.Sprintf(`{"image": %q, "id": %d, "choice": %q, "annotator": 1, "annotation_id": 1}`,
			image, id, choice)
	}
	for text, want := range map[string]string{
		`[` + annotated("/data/local-files/?d=shelf/"+pathOf(0), 1, "class b") + `, ` +
			annotated("/data/local-files/?d=shelf/"+pathOf(1), 2, "class b") + `]`: "",
		`[` + annotated(pathOf(0), 1, "a") + `, ` + annotated(pathOf(0), 2, "a") + `]`: "task 2: is about",
		`[` + annotated("nix.png", 1, "a") + `]`:                                       "none of its 1 tasks is about",

		"path,label\n": "is not JSON; expected a list of tasks",
		`{}`:           "expected a list of tasks",
	} {
		if err := os.WriteFile(f.Import, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		taken, err := Take(f)
		if want == "" && (err != nil || taken.Kept != 1 || taken.Relabelled != 1 || taken.Control != "choice") {
			t.Errorf("%+v, %v", taken, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

func FuzzTake(f *testing.F) {
	files, list := shelf(f)
	made, err := decisions.Open(files.decisionsFile())
	if err != nil {
		f.Fatal(err)
	}
	defer made.Close()
	d, err := datasets.Read(files.Manifest, datasets.ReadOptions{})
	if err != nil {
		f.Fatal(err)
	}
	path, err := json.Marshal(list[0].Path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(fmt.Sprintf(`[{"id": 1, "data": {"path": %s}, "annotations": [{"completed_by": 1, "result": [
		{"from_name": "label", "type": "choices", "value": {"choices": ["class b"]}}]}]}]`, path)))
	f.Add([]byte(fmt.Sprintf(`[{"image": %s, "id": 1, "choice": "class b", "annotator": 1, "annotation_id": 1}]`,
		path)))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := New(Config{ManifestFile: files.Manifest, Manifest: d, Decisions: made})
		if err != nil {
			t.Fatal(err)
		}
		taken, err := r.takeAnswers(bytes.NewReader(data), "e.json")
		if err == nil && taken.New > taken.Kept+taken.Dropped+taken.Relabelled+taken.Unsure {
			t.Fatalf("%+v", taken)
		}
		if r, err = New(Config{ManifestFile: files.Manifest, Manifest: d, Decisions: made}); err != nil {
			t.Fatalf("what was taken cannot be read: %v", err)
		}
		if err := r.writeList(io.Discard); err != nil {
			t.Fatal(err)
		}
	})
}

// BenchmarkMillionStudio exports a million images to Label Studio and imports a million annotations, of which one in a
// hundred relabels. It takes long: -bench MillionStudio -benchtime 1x
func BenchmarkMillionStudio(b *testing.B) {
	full, _ := million(b)
	r, err := New(Config{ManifestFile: location.At("m.csv"), Manifest: full.Manifest, Decisions: full.Decisions,
		Root: location.At(b.TempDir())})
	if err != nil {
		b.Fatal(err)
	}
	first := r.Root.Join(r.Manifest.Samples[0].Path).Path()
	if err := os.MkdirAll(filepath.Dir(first), 0o755); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(first, nil, 0o600); err != nil {
		b.Fatal(err)
	}
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			if e, err := r.writeTasks(io.Discard); err != nil || e.Rows != 1_000_000 {
				b.Fatal(e, err)
			}
		}
	})
	var text bytes.Buffer
	for i := range r.Manifest.Samples {
		label := r.Manifest.Samples[i].Label
		if i%100 == 0 {
			label = (label + 1) % len(r.Manifest.Classes)
		}
		fmt.Fprintf(&text, `%s{"id": %d, "data": {"image": "/data/local-files/?d=x", "path": %q}, "annotations": [
			{"id": 1, "completed_by": %d, "was_cancelled": false, "updated_at": "2024-05-01T10:00:00Z", "result": [
			{"from_name": "label", "to_name": "image", "type": "choices", "value": {"choices": [%q]}}]}]}`,
			map[bool]string{true: "[", false: ",\n"}[i == 0], i, r.Manifest.Samples[i].Path, i%5,
			r.Manifest.Classes[label])
	}
	text.WriteString("]")
	b.Run("take", func(b *testing.B) {
		for b.Loop() {
			if taken, err := r.takeAnswers(bytes.NewReader(text.Bytes()), "e.json"); err != nil ||
				taken.Relabelled != 10_000 {
				b.Fatal(taken, err)
			}
		}
	})
}
