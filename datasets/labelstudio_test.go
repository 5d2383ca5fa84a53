package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// annotated returns an annotation as exported by Label Studio, following https://labelstud.io/guide/task_format.
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

// exported returns a task with its annotations.
func exported(id int, data string, annotations ...string) string {
	return fmt.Sprintf(`{"id": %d, "annotations": [%s], "file_upload": null, "drafts": [], "predictions": [], `+
		`"data": %s, "meta": {}, "created_at": "2024-05-01T09:00:00Z", "inner_id": %[1]d, "total_annotations": 1, `+
		`"cancelled_annotations": 0, "project": 4}`,
		id, strings.Join(annotations, ", "), data)
}

func pictureTask(path string) string {
	return fmt.Sprintf(`{"image": %q, "camera": "A7"}`, path)
}

// export is an export with one task for each rule.
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
	wantNotes := []string{
		`export.json: read as tasks of Label Studio, images by "image", labels by the choices of "kind"; ` +
			`tasks on which no majority of annotators agrees: 4`,
	}
	if diff := cmp.Diff(wantNotes, notes); diff != "" {
		t.Error(diff)
	}
}

// The labels come from the only control, a control with a common name, or a named control or data key.
func TestLabelStudioControls(t *testing.T) {
	of := func(control, value string) string {
		return strings.Replace(annotated(1, 1, "2024", "", value), `"kind"`, fmt.Sprintf("%q", control), 1)
	}
	both := func(a, b string) string { // one annotation with both controls
		_, result, _ := strings.Cut(of(b, "good"), `"result": [`)
		result, _, _ = strings.Cut(result, `], "was_cancelled`)
		return "[" + exported(1, `{"image": "a.jpg", "species": "stork"}`,
			strings.Replace(of(a, "heron"), `"result": [`, `"result": [`+result+", ", 1)) + "]"
	}
	for _, c := range []struct{ text, named, want, refused string }{
		{both("choice", "quality"), "", "heron", ""},
		{both("kind", "quality"), "", "",
			"found the controls [kind, quality], expected one control that gives the labels"},
		{both("kind", "quality"), "quality", "good", ""},
		{both("kind", "quality"), "species", "stork", ""},
		{both("kind", "quality"), "nix", "", `found neither a control with choices nor a data key named "nix"`},
		{"[" + exported(1, pictureTask("a.jpg")) + "]", "", "", "found the controls []"},
	} {
		d, err := ReadManifest(strings.NewReader(c.text), "e.json", ReadOptions{Names: Names{Label: c.named}})
		if c.refused != "" {
			if err == nil || !strings.Contains(err.Error(), c.refused) {
				t.Errorf("%q: %v, expected %q", c.named, err, c.refused)
			}
			continue
		}
		if err != nil || d.className(d.Samples[0].Label) != c.want {
			t.Errorf("%q: %+v, %v, expected %q", c.named, d, err, c.want)
		}
	}
}

func TestLabelStudioRefuses(t *testing.T) {
	task := func(value string) string {
		return "[" + exported(7, pictureTask(value), annotated(1, 1, "2024", "", "a")) + "]"
	}
	for text, want := range map[string]string{
		task("https://example.com/a.jpg"): `task 1 of the list: the image is at ` +
			`"https://example.com/a.jpg", expected a file: download`,
		task("s3://bucket/a.jpg"):                     `the image is at "s3://bucket/a.jpg"`,
		task("data:image/png;base64,AAAA"):            `the image is at "data:image/png;base64,AAAA"`,
		task("/srv/a.jpg"):                            "is absolute",
		task("/data/local-files/?d=../../etc/passwd"): "leaves the root",
		`[{"a": 1}]`:                                  "found the keys a but not \"label\"",
		task("a.jpg")[:200]:                           "unexpected EOF",
		`[{"data": {"image": "a"}, "annotations": [{"result": [{"type": "choices", "value": {"choices": ` +
			`3}}]}]}]`: "cannot unmarshal number",
	} {
		if _, err := ReadManifest(strings.NewReader(text), "e.json", ReadOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%.200s: %v, expected %q", text, err, want)
		}
	}
	if d := read(t, task("https://example.com/x/a.jpg"),
		ReadOptions{StripPrefix: "https://example.com/x/"}); d.Samples[0].Path != "a.jpg" {
		t.Errorf("%+v", d)
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

// Labelled regions are an error that names the way to export them.
func TestLabelStudioRegions(t *testing.T) {
	task := func(id int, results ...string) string {
		return fmt.Sprintf(`{"id": %d, "data": {"image": "%[1]d.png"}, "annotations": [{"id": 1, "completed_by": 1, `+
			`"updated_at": "2024-05-0%[1]d", "result": [%s]}]}`, id, strings.Join(results, ", "))
	}
	const box = `{"id": "r", "from_name": "kind", "type": "rectanglelabels", "original_width": 200,
		"original_height": 100,
		"value": {"x": 5, "y": 20, "width": 20, "height": 40, "rotation": 0, "rectanglelabels": ["tench"]}}`
	if _, err := ReadManifest(strings.NewReader("["+task(1, box)+"]"), "m", ReadOptions{}); err == nil ||
		!strings.Contains(err.Error(), "export the project as COCO or YOLO") {
		t.Errorf("regions: %v", err)
	}
}
