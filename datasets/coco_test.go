package datasets

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
)

// cocoFile follows COCO's format, with categories at the end, a crowd, a box of no height, and unknown keys.
const cocoFile = `{
  "info": {"year": 2017, "contributor": {"name": "x"}},
  "licenses": [{"id": 1, "name": "y"}],
  "images": [
    {"id": 9, "file_name": "a/1.jpg", "width": 100, "height": 80, "license": 1},
    {"file_name": "b.jpg", "id": "ten"}
  ],
  "annotations": [
    {"id": 1, "image_id": 9, "category_id": 18, "bbox": [10.2, 20.5, 30, 40], "iscrowd": 0, "segmentation": [[1, 2.5]]},
    {"id": 2, "image_id": 9, "category_id": 18, "bbox": [0, 0, 90, 70], "iscrowd": 1,
   "segmentation": {"counts": [3, 4], "size": [80, 100]}},
    {"category_id" : 3, "id": 3, "image_id": 9, "bbox": [90, 70, 20, 20], "note": {"category_id": 3}},
    {"id": 4, "image_id": 9, "category_id": 3, "bbox": [5, 5, 5, 0]},
    {"id": 5, "image_id": "ten", "category_id": 3, "bbox": [1000, 2, 4, 6]}
  ],
  "categories": [{"id": 18, "name": "dog"}, {"id": 3, "name": "car, red", "supercategory": "vehicle"}]
}
`

func TestReadCOCO(t *testing.T) {
	var said string
	d := read(t, cocoFile,
		ReadOptions{Split: "val", Note: func(format string, args ...any) { said = fmt.Sprintf(format, args...) }})
	want := &Dataset{Classes: []string{"car, red", "dog"}, Columns: []string{annotationID, imageID}, Samples: []Sample{
		{Path: "a/1.jpg#xywh=10:20:31:41&id=1", Label: 1, True: Unlabelled, Split: Validation,
			Extra: []string{"1", "9"}},
		{Path: "a/1.jpg#xywh=90:70:10:10&id=3", Label: 0, True: Unlabelled, Split: Validation,
			Extra: []string{"3", "9"}},
		{Path: "b.jpg#xywh=1000:2:4:6&id=5", Label: 0, True: Unlabelled, Split: Validation,
			Extra: []string{"5", "ten"}},
	}}
	want.Reading = &Reading{Form: "annotations of COCO", Empty: []string{}, Alike: [][]string{}, Left: []Left{
		{crowd, "boxes", 1}, {tooSmall, "boxes", 1}}}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !strings.Contains(said, "left out: 1 box (crowds), 1 box (with a side below the least)") {
		t.Errorf("said %q", said)
	}
	var out bytes.Buffer
	if err := WriteCSV(&out, d); err != nil {
		t.Fatal(err)
	}
	d.Reading = nil
	if diff := cmp.Diff(d, read(t, out.String(), ReadOptions{})); diff != "" {
		t.Errorf("by way of CSV:\n%s", diff)
	}
	d = read(t, cocoFile, ReadOptions{CropMargin: 0.5, MinBox: 6, StripPrefix: ""})
	if got := d.Paths(); len(got) != 2 || got[0] != "a/1.jpg#xywh=0:0:56:80&id=1" ||
		got[1] != "a/1.jpg#xywh=80:60:20:20&id=3" {
		t.Errorf("with a margin: %q", got)
	}
}

// TestReadWholeImages: annotations without boxes, as in classification data sets; names that repeat are replaced by
// ids.
func TestReadWholeImages(t *testing.T) {
	text := `{"categories":[{"id":0,"name":"x"},{"id":1,"name":"x"}],"annotations":[{"id":7,"image_id":1,` +
		`"category_id":1},{"id":8,"image_id":2,"category_id":0,"bbox":[]}],` +
		`"images":[{"id":1,"file_name":"root/p.jpg"},{"id":2,"file_name":"root/q.jpg"}]}`
	d := read(t, text, ReadOptions{StripPrefix: "root/"})
	if diff := cmp.Diff([]string{"p.jpg", "q.jpg"}, d.Paths()); diff != "" {
		t.Error(diff)
	}
	if d.Classes[d.Samples[0].Label] != "1" || d.Classes[d.Samples[1].Label] != "0" {
		t.Errorf("%+v", d)
	}
}

