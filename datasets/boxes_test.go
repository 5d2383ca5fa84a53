package datasets

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
)

const cvatText = `<?xml version="1.0" encoding="utf-8"?>
<annotations>
  <version>1.1</version>
  <meta><task><labels><label><name>a &amp; b</name></label></labels></task></meta>
  <image id="0" name="1.png" width="200" height="100">
    <box label="a &amp; b" source="manual" occluded="0" xtl="10.00" ytl="20.00" xbr="50.00" ybr="60.00" z_order="0">
      <attribute name="label">x</attribute>
    </box>
    <polygon label='c"d' points="100.0,50;110,60.5;105,40"></polygon>
    <box xtl="1" ytl="2" xbr="30" ybr="40" label = "e"/>
    <points label="p" points="3,4"/>
    <box label="c&quot;d" xtl="1000" ytl="2" xbr="1030" ybr="40"/>
    <box label="e" xtl="10" ytl="20" xbr="50" ybr="40" rotation="90"/>
  </image>
  <image id="1" name="2.png" subset="Validation" width="200" height="100"><tag label="e" source="manual"></tag></image>
  <image id="2" name="3.png" width="200" height="100"><tag label="e"/><tag label="f"/></image>
  <image id="3" name="4.png" width="200" height="100">
  </image>
</annotations>
`

const datumaroText = `{"info": {}, "categories": {"label": {"labels": [{"name": "a"}, {"name": "c"}, {"name": "e"}]}},
"items": [
 {"id": "1", "annotations": [ {"id": 0, "type": "bbox", "label_id": 0, "bbox": [10, 20, 40, 40]},
  {"type": "polygon", "points": [100, 50, 110, 60, 105, 40], "label_id" : 1} , {"type": "bbox", "label_id": 2,
  "bbox": [1, 2, 29.5, 38]}, {"type": "caption", "caption": "x"},
  {"type": "bbox", "label_id": 1, "bbox": [900, 1, 3, 3]}],
  "image": {"path": "1.png", "size": [100, 200]}},
 {"id": "2", "annotations": [{"type": "label", "label_id": 2}], "image": {"size": [100, 200]}},
 {"id": "3", "annotations": [{"type": "label", "label_id": 2}, {"type": "label", "label_id": 1}],
  "image": {"path": "3.png"}}
]}`

// described lists the samples and what was left out.
func described(d *Dataset) (list []string) {
	for _, s := range d.Samples {
		file, c, cropped := CutCrop(s.Path)
		at := ""
		if cropped {
			at = fmt.Sprintf(" %d,%d,%d,%d", c.X, c.Y, c.W, c.H)
		}
		list = append(list, fmt.Sprintf("%s%s %s %s", file, at, d.LabelName(s), s.Split))
	}
	if d.Reading != nil {
		for _, l := range d.Reading.Left {
			list = append(list, fmt.Sprintf("left %d %s %s", l.Files, l.Of, l.Reason))
		}
	}
	return list
}

