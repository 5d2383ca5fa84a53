package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// annotated is an annotation as Label Studio exports it, made after https://labelstud.io/guide/task_format.
func annotated(id, user int, at, more string, choices ...string) string {
	result := []any{}
	if len(choices) > 0 {
		result = append(result,
			map[string]any{"value": map[string]any{"choices": choices}, "id": fmt.Sprintf("r%d", id),
				"from_name": "kind", "to_name": "img", "type": "choices", "origin": "manual"})
	}
	text, err := json.Marshal(result)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"id": %d, "completed_by": %d, "result": %s, "was_cancelled": false, "ground_truth": false,`+
		` "created_at": "2024-05-01T10:00:00Z", "updated_at": "%s", "lead_time": 3.5%s}`, id, user, text, at, more)
}

// exported is a task with its annotations.
func exported(id int, data string, annotations ...string) string {
	return fmt.Sprintf(`{"id": %d, "annotations": [%s], "file_upload": null, "drafts": [], "predictions": [], `+
		`"data": %s, "meta": {}, "created_at": "2024-05-01T09:00:00Z", "inner_id": %[1]d, "total_annotations": 1, `+
		`"cancelled_annotations": 0, "project": 4}`,
		id, strings.Join(annotations, ", "), data)
}

func pictureTask(path string) string {
	return fmt.Sprintf(`{"image": %q, "camera": "A7"}`, path)
}

// export is an export with every case that has a rule.
var export = "[" + strings.Join([]string{
	exported(11, pictureTask("/data/local-files/?d=photos/h%C3%A9ron%2017.jpg"),
		annotated(1, 1, "2024-05-01T10:00:00Z", "", "heron")),
	exported(12, pictureTask("/data/upload/4/3ffb2de1-stork.jpg"), annotated(2, 1, "2024-05-01T10:00:00Z", "",
		"stork")),
	exported(13, pictureTask("http://localhost:8080/data/local-files/?d=photos/3.jpg"),
		annotated(3, 1, "2024-05-01T10:00:00Z", "", "stork", "heron")),
	exported(14, pictureTask("photos/4.jpg"), annotated(4, 1, "2024-05-01T10:00:00Z", `, "was_cancelled": true`)),
	exported(15, pictureTask("photos/5.jpg")),
	exported(16, pictureTask("photos/6.jpg"), annotated(5, 1, "2024-05-01T10:00:00Z", "", "stork"),
		annotated(6, 2, "2024-05-01T10:00:00Z", "", "heron")),
	exported(17, pictureTask("photos/7.jpg"), annotated(7, 1, "2024-05-01T10:00:00Z", "", "stork"),
		annotated(8, 2, "2024-05-01T10:00:00Z", "", "heron"), annotated(9, 3, "2024-05-01T10:00:00Z", "", "heron")),
	exported(18, pictureTask("photos/8.jpg"), annotated(10, 1, "2024-05-02T10:00:00Z", "", "heron"),
		annotated(11, 1, "2024-05-01T10:00:00Z", "", "stork")),
	exported(19, pictureTask("photos/9.jpg"), annotated(12, 1, "2024-05-01T10:00:00Z", "", "stork"),
		annotated(13, 2, "2024-05-01T10:00:00Z", `, "ground_truth": true`, "heron")),
	exported(20, `{"image": "photos/10.jpg", "split": "test"}`,
		strings.Replace(annotated(14, 1, "2024-05-01T10:00:00Z", "", "drop this image"), `"kind"`, `"winnow"`, 1)),
	exported(21, `{"image": "photos/11.jpg", "split": "test", "true_label": "stork", "other": {"a": [1]}}`,
		annotated(15, 1, "2024-05-01T10:00:00Z", "", "heron")),
}, ",\n") + "]"

func TestLabelStudio(t *testing.T) {
	var notes []string
	d, err := ReadManifest(strings.NewReader(export), "export.json",
		ReadOptions{Note: func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteCSV(&out, d); err != nil {
		t.Fatal(err)
	}
	want := `path,label,split,true_label,task_id
photos/héron 17.jpg,heron,train,,11
upload/4/3ffb2de1-stork.jpg,stork,train,,12
photos/3.jpg,,train,,13
photos/4.jpg,,train,,14
photos/5.jpg,,train,,15
photos/6.jpg,,train,,16
photos/7.jpg,heron,train,,17
photos/8.jpg,heron,train,,18
photos/9.jpg,heron,train,,19
photos/11.jpg,heron,test,stork,21
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], `labels by the choices of "kind"`) {
		t.Errorf("noted %q", notes)
	}
}

func FuzzLabelStudio(f *testing.F) {
	f.Add([]byte(export))
	f.Add([]byte(`[{"id": "x", "data": {"image": "/data/upload/1/a.jpg"}, "completions": [{"completed_by": ` +
		`{"email": "a@b"}, "skipped": true, "result": [{"type": "choices", "value": {"choices": "x"}}]}]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ReadManifest(bytes.NewReader(data), "m", ReadOptions{Format: LabelStudio})
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := WriteCSV(&out, d); err != nil {
			t.Fatal(err)
		}
		for i := range d.Samples {
			if s := &d.Samples[i]; len(s.Extra) != len(d.Columns) || s.Path == "" || s.Split == "" {
				t.Fatalf("%+v of columns %q", s, d.Columns)
			}
		}
	})
}
