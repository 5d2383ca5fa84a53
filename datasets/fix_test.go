package datasets

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
)

func fixAt(file string, d *Dataset, decisions map[int]Decision) (string, Fixed, error) {
	var out bytes.Buffer
	did, err := Fix(&out, location.At(file), d, decisions)
	return out.String(), did, err
}

// fixText writes a text to a file and fixes it with decisions by path.
func fixText(t *testing.T, text string, opts ReadOptions, decisions map[string]Decision) (string, Fixed,
	error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "m")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	d, err := ReadFile(file, opts)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	at := map[int]Decision{}
	for i, s := range d.Samples {
		if what, ok := decisions[s.Path]; ok {
			at[i] = what
		}
	}
	return fixAt(file, d, at)
}

// In every format, only rows with a decision change; rows that were left out stay.
func TestFix(t *testing.T) {
	decisions := map[string]Decision{"b.jpg": {Drop: true}, "c.jpg": {Label: "3"}, "d,e.jpg": {Label: "3"},
		"same.jpg": {Label: "2"}, "c.jpg#xywh=1:1:5:5&id=3": {Label: "3"}, "b.jpg#xywh=1:1:5:5&id=2": {Drop: true}}
	for name, c := range map[string]struct{ text, want string }{
		"csv": {
			"note,Label ,path,split,true_label,label2\n\" a, \"\"b\",1,a.jpg,train,1,x\n,\"1\",./b.jpg,test,,y\n\n\"q\nr\", " +
				"1,c.jpg,val,2,\"1\"\nz,\"1\",\"d,e.jpg\",,,\nz,,\"g.jpg\",,,\nlast,2,same.jpg,,,1",
			"note,Label ,path,split,true_label,label2\n\" a, \"\"b\",1,a.jpg,train,1,x\n\n\"q\nr\",3,c.jpg,val,2,1\n" +
				"z,3,\"d,e.jpg\",,,\nz,,\"g.jpg\",,,\nlast,2,same.jpg,,,1",
		},
		"marked, Windows' line ends": {
			"\ufeffpath,label\r\na.jpg,1\r\nb.jpg,1\r\nc.jpg,1\r\n\"d,e.jpg\",\"1\"\r\nsame.jpg,2\r\n\r\n",
			"\ufeffpath,label\r\na.jpg,1\r\nc.jpg,3\r\n\"d,e.jpg\",3\r\nsame.jpg,2\r\n\r\n",
		},
		"semicolons": {"path;label\nb.jpg;\"x;y\"\nc.jpg;1\n", "path;label\nc.jpg;3\n"},
		"tabs":       {"n\tclass\tfilename\nx,y\t1\ta.jpg\n\t1\tb.jpg\r\n\"q\tr\"\t1\tc.jpg\n", "n\tclass\tfilename\nx,y\t1\ta.jpg\n\"q\tr\"\t3\tc.jpg\n"},
		"a list":     {"x/a.jpg,1\r\nb.jpg,1\n\nc.jpg, 1\nd,e.jpg,1\nsame.jpg,2", "x/a.jpg,1\r\n\nc.jpg, 3\nd,e.jpg,3\nsame.jpg,2"},
		"JSON lines": {
			`{"label": 1, "path":"a.jpg","more":{"label":"z"}}` + "\n" + `{"path":"b.jpg","label":1}` + "\n\n" +
				`{ "x":[1, {"label":2}], "label" : 1 ,"path":"c.jpg"}` + "\r\n" + `{"path":"same.jpg","label":"2"}`,
			`{"label": 1, "path":"a.jpg","more":{"label":"z"}}` + "\n\n" +
				`{"x": [1, {"label":2}], "label": 3, "path": "c.jpg"}` + "\r\n" + `{"path":"same.jpg","label":"2"}`,
		},
		"a list of objects": {"[\n  {\n    \"path\": \"b.jpg\",\n    \"label\": 1\n  },\n  {\n    \"path\": \"c.jpg\",\n    \"label\": \"2\"\n  }\n]\n",
			"[{\"path\": \"c.jpg\", \"label\": \"3\"}]\n"},
		"JSON in place of a label": {"path,label\nb.jpg,x\nz,\"[\"\"y\"\", \"\"x\"\"]\"\nc.jpg,\"[\"\"x\"\"]\"\n",
			"path,label\nz,\"[\"\"y\"\", \"\"x\"\"]\"\nc.jpg,3\n"},
		"boxes": {"path,label,xmin,ymin,w,h\na.jpg,x,9,9,0,0\nb.jpg,y,1,1,5,5\nc.jpg,x,1,1,5,5\n",
			"path,label,xmin,ymin,w,h\na.jpg,x,9,9,0,0\nc.jpg,3,1,1,5,5\n"},
		"rows of empty cells": {"path,label,,\r\n,,,\r\nb.jpg,x,,\r\nc.jpg,y,,1\r\n,,,\r\n", "path,label,,\r\n,,,\r\nc.jpg,3,,1\r\n,,,\r\n"},
		"Latin-1":             {"path,label\nb.jpg,fl\xe4te\nc.jpg,fl\xfbte\nz.jpg,fl\xfbte\n", "path,label\nc.jpg,3\nz.jpg,flûte\n"},
		"repeated rows":       {"path,label\nc.jpg,a\nb.jpg,b\nc.jpg,a\nz,b\nb.jpg,b\n", "path,label\nc.jpg,3\nc.jpg,3\nz,b\n"},
	} {
		got, did, err := fixText(t, c.text, ReadOptions{}, decisions)
		if diff := cmp.Diff(c.want, got); err != nil || diff != "" || did.Dropped == 0 && name != "a" {
			t.Errorf("%s: %+v, %v (-want +got):\n%s", name, did, err, diff)
		}
		if name == "csv" {
			want := Fixed{Rows: 5, Dropped: 1, Relabelled: 2, Changed: map[string]int{Test: 1, Validation: 1, Train: 1}}
			if diff := cmp.Diff(want, did); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	}
	got, _, err := fixText(t, "given_label,true_label,note\r\n4,6,\"a, b\"\r\n9,9,\r\n0,9,x\r\n", ReadOptions{Numbered: true},
		map[string]Decision{"0": {Label: "6"}, "1": {Drop: true}})
	if want := "given_label,true_label,note\r\n6,6,\"a, b\"\r\n0,9,x\r\n"; err != nil || got != want {
		t.Errorf("by rows: %q, %v", got, err)
	}
}

// A folder, a zip file, shards and a Label Studio export become a CSV manifest.
func TestFixToList(t *testing.T) {
	const want = "path,label,split\ncat/2.jpg,owl,train\ndog/3.jpg,dog,train\n"
	dir := folderOf(t, "cat/1.jpg", "cat/2.jpg", "dog/3.jpg")
	for _, source := range []string{dir, zipOf(t, "cat/1.jpg", "cat/2.jpg", "dog/3.jpg")} {
		d, err := ReadFile(source, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		form, _ := FormOf(location.At(source))
		got, did, err := fixAt(source, d, map[int]Decision{0: {Drop: true}, 1: {Label: "owl"}})
		if err != nil || got != want || did.Rows != 2 || form != CSV {
			t.Errorf("%q, %+v, %v, form %s", got, did, err, form)
		}
	}
	source := filepath.Join(written(t, map[string]string{"a-0.tar": tarOf(t, "1.jpg", "x", "1.cls", "3", "2.jpg", "x",
		"2.cls", "4")}), "a-*.tar")
	d, err := ReadFile(source, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := fixAt(source, d, map[int]Decision{1: {Label: "3"}}); err != nil ||
		got != "path,label,split\na-0.tar/1.jpg,3,train\na-0.tar/2.jpg,3,train\n" {
		t.Errorf("shards: %s%v", got, err)
	}
	got, _, err := fixText(t, export, ReadOptions{}, map[string]Decision{"photos/7.jpg": {Label: "stork"}})
	if err != nil || !strings.Contains(got, "photos/7.jpg,stork,train,,17\n") {
		t.Errorf("Label Studio: %q, %v", got, err)
	}
}

// In COCO's JSON, only the category_id of relabelled annotations changes, and dropped annotations are removed.
func TestFixCOCO(t *testing.T) {
	const first, third, fifth = "a/1.jpg#xywh=10:20:31:41&id=1", "a/1.jpg#xywh=90:70:10:10&id=3",
		"b.jpg#xywh=1000:2:4:6&id=5"
	plain := func(text string) string {
		var out bytes.Buffer
		if err := json.Compact(&out, []byte(strings.TrimPrefix(text, "\ufeff"))); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	for _, text := range []string{cocoFile, "\ufeff" + cocoFile, strings.ReplaceAll(cocoFile, `"category_id": 18`, `"category_id": "18"`)} {
		got, did, err := fixText(t, text, ReadOptions{}, map[string]Decision{first: {Label: "car, red"},
			third: {Label: "dog"}})
		want := strings.NewReplacer(`"category_id": 18, "bbox": [10.2`, `"category_id": 3, "bbox": [10.2`,
			`"category_id": "18", "bbox": [10.2`, `"category_id": "3", "bbox": [10.2`,
			`{"category_id" : 3, "id": 3`, `{"category_id" : 18, "id": 3`).Replace(text)
		if err != nil || plain(got) != plain(want) || did.Relabelled != 2 || did.Rows != 3 {
			t.Errorf("%+v, %v\n%s", did, err, cmp.Diff(plain(want), plain(got)))
		}
		if same, _, err := fixText(t, text, ReadOptions{}, nil); err != nil || same != text {
			t.Errorf("nothing decided: %v\n%s", err, cmp.Diff(text, same))
		}
	}
	got, did, err := fixText(t, cocoFile, ReadOptions{}, map[string]Decision{first: {Drop: true}, fifth: {Drop: true}})
	if err != nil || did.Dropped != 2 || strings.Count(got, `"iscrowd": 1`) != 1 ||
		!slices.Equal(read(t, got, ReadOptions{}).Paths(), []string{third}) {
		t.Errorf("%+v, %v\n%s", did, err, got)
	}
	if _, _, err := fixText(t, cocoFile, ReadOptions{}, map[string]Decision{first: {Label: "cat"}}); err == nil ||
		!strings.Contains(err.Error(), `"cat" is not among the categories`) {
		t.Errorf("a label that is no category: %v", err)
	}
}

// Decisions that cannot be applied are an error, and so is a file that has changed.
func TestFixRefuses(t *testing.T) {
	for _, c := range []struct {
		text string
		what Decision
		want string
	}{
		{"a.jpg,1\nb.jpg,1\n", Decision{Label: "a, b"}, `the new label "a, b" cannot be written in a list`},
		{"path,label\na.jpg,1\n", Decision{Label: " one"}, `a.jpg: found the new label " one"`},
		{"path,label\na.jpg,1\n", Decision{Label: ""}, `found the new label ""`},
		{"path,label\na.jpg,1\n", Decision{Drop: true}, "the decisions drop all 1 samples"},
	} {
		if _, _, err := fixText(t, c.text, ReadOptions{}, map[string]Decision{"a.jpg": c.what}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, expected %q in it", c.text, err, c.want)
		}
	}
	d := read(t, "path,label\na.jpg,1\nb.jpg,2\n", ReadOptions{})
	file := filepath.Join(t.TempDir(), "m")
	for text, want := range map[string]string{
		"path,label\na.jpg,1\nb.jpg,2\n": "",
		"path,label\na.jpg,1\nb.jpg,1\n": `row 2 has the label "1", expected "2": the file has changed`,
		"path,label\na.jpg,1\n":          "found 1 rows, expected at least 2: the file has changed",
		"label\n1\n":                     "expected the columns path and label",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := fixAt(file, d, map[int]Decision{0: {Label: "2"}})
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, expected %q in it", text, err, want)
		}
	}
	if _, _, err := fixAt(file, d, map[int]Decision{2: {Drop: true}}); err == nil ||
		!strings.Contains(err.Error(), "a decision on sample 2") {
		t.Errorf("a decision on nothing: %v", err)
	}
}