// A file that describes many pictures is read alone, beside its pictures or with them in a folder near it, and mended:
// its first box gets the label of the second, the third is dropped, the others stay to the byte.
func TestGathered(t *testing.T) {
	for name, c := range map[string]struct {
		file, text, mended string
		in                 map[string]string // how the pictures lie around it, with the folder of the first
		want               []string
	}{
		"CVAT": {"annotations.xml", cvatText, strings.Replace(strings.Replace(cvatText, `<box label="a &amp; b"`,
			`<box label="c&#34;d"`, 1), "\n    "+`<box xtl="1" ytl="2" xbr="30" ybr="40" label = "e"/>`, "", 1),
			map[string]string{"annotations.xml": "", "images/annotations.xml": "images/",
				"x/annotations.xml": "images/"},
			[]string{"1.png 10,20,40,40 a & b train", `1.png 100,40,10,21 c"d train`, "1.png 1,2,29,38 e train",
				"1.png 20,10,20,40 e train", "2.png e validation", "left 1 boxes outside their picture",
				"left 1 shapes that are points, lines or cuboids", "left 1 pictures with several labels of the whole",
				"left 1 pictures without a box"}},
		"Datumaro": {"default.json", datumaroText, strings.Replace(strings.Replace(datumaroText, `"label_id": 0`,
			`"label_id": 1`, 1), ` , {"type": "bbox", "label_id": 2,
  "bbox": [1, 2, 29.5, 38]}`, "", 1),
			map[string]string{"default.json": "", "annotations/default.json": "images/default/"},
			[]string{"1.png 10,20,40,40 a train", "1.png 100,40,10,20 c train", "1.png 1,2,30,38 e train",
				"2.png e train", "left 1 boxes outside their picture", "left 1 shapes without a label",
				"left 1 pictures with several labels of the whole"}},
		"FiftyOne's labels": {"labels.json", `{"classes": ["a", "c", "e"], "labels": { "1": 0, "2":1 ,` + "\n" +
			`"3": 2, "4": null}}` + "\n", `{"classes": ["a", "c", "e"], "labels": { "1": 1, "2":1, "4": null}}` + "\n",
			map[string]string{"labels.json": "data/"},
			[]string{"1.png a train", "2.png c train", "3.png e train", "4.png  train"}},
		"FiftyOne's names": {"labels.json", `{"classes": null, "labels": {"\u0031": {"label": "a", "confidence": 0.5}, ` +
			`"2": "c","3":"e"}}`, `{"classes": null, "labels": {"\u0031": {"label": "c", "confidence": 0.5}, "2": "c"}}`,
			map[string]string{"labels.json": "data/"}, []string{"1.png a train", "2.png c train", "3.png e train"}},
		"FiftyOne's samples": {"samples.json", `{"samples": [{"filepath": "data/1.png", "tags": ["x", "val"],
"ground_truth": {"_cls": "Classification", "label": "a"}, "predictions": {"_cls": "Classification", "label": "z"}},
{"filepath": "data/2.png", "ground_truth": {"label": "c", "_cls": "Classification"}},{"filepath": "data/3.png",
"ground_truth": {"_cls": "Classification", "label": "e"}}, {"filepath": "data/4.png", "ground_truth": null}]}`,
			`{"samples": [{"filepath": "data/1.png", "tags": ["x", "val"],
"ground_truth": {"_cls": "Classification", "label": "c"}, "predictions": {"_cls": "Classification", "label": "z"}},
{"filepath": "data/2.png", "ground_truth": {"label": "c", "_cls": "Classification"}}, {"filepath": "data/4.png", ` +
				`"ground_truth": null}]}`, map[string]string{"samples.json": "data/"},
			[]string{"1.png a validation", "2.png c train", "3.png e train", "left 1 shapes without a label"}},
		"FiftyOne's boxes": {"samples.json", `{"samples": [{"filepath": "data/1.png", "metadata": null, "boxes":
{"_cls":
"Detections", "detections": [{"_cls": "Detection", "label": "a", "bounding_box": [0.05, 0.2, 0.2, 0.4]},
{"label": "c", "bounding_box": [0, 0, 1, 1]}, {"label": "e", "bounding_box": [0.5, 0.5, 0.5, 0.5]}]}}]}`,
			`{"samples": [{"filepath": "data/1.png", "metadata": null, "boxes":
{"_cls":
"Detections", "detections": [{"_cls": "Detection", "label": "c", "bounding_box": [0.05, 0.2, 0.2, 0.4]},
{"label": "c", "bounding_box": [0, 0, 1, 1]}]}}]}`, map[string]string{"samples.json": "data/"},
			[]string{"1.png 10,20,40,40 a train", "1.png 0,0,200,100 c train", "1.png 100,50,100,50 e train"}},
	} {
		for at, below := range c.in {
			files := map[string]string{at: c.text}
			for _, p := range []string{"1.png", "2.png", "3.png", "4.png"} {
				files[below+p] = ""
			}
			dir := onDisk(t, files)
			d, err := Read(location.At(dir), ReadOptions{})
			if err != nil {
				t.Fatalf("%s: %s: %v", name, at, err)
			}
			var want []string
			for _, s := range c.want {
				if !strings.HasPrefix(s, "left") {
					s = below + s
				}
				want = append(want, s)
			}
			got := described(d)
			if diff := cmp.Diff(want, sortedLefts(got, want)); diff != "" {
				t.Errorf("%s: %s: -want +got:\n%s", name, at, diff)
			}
			to := filepath.Join(t.TempDir(), "mended")
			do := map[int]Decision{0: {Label: d.LabelName(d.Samples[1])}, 2: {Drop: true}}
			if _, err := MendFolder(t.Context(), to, location.At(dir), d, do); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(map[string]string{at: c.mended}, filesIn(t, to)); diff != "" {
				t.Errorf("%s: %s: mended -want +got:\n%s", name, at, diff)
			}

			alone := location.At(filepath.Join(dir, filepath.FromSlash(at)))
			if d, err = Read(alone, ReadOptions{}); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			if _, err := Mend(&out, alone, d, do); err != nil || out.String() != c.mended {
				t.Errorf("%s: %s: alone: %v\n%s", name, at, err, cmp.Diff(c.mended, out.String()))
			}
			if filepath.Dir(alone.Path()) == dir { // its folder is the root
				if _, err := os.Stat(filepath.Join(dir, strings.Split(d.Samples[0].Path, "#")[0])); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// sortedLefts puts what was left out into the order of want.
func sortedLefts(got, want []string) []string {
	n := 0
	for n < len(got) && !strings.HasPrefix(got[n], "left") {
		n++
	}
	list := got[:n:n]
	for _, w := range want {
		for _, g := range got[n:] {
			if g == w {
				list = append(list, g)
			}
		}
	}
	if len(list) < len(got) {
		return got
	}
	return list
}

// notRead returns an error, or what was read but for what could not be.
func notRead(d *Dataset, err error) string {
	if err != nil {
		return err.Error()
	}
	var list []string
	for _, u := range d.Reading.Unread {
		list = append(list, fmt.Sprintf("%d samples; %s", len(d.Samples), u))
	}
	return strings.Join(list, "\n")
}

// A damaged file is refused in a line that says where; a picture or an object that cannot be read is left out, and
// the same line is in the reading.
func TestGatheredErrors(t *testing.T) {
	const empty = `<annotations><image id="0" name="a"/></annotations>`
	video := `<annotations><track id="0" label="a"><box frame="0"/></track></annotations>`
	nameless := strings.Replace(datumaroText, `{"name": "a"}, {"name": "c"}, {"name": "e"}`, "", 1)
	three := strings.Replace(datumaroText, "[10, 20, 40, 40]", "[10, 20, 40]", 1)
	for _, c := range [][2]string{
		{`4 samples; 1.png, object 1: box: xtl: found "x"`, strings.Replace(cvatText, `xtl="10.00"`, `xtl="x"`, 1)},
		{`4 samples; 1.png, object 2: polygon: found no label`, strings.Replace(cvatText, `label='c"d'`, ``, 1)},
		{"m: is of CVAT for video", video},
		{"m: XML syntax error on line", cvatText[:len(cvatText)/2]},
		{"m: read as boxes of CVAT: found no box, expected at least one; 1 pictures without a box", empty},
		{"m: read as annotations of Datumaro: found no box, expected at least one; not readable: 1.png, object 1: found " +
			"the label_id 0, expected 0 to -1, as there are labels in categories; and 6 more", nameless},
		{"m: the file ends early", datumaroText[:len(datumaroText)/2]},
		{"3 samples; 1.png, object 1: bbox: found 3 numbers", three},
		{`1 samples; 1.png: width: found "w", expected a number`, strings.Replace(strings.Replace(cvatText,
			`name="2.png" subset="Validation"`, `name="1.png"`, 1), `name="1.png" width="200"`,
			`name="1.png" width="w"`, 1)},
		{"1 samples; items[0]: image.path: found a number, expected a text", strings.Replace(datumaroText, `"path": "1.png"`, `"path": 1`, 1)},
	} {
		d, err := ReadManifest(strings.NewReader(c[1]), "m", ReadOptions{})
		if got := notRead(d, err); !strings.Contains(got, c[0]) {
			t.Errorf("%q, expected %q", got, c[0])
		}
	}
	both := fstest.MapFS{"a.xml": {Data: []byte(cvatText)}, "b.json": {Data: []byte(datumaroText)}, "1.png": {}}
	if _, err := ReadFolders(both, "m", ReadOptions{}); err == nil || !strings.Contains(err.Error(), "two readings") {
		t.Errorf("two forms: %v", err)
	}
}

// Any file gives an error, or boxes in their pictures and a copy without changes that is equal to it.
func FuzzGathered(f *testing.F) {
	f.Add([]byte(cvatText))
	f.Add([]byte(datumaroText))
	f.Add([]byte(`{"classes": ["a"], "labels": {"1": 0, "2": null, "3": {"label": "b"}}}`))
	f.Add([]byte(`{"samples": [{"filepath": "1", "f": {"_cls": "Classification", "label": "a"}}, {"filepath": "2",
		"f": {"_cls": "Detections", "detections": [{"label": "b", "bounding_box": [0, 0, 1, 1]}]}}]}`))
	f.Add([]byte("\ufeff<annotations><image name='a'><tag label=''/><box label=\"b\"/></image></annotations>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ReadManifest(bytes.NewReader(data), "m", ReadOptions{})
		if err != nil || d.Reading == nil || !boxForm(d.Reading.Form) {
			return
		}
		source := filepath.Join(t.TempDir(), "m")
		if err := os.WriteFile(source, data, 0o600); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := Mend(&out, location.At(source), d, nil); err == nil && out.String() != string(data) {
			t.Errorf("copied as %q", out.String())
		}
		last := len(d.Samples) - 1
		for _, what := range []Decision{{Drop: true}, {Label: d.Classes[0]}} {
			_, _ = Mend(&out, location.At(source), d, map[int]Decision{last: what})
		}
	})
}