func TestCOCOErrors(t *testing.T) {
	with := func(old, text string) string { return strings.Replace(cocoFile, old, text, 1) }
	for text, want := range map[string]string{
		with(`"image_id": "ten"`, `"image_id": 4`): `2 samples; annotations[4]: image_id "4" is not among the 2 images`,
		with(`"id": 5`, `"id": 3`):                 `2 samples; annotations[4]: id "3": found twice or empty`,
		with(`"id": 18, "name"`,
			`"id": 17, "name"`): `2 samples; annotations[0]: category_id "18" is not among the 2 categories`,
		with(`[10.2, 20.5, 30, 40]`, `[10.2, 20.5, 30]`): `2 samples; annotations[0]: bbox holds 3 numbers, expected x, y, ` +
			`width, height`,

		with(`[10.2, 20.5, 30, 40]`, `[10.2, 20.5, 30, 1e99]`):  `2 samples; annotations[0]: bbox`,
		with(`"file_name": "b.jpg"`, `"file_name": "../b.jpg"`): `2 samples; images[1]: path "../b.jpg" leaves the root`,
		with(`{"id": 3, "name"`, `{"id": 18, "name"`):           `categories: id "18": found twice`,
		with(`"categories"`, `"annotations"`):                   `annotations appears twice`,
		with(`"id": 5`, `"id": {"x": 5}`): `2 samples; annotations[4]: found "{\"x\": 5}", expected a ` +
			`number or a text`,
		with(`"width": 100`, `"width": "w"`): `1 samples; images[0]: width: found `,
		with(`"id": "ten"`, `"id": 9`):       `not readable: images[1]: id "9": found twice`,
		strings.Replace(cocoFile, `"image_id"`, `"image"`, -1): `found no annotation, expected at least one; not readable: ` +
			`annotations[0]: image_id "" is not among the 2 images; and 4 more`,

		cocoFile[:len(cocoFile)/2]: `the file ends early, at byte`,
		cocoFile + "{}":            `after the object, expected nothing`,

		`{"images":[{"id":1,"file_name":"a.jpg"}],"annotations":[],"categories":[]}`: `no sample found`,
		`{"images":[{"id":1,"file_name":"a.jpg"}],"annotations":[{"id":1,]}`:         `annotations[0]: byte`,
	} {
		d, err := ReadManifest(strings.NewReader(text), "x.json", ReadOptions{})
		if got := notRead(d, err); !strings.Contains(got, want) || err != nil &&
			(!strings.HasPrefix(got, "datasets: x.json: ") || strings.Contains(got, "\n")) {
			t.Errorf("%q, expected %q", got, want)
		}
	}
	if _, err := ReadManifest(strings.NewReader(cocoFile), "x.json", ReadOptions{CropMargin: -1}); err == nil {
		t.Error("a negative margin passed")
	}
}

// TestGuessJSON: a manifest of JSON lines is not taken for COCO.
func TestGuessJSON(t *testing.T) {
	for text, want := range map[string]Format{
		cocoFile:                                 COCO,
		`{"images":[],"annotations":[{"id":1}]}`: COCO,
		`{"info":{"a":"` + strings.Repeat("x", 9000) + `"}}`:                         COCO,
		`{"type":"instances","images":[{"id":1}]}`:                                   COCO,
		`{"path":"a.jpg","label":"x"}`:                                               JSONL,
		`{"path":"a.jpg","label":"x","categories":[{}]}` + "\n" + `{"path":"b.jpg"}`: JSONL,
		`{"info":{"a":1},"path":"a.jpg","label":"x"}`:                                JSONL,
		`{"images":["a.jpg"],"label":"x"}`:                                           JSONL,
		`{`:                                                                          JSONL,
	} {
		name := filepath.Join(t.TempDir(), "m.json")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := FormOf(location.At(name)); got != want || err != nil {
			t.Errorf("%.60s: %s, %v, expected %s", text, got, err, want)
		}
	}
}

