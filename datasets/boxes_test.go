package datasets

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// gray returns a PNG image of 200×100 pixels.
func gray(t testing.TB) string {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 200, 100))); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// onDisk writes files into a new folder; a file that ends in .png becomes an image.
func onDisk(t testing.TB, files map[string]string) string {
	dir, picture := t.TempDir(), gray(t)
	for name, text := range files {
		if strings.HasSuffix(name, ".png") {
			text = picture
		}
		to := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	vocXML = "<annotation><size><width>200</width><height>100</height></size><object><name>tench</name><bndbox>" +
		"<xmin>11</xmin><ymin>21</ymin><xmax>50</xmax><ymax>60</ymax></bndbox></object></annotation>"
	labelMeJSON = `{"shapes": [{"label": "tench", "points": [[10, 20], [50, 60]], "shape_type": "rectangle"},
		{"label": "horn",
		"points": [[100, 50], [100, 60]], "shape_type": "circle"}], "imageWidth": 200, "imageHeight": 100}`
	cocoJSON = `{"images":[{"id":1,"file_name":"1.png","width":200,"height":100},{"id":2,"file_name":"2.png"}],
		"annotations":[{"id":1,"image_id":1,"category_id":2,"bbox":[10,20,40,40]},{"id":2,"image_id":1,"category_id":2,
		"bbox":[900,20,40,40]}],"categories":[{"id":2,"name":"tench"}]}`
	tench, horn = " 10,20,40,40 tench ", " 90,40,20,20 horn "
)

// The boxes of a folder are read without naming their format, which follows from the location and content of the files.
// Anything that cannot be a box is left out.
func TestFolderBoxes(t *testing.T) {
	for what, c := range map[string]struct {
		files map[string]string
		form  string
		want  string // description of the samples
	}{
		"YOLO as Ultralytics": {map[string]string{"y/images/train/1.png": "", "y/images/val/2.png": "",
			"y/images/val/3.png":   "",
			"y/labels/train/1.txt": "1 .15 .4 .2 .4\n", "y/labels/val/2.txt": "0 .5 .5 .1 .2\n\n",
			"y/labels/val/3.txt": "",
			"y/data.yaml":        "path: .\nnames: [horn, tench]\n"}, "boxes of YOLO",
			"y/images/train/1.png" + tench + "train, y/images/val/2.png" + horn + "validation"},
		"YOLO as Roboflow": {map[string]string{"train/images/1.png": "", "train/labels/1.txt": "0 .15 .4 .2 .4",
			"data.yaml": "names:\n  0: tench\n  2: horn\n"}, "boxes of YOLO", "train/images/1.png" + tench + "train"},
		"YOLO as darknet, a polygon": {map[string]string{"obj_train_data/1.png": "", "obj_train_data/1.txt": "1 .05 " +
			".2 .25 .2 .25 .6", "obj.names": "horn\ntench\n", "train.txt": "x", "obj.data": "x"}, "boxes of YOLO",
			"obj_train_data/1.png" + tench + "train"},
		"YOLO, an unknown class": {map[string]string{"1.png": "", "1.txt": "7 .15 .4 .2 .4\n1 .5 .5 .1 .2\n",
			"classes.txt": "a\nhorn"},
			"boxes of YOLO", "1.png" + horn + "train"},
		"YOLO, another file": {map[string]string{"1.png": "", "1.txt": "1 .5 .5 .1 .2\n", "2.png": "",
			"2.txt": "a cat", "3.png": "",
			"classes.txt": "a\nhorn"}, "boxes of YOLO", "1.png" + horn + "train"},
		"VOC in lower case": {map[string]string{"annotations/1.xml": vocXML, "images/1.png": "", "images/2.png": ""},
			"boxes of Pascal VOC", "images/1.png" + tench + "train"},
		"VOC next to the pictures": {map[string]string{"test/1.xml": vocXML, "test/1.png": "",
			"test/2.xml": "<annotation>", "test/2.png": ""},
			"boxes of Pascal VOC", "test/1.png" + tench + "test"},
		"VOC with lists": {map[string]string{"V/Annotations/1.xml": vocXML, "V/Annotations/2.xml": vocXML,
			"V/Annotations/3.xml": vocXML,
			"V/JPEGImages/1.png":  "", "V/JPEGImages/2.png": "", "V/JPEGImages/3.png": "",
			"V/ImageSets/Main/train.txt": "1\n\n",
			"V/ImageSets/Main/val.txt":   "3\r\n"}, "boxes of Pascal VOC",
			"V/JPEGImages/1.png" + tench + "train, V/JPEGImages/3.png" + tench + "validation"},
		"LabelMe": {map[string]string{"1.json": labelMeJSON, "1.png": ""}, "shapes of LabelMe",
			"1.png" + tench + "train, 1.png" + horn + "train"},
		"COCO as Roboflow": {map[string]string{"train/_annotations.coco.json": cocoJSON, "train/1.png": "",
			"train/2.png": ""},
			"boxes of COCO", "train/1.png" + tench + "train"},
		"COCO as published": {map[string]string{"annotations/instances_train2017.json": cocoJSON,
			"annotations/captions_train2017.json":         strings.Replace(cocoJSON, `"category_id":2`, `"caption":"x"`, 2),
			"annotations/person_keypoints_train2017.json": cocoJSON,
			"annotations/instances_val2017.json":          strings.ReplaceAll(cocoJSON, "tench", "horn"),
			"train2017/1.png":                             "", "train2017/2.png": "", "val2017/1.png": ""}, "boxes of COCO",
			"train2017/1.png" + tench + "train, val2017/1.png 10,20,40,40 horn validation"},
		"COCO by other names": {map[string]string{"w/labels.json": cocoJSON, "w/images/test/1.png": "",
			"w/images/test/2.png": ""},
			"boxes of COCO", "w/images/test/1.png" + tench + "test"},
		"COCO's file of other pictures": {map[string]string{"cat/7.png": "", "dog/8.png": "", "coco.json": cocoJSON},
			"class folders", "cat/7.png cat train, dog/8.png dog train"},
		"class folders with such files": {map[string]string{"cat/1.png": "", "cat/1.xml": vocXML, "dog/2.png": "",
			"dog/2.txt": "0 .5 .5 .1 .2"}, "class folders", "cat/1.png cat train, dog/2.png dog train"},
		"texts that are no boxes": {map[string]string{"a/cat/1.png": "", "a/cat/1.txt": "a cat on a mat",
			"a/dog/1.png": ""},
			"class folders", "a/cat/1.png cat train, a/dog/1.png dog train"},
	} {
		d, err := ReadFile(onDisk(t, c.files), ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		got, _, _ := strings.Cut(described(d), ", left")
		if diff := cmp.Diff(c.want, got); diff != "" || d.Reading.Form != c.form {
			t.Errorf("%s: %+v (-want +got):\n%s", what, d.Reading, diff)
		}
	}
}

// Unreadable or ambiguous boxes are an error, or are counted with the first one as an example.
func TestFolderBoxErrors(t *testing.T) {
	for want, files := range map[string]map[string]string{
		"found labels of 1.png in a.json and in b.json": {"1.png": "", "2.png": "", "a.json": cocoJSON, "b.json": cocoJSON},
		"found no box, expected at least one; left out: 1 object (not readable, such as 1.txt: object 1: found the class 3, " +
			"expected 0 to 1": {"1.png": "", "1.txt": "3 .5 .5 .1 .2", "classes.txt": "a\nb"},
		"1.txt: object 1: bbox [":             {"1.png": "", "1.txt": "0 NaN .5 .1 .2"},
		"read as boxes of YOLO: found no box": {"1.png": "", "2.png": "", "2.txt": "\n"},
		"list different classes": {"1.png": "", "1.txt": "0 .5 .5 .1 .2",
			"data.yaml": "names: [a, b]", "classes.txt": "b\na"},
		"1.xml: XML syntax error":              {"1.png": "", "1.xml": vocXML[:100]},
		"object 1: found no name or no bndbox": {"1.png": "", "1.xml": strings.Replace(vocXML, "tench", "", 1)},
		"is FiftyOne's label file, which " +
			"winn": {"data/1.png": "", "labels.json": `{"classes": ["a"], "labels": {"1": 0}}`},
	} {
		if d, err := ReadFile(onDisk(t, files), ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %v, expected %q", d, err, want)
		}
	}
	if _, err := ReadFile(onDisk(t, map[string]string{"1.png": "", "1.xml": vocXML}),
		ReadOptions{CropMargin: -1}); err == nil {
		t.Error("a negative margin passed")
	}
}

// cocoFile follows COCO's format, with categories at the end, a crowd, a box of height 0, and unknown keys.
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
	d := read(t, cocoFile, ReadOptions{Split: "val"})
	if diff := cmp.Diff("path,label,split,annotation_id,image_id\na/1.jpg#xywh=10:20:31:41&id=1,dog,validation,1,9\n"+
		"a/1.jpg#xywh=90:70:10:10&id=3,\"car, red\",validation,3,9\nb.jpg#xywh=1000:2:4:6&id=5,\"car, red\",validation,5,ten\n",
		rowsOf(t, d)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := described(d); !strings.HasSuffix(got, "left 1 objects crowds, left 1 boxes with a side below the "+
		"minimum") {
		t.Error(got)
	}
	d = read(t, cocoFile, ReadOptions{CropMargin: 0.5, MinBox: 6})
	if got := d.Paths(); len(got) != 2 || got[0] != "a/1.jpg#xywh=0:0:56:80&id=1" ||
		got[1] != "a/1.jpg#xywh=80:60:20:20&id=3" {
		t.Errorf("with a margin: %q", got)
	}
	for text, want := range map[string]string{
		// whole images, some with several labels
		`{"categories":[{"id":0,"name":"x"},{"id":1,"name":"y"}],"annotations":[{"id":7,"image_id":1,"category_id":1},` +
			`{"id":8,"image_id":2,"category_id":0,"bbox":[]},{"id":9,"image_id":2,"category_id":1}],` +
			`"images":[{"id":1,"file_name":"p.jpg"},{"id":2,"file_name":"q.jpg"}]}`: "p.jpg y train, left 1 " +
			"images with several labels for the whole image",
		// LVIS identifies images by address; one annotation has no box
		`{"images":[{"id":1,"coco_url":"http://h/train2017/1.jpg"}],"annotations":[{"id":1,"image_id":1,"category_id":1,` +
			`"bbox":[1,2,3,4]},{"id":2,"image_id":1,"category_id":1,"bbox":null}],"categories":[{"id":1,"name":"a"}]}`: "" +
			"train2017/1.jpg 1,2,3,4 a train, left 1 objects without a box",
		// boxes as shares of the image's sides
		`{"images": [{"id": 1, "file_name": "a.jpg", "width": 100, "height": 100}], "annotations": [{"id": 1, "image_id": 1, ` +
			`"category_id": 1, "bbox": [0.1, 0.1, 0.6, 0.5]}], "categories": [{"id": 1, "name": "x"}]}`: "a.jpg 10,10,60,50 x train",
	} {
		if got := described(read(t, text, ReadOptions{})); got != want {
			t.Errorf("%s\nexpected %s", got, want)
		}
	}
}

// Unreadable annotations are left out, with the first one as an example; a broken file is an error.
func TestCOCOErrors(t *testing.T) {
	with := func(old, text string) string { return strings.Replace(cocoFile, old, text, 1) }
	for text, want := range map[string]string{
		with(`"image_id": "ten"`, `"image_id": 4`):                                   `annotations[4]: image_id "4" is not among the 2 images`,
		with(`"id": 5`, `"id": 1`):                                                   `b.jpg, object 1: id "1": found twice or empty`,
		with(`"id": 18, "name"`, `"id": 17, "name"`):                                 `category_id "18" is not among the 2 categories`,
		with(`[10.2, 20.5, 30, 40]`, `[10.2, 20.5, 30]`):                             `bbox holds 3 numbers, expected x, y, width, height`,
		with(`[10.2, 20.5, 30, 40]`, `[10.2, 20.5, 30, 1e99]`):                       `bbox [`,
		with(`"file_name": "b.jpg"`, `"file_name": "../b.jpg"`):                      `path "../b.jpg#xywh=1000:2:4:6&id=5" leaves the root`,
		with(`{"id": 3, "name"`, `{"id": 18, "name"`):                                `categories: id "18", name "car, red": found twice`,
		with(`"id": "ten"`, `"id": 9`):                                               `images[1]: id "9": found twice`,
		cocoFile[:len(cocoFile)/2]:                                                   `unexpected EOF`,
		with(`"iscrowd": 1`, `"segments_info": []`):                                  `panoptic`,
		`{"images":[{"id":1,"file_name":"a.jpg"}],"annotations":[],"categories":[]}`: `found no box`,
	} {
		d, err := ReadManifest(strings.NewReader(text), "x.json", ReadOptions{})
		got := fmt.Sprint(err)
		if err == nil {
			got = strings.Join(d.Reading.Lines(), "\n")
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// A manifest of JSON lines is not mistaken for COCO.
func TestGuessJSON(t *testing.T) {
	for text, want := range map[string]bool{
		cocoFile:                                 true,
		`{"images":[],"annotations":[{"id":1}]}`: true,
		`{"info":{"a":"` + strings.Repeat("x", 9000) + `"}}`: true,
		`{"type":"instances","images":[{"id":1}]}`:           true,
		`{"path":"a.jpg","label":"x"}`:                       false,
		`{"path":"a.jpg","label":"x","categories":[{}]}`:     false,
		`{"info":{"a":1},"path":"a.jpg","label":"x"}`:        false,
		`{"images":["a.jpg"],"label":"x"}`:                   false,
		`{`:                                                  false,
	} {
		if got := isCOCO([]byte(text[:min(len(text), headSize)])); got != want {
			t.Errorf("%.60s: %t, expected %t", text, got, want)
		}
	}
}

// Any box files give an error, or crops inside their images.
func FuzzFolderBoxes(f *testing.F) {
	f.Add([]byte("0 .5 .5 .1 .2"), []byte(labelMeJSON), []byte("names: {0: a}"), []byte(vocXML))
	picture := []byte(gray(f))
	f.Fuzz(func(t *testing.T, boxes, shapes, names, xml []byte) {
		for _, files := range []fstest.MapFS{{"1.txt": {Data: boxes}, "data.yaml": {Data: names}},
			{"1.json": {Data: shapes}},
			{"1.xml": {Data: xml}}} {
			files["1.png"] = &fstest.MapFile{Data: picture}
			d, err := ReadFolders(files, "m", ReadOptions{})
			if err != nil {
				continue
			}
			for _, s := range d.Samples {
				if _, c, cropped := CutCrop(s.Path); !cropped || c.W < 1 || c.H < 1 {
					t.Errorf("the crop %+v", c)
				}
			}
		}
	})
}
