package datasets

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
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
	want := `path,label,split,true_label,task_id,camera,other
photos/héron 17.jpg,heron,train,,11,A7,
upload/4/3ffb2de1-stork.jpg,stork,train,,12,A7,
photos/3.jpg,,train,,13,A7,
photos/4.jpg,,train,,14,A7,
photos/5.jpg,,train,,15,A7,
photos/6.jpg,,train,,16,A7,
photos/7.jpg,heron,train,,17,A7,
photos/8.jpg,heron,train,,18,A7,
photos/9.jpg,heron,train,,19,A7,
photos/11.jpg,heron,test,stork,21,,"{""a"": [1]}"
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	wantNotes := []string{
		`export.json: read as tasks of Label Studio, images by "image", labels by the choices of "kind"; without a ` +
			`label: 1 not annotated (as task 15), 1 skipped (as task 14), 1 with several choices (as task 13), 1 ` +
			`on which no choice has a majority (as task 16); left out: 1 that annotators dropped`,
		`export.json: 1 images were uploaded into Label Studio: their paths begin in the folder media of its data, ` +
			`which --root names`,
	}
	if diff := cmp.Diff(wantNotes, notes); diff != "" {
		t.Error(diff)
	}
}

// minimal is JSON_MIN's form: no skipped annotations, and one object per annotation.
const minimal = `[
 {"image": "/data/local-files/?d=photos/1.jpg", "split": "test", "id": 3, "choice": "heron",
 "annotator": 1, "annotation_id": 5, "created_at": "2024-05-01T10:00:00Z",
 "updated_at": "2024-05-01T10:00:00Z", "lead_time": 2.5},
 {"image": "/data/local-files/?d=photos/2.jpg", "split": "test", "id": 4, "choice": "stork",
 "annotator": 2, "annotation_id": 7, "created_at": "2024-05-01T10:00:00Z",
 "updated_at": "2024-05-01T10:00:00Z", "lead_time": 2.5},
 {"image": "/data/local-files/?d=photos/2.jpg", "split": "test", "id": 4, "choice": "heron",
 "annotator": 1, "annotation_id": 6, "created_at": "2024-05-01T10:00:00Z",
 "updated_at": "2024-05-01T10:00:00Z", "lead_time": 2.5},
 {"image": "/data/local-files/?d=photos/3.jpg", "split": "train", "id": 5, "choice": {"choices": ["stork", "heron"]},
 "annotator": 1, "annotation_id": 8, "created_at": "2024-05-01T10:00:00Z",
 "updated_at": "2024-05-01T10:00:00Z", "lead_time": 2.5}
]`

func TestLabelStudioMin(t *testing.T) {
	d := read(t, minimal, ReadOptions{})
	var out bytes.Buffer
	if err := WriteCSV(&out, d); err != nil {
		t.Fatal(err)
	}
	want := "path,label,split,task_id\nphotos/1.jpg,heron,test,3\nphotos/2.jpg,,test,4\nphotos/3.jpg,,train,5\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
	d = read(t, strings.ReplaceAll(minimal, "choice\"", "Art\""),
		ReadOptions{Names: Names{Label: "Art"}, StripPrefix: "photos/"})
	if d.Samples[0].Path != "1.jpg" || d.className(d.Samples[0].Label) != "heron" {
		t.Errorf("%+v", d.Samples[0])
	}
}

// The label control is the only one, one with a usual name, or the named one; a key of the data also works.
func TestLabelStudioControls(t *testing.T) {
	of := func(control, value string) string {
		return strings.Replace(annotated(1, 1, "2024", "", value), `"kind"`, fmt.Sprintf("%q", control), 1)
	}
	both := func(a, b string) string { // one annotation with both
		_, result, _ := strings.Cut(of(b, "good"), `"result": [`)
		result, _, _ = strings.Cut(result, `], "was_cancelled`)
		return "[" + exported(1, `{"image": "a.jpg", "species": "stork"}`,
			strings.Replace(of(a, "heron"), `"result": [`, `"result": [`+result+", ", 1)) + "]"
	}
	for _, c := range []struct{ text, named, want, refused string }{
		{both("choice", "quality"), "", "heron", ""},
		{both("kind", "quality"), "", "",
			"found choices of the controls kind, quality, expected one that holds the labels: name it"},
		{both("kind", "quality"), "quality", "good", ""},
		{both("kind", "quality"), "species", "stork", ""},
		{both("kind", "quality"), "nix", "", `found no choice of a control "nix"`},
		{"[" + exported(1, pictureTask("a.jpg")) + "]", "", "", "no annotation holds a choice"},
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
		task("https://example.com/a.jpg"): `e.json: task 7: its image is at ` +
			`"https://example.com/a.jpg", expected a file: download`,
		task("s3://bucket/a.jpg"):                     `its image is at "s3://bucket/a.jpg"`,
		task("data:image/png;base64,AAAA"):            "its image is embedded in the task",
		task("/srv/a.jpg"):                            "is absolute",
		task("/data/local-files/?d=../../etc/passwd"): "leaves the root",
		`[{"a": 1}]`:                                  "found the keys a, no key \"label\"",
		`[{"data": {"text": "x"}}]`:                   "found the data text, expected the image: name its key",
		`[{"data": {"image": "a"}}, {"data": {"img": ""}}]`: `task without an id, 2 of the list: its data lack the ` +
			`key "image", found img`,
		`[{"data": {"image": "a"}}, {"id": 3}]`: "task 2 of the list: it has no data",
		task("a.jpg")[:200]:                     "task 1 of the list: the file ends early",
		task("a.jpg") + "x":                     "invalid character 'x'",
		`[{"image": "a", "annotation_id": 1}]`:  "found the keys image, expected that of the choices",
		`[{"data": {"image": "a"}, "annotations": 3}]`: "task 1 of the list: json: cannot unmarshal number " +
			"into Go struct field element.annotations",
		`[{"data": {"image": "a"}, "annotations": [{"result": [{"type": "choices", "value": {"choices": ` +
			`3}}]}]}]`: "task 1 of the list: annotations[0]: choices: found 3, expected a text or a list of them",
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

// The mended copy of an export is the export, byte for byte but for the labels: choices, data, taxonomies and regions,
// in all its forms. The first sample gets the label of the second, the third is dropped.
func TestMendLabelStudio(t *testing.T) {
	task := func(id, user int, results ...string) string {
		return fmt.Sprintf(`{"id": %d, "data": {"image": "%[1]d.png", "kind" : "a"}, "annotations" : [{"id": 1, `+
			`"completed_by": %d, "result": [%s]}], "meta": {"choices": ["a"]}}`, id, user, strings.Join(results, " , "))
	}
	choice := func(value string) string {
		return `{"id": "q", "from_name": "kind", "type": "choices", "value": {` + value + `}}`
	}
	box := func(id int, label string) string {
		return fmt.Sprintf(`{"id": "r%d", "from_name": "kind", "type": "rectanglelabels", "original_width": 200, `+
			`"original_height": 100, "value": {"x": %[1]d, "y": 2.50, "width": 20, "height": 40, "rotation": 0, `+
			`"rectanglelabels": ["%s"]}}`, id, label)
	}
	a, b, c := choice(`"choices": ["a"]`), choice(`"choices": ["b"]`), choice(`"choices": ["c"]`)
	part := `{"id": "r3", "from_name": "text", "type": "choices", "value": {"choices": ["x"]}}`
	paths := func(p string) string {
		return `{"from_name": "kind", "type": "taxonomy", "value": {"taxonomy": ` + p + `}}`
	}
	two := strings.Replace(task(1, 1, a), `}], "meta"`, `}, {"id": 2, "completed_by": 2, "result": [`+a+
		`]}, {"id": 3, "completed_by": 3, "was_cancelled": true, "result": []}], "meta"`, 1)
	for name, k := range map[string][2]string{
		"choices": {"[\n" + task(1, 1, a) + ",\n" + task(2, 1, b) + " , " + task(3, 1, c) + "\n]\n",
			"[\n" + task(1, 1, b) + ",\n" + task(2, 1, b) + "\n]\n"},
		"lines": {task(1, 1, choice(`"choices" : "a"`)) + "\n" + task(2, 1, b) + "\n" + task(3, 1, c) + "\n",
			task(1, 1, choice(`"choices" : "b"`)) + "\n" + task(2, 1, b) + "\n"},
		"two annotators": {"[" + two + "," + task(2, 1, b) + "," + task(3, 1, c) + "]",
			"[" + strings.ReplaceAll(two, a, b) + "," + task(2, 1, b) + "]"},
		"several choices": {"[" + task(1, 1, choice(`"choices": ["a", "c"]`)) + "," + task(2, 1, b) + "," +
			task(3, 1, c) + "]", "[" + task(1, 1, b) + "," + task(2, 1, b) + "]"},
		"taxonomy": {"[" + task(1, 1, paths(`[["a", "x"]]`)) + "," + task(2, 1, paths(`[["b","y"]]`)) + "," +
			task(3, 1, paths(`[["c"]]`)) + "]",
			"[" + task(1, 1, paths(`[["b","y"]]`)) + "," + task(2, 1, paths(`[["b","y"]]`)) + "]"},
		"regions": {"[" + task(1, 1, box(1, "a"), box(2, "b"), box(3, "c"), part, box(4, "c")) + "," + task(2, 1) + "]",
			"[" + task(1, 1, box(1, "b"), box(2, "b"), box(4, "c")) + "," + task(2, 1) + "]"},
		"JSON_MIN": {`[{"image": "1.png", "id": 1, "kind": "a", "annotator": 1, "annotation_id": 5}, {"image": "2.png",
			"id": 2, "kind": "b", "annotator": 1, "annotation_id": 6}, {"image": "3.png", "id": 3, "kind": "c",
			"annotator": 1, "annotation_id": 7}, {"image": "3.png", "id": 3, "kind": "c", "annotator": 2,
			"annotation_id": 8}]`,
			`[{"image": "1.png", "id": 1, "kind": "b", "annotator": 1, "annotation_id": 5}, {"image": "2.png",
			"id": 2, "kind": "b", "annotator": 1, "annotation_id": 6}]`},
		"regions of JSON_MIN": {`[{"image": "1.png", "id": 3, "kind": [` + strings.Join([]string{minBox("a"),
			minBox("b"),
			minBox("c")}, ", ") + `], "annotator": 1, "annotation_id": 5}]`, `[{"image": "1.png", "id": 3, "kind": [` +
			minBox("b") + ", " + minBox("b") + `], "annotator": 1, "annotation_id": 5}]`},
	} {
		source := filepath.Join(t.TempDir(), "m.json")
		if err := os.WriteFile(source, []byte(k[0]), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := ReadFile(source, ReadOptions{Names: Names{Label: "kind"}})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var out bytes.Buffer
		did, err := Mend(&out, location.At(source), d, map[int]Decision{0: {Label: d.LabelName(d.Samples[1])},
			2: {Drop: true}})
		same := func(text string) string {
			if lines := strings.Split(strings.TrimSpace(text), "\n{"); !strings.HasPrefix(text, "[") {
				text = "[" + strings.Join(lines, ",{") + "]" // the tasks of JSON lines
			}
			return compact(t, text)
		}
		if diff := cmp.Diff(same(k[1]), same(out.String())); err != nil || diff != "" ||
			did.Relabelled != 1 || did.Dropped != 1 {
			t.Errorf("%s: %+v, %v (-want +got):\n%s", name, did, err, diff)
		}
		if form, err := FormOf(location.At(source)); form != LabelStudio || err != nil {
			t.Errorf("%s: %q, %v", name, form, err)
		}
		if out.Reset(); name == "choices" { // of the data
			d, err = ReadFile(source, ReadOptions{})
			if err == nil {
				d.Names.Label = "note"
				_, err = Mend(&out, location.At(source), d, nil)
			}
			if err == nil || !strings.Contains(err.Error(), `found no choice of a control "note"`) {
				t.Errorf("another control: %v", err)
			}
		}
	}
	source := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(source, []byte("["+task(1, 1)+","+task(2, 1, b)+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := ReadFile(source, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Mend(&bytes.Buffer{}, location.At(source), d, map[int]Decision{0: {Label: "b"}}); err == nil ||
		!strings.Contains(err.Error(), `task 1: no annotation has a choice of "kind" that could become "b": annotate`) {
		t.Errorf("a task that nobody annotated: %v", err)
	}
}

// minBox is a region of JSON_MIN.
func minBox(label string) string {
	return `{"x": 5, "y": 20, "width": 20, "height": 40, "rectanglelabels": ["` + label +
		`"], "original_width": 200, "original_height": 100}`
}

func FuzzLabelStudio(f *testing.F) {
	f.Add([]byte(export))
	f.Add([]byte(minimal))
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
		m := &mender{d: d, until: len(d.Samples), did: Mended{Changed: map[string]int{}}}
		if m.lookUpStudio(bytes.NewReader(data)) != nil ||
			guessFormat(bufio.NewReader(bytes.NewReader(data))) != LabelStudio {
			return
		}
		var same bytes.Buffer
		if _, err := m.writeCopy(&same, bytes.NewReader(data)); err != nil || same.String() != string(data) {
			t.Fatalf("copied as %q, %v", &same, err)
		}
	})
}

// FuzzRegions: each region that an export labels becomes a crop of its picture, and none lies outside of it.
func FuzzRegions(f *testing.F) {
	const region = `{"id": 1, "data": {"image": "a.jpg"}, "annotations": [{"id": 1, "result": [{"id": "r", "type": ` +
		`"rectanglelabels", "from_name": "box", "to_name": "image", "original_width": 200, "original_height": 100, ` +
		`"value": {"x": 10, "y": 20.5, "width": 30, "height": 40, "rotation": 0, "rectanglelabels": ["heron"]}}]}]}`
	for _, text := range []string{region, region + "\n" + strings.Replace(region, `"id": 1`, `"id": 2`, 1),
		"[" + region + "]", strings.Replace(region, `"rotation": 0`, `"rotation": 45`, 1),
		strings.Replace(region, `"x": 10`, `"x": -10`, 1), strings.Replace(region, "30", "1e308", 1),
		strings.Replace(region, `["heron"]`, `[]`, 1), strings.Replace(region, "200", "0", 1),
		strings.NewReplacer("rectanglelabels", "polygonlabels", `"x": 10, "y": 20.5`,
			`"points": [[1, 2], [30, 4], [5, 60]]`).Replace(region),
		strings.NewReplacer("rectanglelabels", "ellipselabels", `"width": 30, "height": 40`,
			`"radiusX": 3, "radiusY": 4`).Replace(region),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ReadManifest(bytes.NewReader(data), "m", ReadOptions{Format: LabelStudio})
		if err != nil {
			return
		}
		for _, s := range d.Samples {
			_, c, cropped := CutCrop(s.Path)
			if cropped && (min(c.X, c.Y) < 0 || min(c.W, c.H) < 1 || max(c.W, c.H) > mostPixels) {
				t.Errorf("the crop %+v", c)
			}
		}
	})
}

// BenchmarkMillionTasks reads an export with a million tasks. Long: -bench MillionTasks -benchtime 1x
func BenchmarkMillionTasks(b *testing.B) {
	const n = 1_000_000
	var text bytes.Buffer
	text.WriteString("[")
	for i := range n {
		if i > 0 {
			text.WriteString(",\n")
		}
		text.WriteString(exported(i, fmt.Sprintf(`{"image": "/data/local-files/?d=photos/%07d.jpg"}`, i),
			annotated(i, i%5, "2024-05-01T10:00:00Z", "", fmt.Sprintf("class %d", i%100))))
	}
	text.WriteString("]")
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		d, err := ReadManifest(bytes.NewReader(text.Bytes()), "m", ReadOptions{})
		if err != nil || len(d.Samples) != n {
			b.Fatal(err)
		}
	}
}

// Taxonomies, regions and tasks line by line are read like choices: the levels of a path are joined, and each region is
// a row whose image is the crop of the box around it.
func TestLabelStudioShapes(t *testing.T) {
	const taxonomy = `{"id": 1, "from_name": "kind", "type": "taxonomy", "value": {"taxonomy": [["bird", "grey heron"]]}}`
	region := func(kind, value string) string {
		return fmt.Sprintf(
			`{"id": "r", "from_name": "kind", "type": %q, "original_width": 200, "original_height": 100, `+
				`"value": {%s}}`,
			kind,
			value,
		)
	}
	task := func(id int, results ...string) string {
		return fmt.Sprintf(`{"id": %d, "data": {"image": "%[1]d.png"}, "annotations": [{"id": 1, "completed_by": 1, `+
			`"updated_at": "2024-05-0%[1]d", "result": [%s]}]}`, id, strings.Join(results, ", "))
	}
	box := region(
		"rectanglelabels",
		`"x": 5, "y": 20, "width": 20, "height": 40, "rotation": 0, "rectanglelabels": ["tench"]`,
	)
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"taxonomy": {"[" + task(1, taxonomy) + "," + task(2) + "]",
			[]string{"1.png bird / grey heron train", "2.png  train"}},
		"lines": {task(1, taxonomy) + "\n" + task(2, taxonomy) + "\n\n",
			[]string{"1.png bird / grey heron train", "2.png bird / grey heron train"}},
		"taxonomy of JSON_MIN": {`[{"image": "1.png", "id": 3, "choice": {"taxonomy": [["a"], ["b", "c"]]}, "annotator":
			1,
			"annotation_id": 5}, {"image": "2.png", "id": 4, "choice": [["b", "c"]], "annotator": 1,
			"annotation_id": 6}]`,
			[]string{"1.png  train", "2.png b / c train"}},
		"regions": {"[" + task(1, box, region("ellipselabels", `"x": 50, "y": 50, "radiusX": 5, "radiusY": 10,
			"ellipselabels": ["horn"]`), region("polygonlabels", `"points": [[50, 50], [60, 50], [55, 70.5]],
			"polygonlabels": ["horn"]`), region("rectanglelabels", `"x": 50, "y": 0, "width": 20, "height": 20,
			"rotation": 90,
			"rectanglelabels": ["horn", "tench"]`), region("rectanglelabels", `"x": 150, "y": 0, "width": 20,
			"height": 20,
			"rectanglelabels": ["horn"]`), region("brushlabels", `"rle": [1]`)) + "," + task(2) + "]",
			[]string{"1.png 10,20,40,40 tench train", "1.png 90,40,20,20 horn train", "1.png 100,50,20,21 horn train",
				"1.png 80,0,20,40  train", "left 1 boxes outside their picture", "left 1 pictures without a box"}},
		"regions of JSON_MIN": {`[{"image": "1.png", "id": 3, "label": [{"x": 5, "y": 20, "width": 20, "height": 40,
			"rectanglelabels": ["tench"], "original_width": 200, "original_height": 100}], "annotator": 1,
			"annotation_id": 5}]`,
			[]string{"1.png 10,20,40,40 tench train"}},
		"several annotators": {`[{"id": 1, "data": {"image": "1.png"}, "annotations": [{"id": 1, "completed_by": 1,
			"updated_at":
			"2", "result": [` + box + `]}, {"id": 2, "completed_by": 2, "updated_at": "1",
				"result": [` + box + "," + box + `]}]}]`,
			[]string{"1.png 10,20,40,40 tench train"}},
	} {
		d, err := ReadManifest(strings.NewReader(c.text), "m", ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(c.want, described(d)); diff != "" {
			t.Errorf("%s: -want +got:\n%s", name, diff)
		}
	}
	for want, text := range map[string]string{
		"not readable: task 1, box 1: found no original_width": "[" + task(1, strings.Replace(box,
			`"original_width": 200, `, "", 1)) + "]",
		"expected tasks alone": task(1, taxonomy) + "]",
		`found choices of the controls box, kind`: "[" + task(1, taxonomy, strings.Replace(box, "kind",
			"box", 1)) + "]",
	} {
		if _, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}