func TestMendCOCO(t *testing.T) {
	const first, third, fifth = "a/1.jpg#xywh=10:20:31:41&id=1", "a/1.jpg#xywh=90:70:10:10&id=3",
		"b.jpg#xywh=1000:2:4:6&id=5"
	for _, text := range []string{cocoFile, "\ufeff" + cocoFile, compact(t, cocoFile),
		strings.ReplaceAll(cocoFile, "\n", "\r\n")} {
		got, did, err := mended(t, text, map[string]Decision{first: {Label: "car, red"}, third: {Label: "dog"}})
		want := strings.Replace(text, `"category_id": 18, "bbox": [10.2`, `"category_id": 3, "bbox": [10.2`, 1)
		want = strings.Replace(want, `"category_id":18,"bbox":[10.2`, `"category_id":3,"bbox":[10.2`, 1)
		want = strings.Replace(want, `{"category_id" : 3, "id": 3`, `{"category_id" : 18, "id": 3`, 1)
		want = strings.Replace(want, `{"category_id":3,"id":3`, `{"category_id":18,"id":3`, 1)
		got, want = plainJSON(t, got), plainJSON(t, want)
		if err != nil || got != want || got == plainJSON(t, text) || did.Relabelled != 2 || did.Rows != 3 {
			t.Errorf("%+v, %v\n%s", did, err, cmp.Diff(want, got))
		}
		same, _, err := mended(t, text, nil)
		if err != nil || same != text {
			t.Errorf("nothing decided: %v\n%s", err, cmp.Diff(text, same))
		}
	}
	for _, drop := range [][]string{{first}, {third}, {fifth}, {first, third}, {third, fifth}} {
		decisions := map[string]Decision{}
		for _, path := range drop {
			decisions[path] = Decision{Drop: true}
		}
		got, did, err := mended(t, cocoFile, decisions)
		if err != nil || did.Dropped != len(drop) || !json.Valid([]byte(got)) {
			t.Fatalf("%q: %+v, %v\n%s", drop, did, err, got)
		}
		var left []string
		for _, path := range []string{first, third, fifth} {
			if !decisions[path].Drop {
				left = append(left, path)
			}
		}
		if diff := cmp.Diff(left, read(t, got, ReadOptions{}).Paths()); diff != "" {
			t.Errorf("%q dropped:\n%s", drop, diff)
		}
		if n := strings.Count(got, `"iscrowd": 1`); n != 1 {
			t.Errorf("%q dropped: %d crowds, expected the one", drop, n)
		}
	}
	if _, _, err := mended(t, cocoFile, map[string]Decision{first: {Label: "cat"}}); err == nil ||
		!strings.Contains(err.Error(), `"cat" is not among the categories`) {
		t.Errorf("a label that is no category: %v", err)
	}
	text := strings.ReplaceAll(cocoFile, `"category_id": 18`, `"category_id": "18"`)
	got, _, err := mended(t, text, map[string]Decision{first: {Label: "car, red"}})
	if want := strings.Replace(text, `"category_id": "18", "bbox": [10.2`, `"category_id": "3", "bbox": [10.2`,
		1); err != nil || plainJSON(t, got) != plainJSON(t, want) {
		t.Errorf("an id that is a text: %v\n%s", err, cmp.Diff(want, got))
	}
}

// TestMendChangedCOCO: a file that has changed since it was read is not mended.
func TestMendChangedCOCO(t *testing.T) {
	source := filepath.Join(t.TempDir(), "m.json")
	d := read(t, cocoFile, ReadOptions{})
	for _, text := range []string{
		strings.Replace(cocoFile, `"category_id": 18, "bbox": [10.2`, `"category_id": 3, "bbox": [10.2`, 1),
		strings.Replace(cocoFile, `"id": 5`, `"id": 6`, 1),
	} {
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Mend(&bytes.Buffer{}, location.At(source), d, nil); err == nil ||
			!strings.Contains(err.Error(), "the file has changed") {
			t.Errorf("%v, expected that the file has changed", err)
		}
	}
}

func plainJSON(t *testing.T, text string) string {
	return compact(t, strings.TrimPrefix(text, "\ufeff"))
}

func compact(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	if err := json.Compact(&out, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func FuzzCOCO(f *testing.F) {
	f.Add([]byte(cocoFile), uint8(1))
	f.Add([]byte(`{"images":[{"id":1,"file_name":"a"}],"annotations":[{"id":1,"image_id":1,"category_id":1}],`+
		`"categories":[{"id":1,"name":"x"}]}`), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		source := filepath.Join(t.TempDir(), "m.json")
		if err := os.WriteFile(source, data, 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := ReadFile(source, ReadOptions{})
		if form, _ := FormOf(location.At(source)); err != nil || form != COCO {
			return
		}
		var same bytes.Buffer
		if _, err := Mend(&same, location.At(source), d, nil); err != nil || !bytes.Equal(same.Bytes(), data) {
			t.Fatalf("%v: nothing decided, and %q became %q", err, data, same.Bytes())
		}
		if len(d.Samples) > 1 {
			at := int(which) % len(d.Samples)
			var out bytes.Buffer
			if _, err := Mend(&out, location.At(source), d, map[int]Decision{at: {Drop: true}}); err != nil {
				t.Fatal(err)
			}
			how := ReadOptions{Format: COCO, Encoding: d.Encoding}
			if got := read(t, out.String(), how); len(got.Samples) != len(d.Samples)-1 {
				t.Fatalf("%d samples, expected one less than %d", len(got.Samples), len(d.Samples))
			}
		}
	})
}

// BenchmarkMillionBoxes reads and mends COCO's JSON with a million boxes. Long: -bench MillionBoxes -benchtime 1x
func BenchmarkMillionBoxes(b *testing.B) {
	const n = 1_000_000
	var text bytes.Buffer
	text.WriteString(`{"images":[`)
	for i := range n / 8 {
		fmt.Fprintf(&text, `{"id":%d,"file_name":"%012d.jpg","width":640,"height":480},`, i, i)
	}
	text.Truncate(text.Len() - 1)
	text.WriteString(`],"annotations":[`)
	for i := range n {
		fmt.Fprintf(&text, `{"segmentation":[[%d.5,20.25,30.75,40.5,50.25,60.75]],"area":1200.5,"iscrowd":0,`+
			`"image_id":%d,"bbox":[%d.25,17.5,80.75,96.5],"category_id":%d,"id":%d},`, i%400, i/8, i%400, i%80, i)
	}
	text.Truncate(text.Len() - 1)
	text.WriteString(`],"categories":[`)
	for i := range 80 {
		fmt.Fprintf(&text, `{"id":%d,"name":"c%d"},`, i, i)
	}
	text.Truncate(text.Len() - 1)
	text.WriteString(`]}`)
	source := filepath.Join(b.TempDir(), "m.json")
	if err := os.WriteFile(source, text.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	size := int64(text.Len())
	text = bytes.Buffer{}
	d, err := ReadFile(source, ReadOptions{})
	if err != nil || len(d.Samples) != n {
		b.Fatal(err)
	}
	b.Run("read", func(b *testing.B) {
		b.SetBytes(size)
		for b.Loop() {
			if _, err := ReadFile(source, ReadOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("mend", func(b *testing.B) {
		b.SetBytes(size)
		decisions := map[int]Decision{}
		for i := 0; i < n; i += 100 {
			decisions[i] = Decision{Label: "c" + strconv.Itoa((i+1)%80)}
		}
		for b.Loop() {
			if _, err := Mend(&bytes.Buffer{}, location.At(source), d, decisions); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// In a file of boxes an annotation without one is left out, not read as the whole picture; LVIS names pictures by
// addresses.
func TestCOCOWithoutBox(t *testing.T) {
	d := read(t, `{"images":[{"id":1,"coco_url":"http://h/train2017/1.jpg"}],"annotations":[{"id":1,"image_id":1,`+
		`"category_id":1,"bbox":[1,2,3,4]},{"id":2,"image_id":1,"category_id":1,"bbox":null}],"categories":[{"id":1,`+
		`"name":"a"}]}`, ReadOptions{})
	if diff := cmp.Diff([]string{"train2017/1.jpg#xywh=1:2:3:4&id=1"}, d.Paths()); diff != "" ||
		!cmp.Equal(d.Reading.Left, []Left{{withoutBox, "annotations", 1}}) {
		t.Errorf("%s, %+v", diff, d.Reading)
	}
}
