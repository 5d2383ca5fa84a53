package datasets

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Boxes in a file for each picture are read without being told how: by where the files are and what they hold.
func TestSidecars(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 200, 100))); err != nil {
		t.Fatal(err)
	}
	const (
		xml         = "<annotation><size><width>200</width><height>100</height></size><object><name>tench</name><bndbox><xmin>11</xmin><ymin>21</ymin><xmax>50</xmax><ymax>60</ymax></bndbox></object></annotation>"
		me          = `{"shapes": [{"label": "tench", "points": [[10, 20], [50, 60]], "shape_type": "rectangle"}, {"label": "horn", "points": [[100, 50], [100, 60]], "shape_type": "circle"}], "imageWidth": 200, "imageHeight": 100}`
		coco        = `{"images":[{"id":1,"file_name":"1.png","width":200,"height":100},{"id":2,"file_name":"2.png"}],"annotations":[{"id":1,"image_id":1,"category_id":2,"bbox":[10,20,40,40]},{"id":2,"image_id":1,"category_id":2,"bbox":[900,20,40,40]}],"categories":[{"id":2,"name":"tench"}]}`
		tench, horn = "10,20,40,40", "90,40,20,20"
	)
	for what, c := range map[string]struct {
		files map[string]string // "": a picture
		form  string
		want  string
	}{
		"YOLO as Ultralytics": {map[string]string{"y/images/train/1.png": "", "y/images/val/2.png": "",
			"y/images/val/3.png":   "",
			"y/labels/train/1.txt": "1 .15 .4 .2 .4\n", "y/labels/val/2.txt": "0 .5 .5 .1 .2\n\n",
			"y/labels/val/3.txt": "",
			"y/data.yaml":        "path: .\nnames: [horn, tench]\n"}, "boxes of YOLO",
			"y/images/train/1.png " + tench + " tench train, y/images/val/2.png " + horn + " horn validation"},
		"YOLO as Roboflow": {map[string]string{"train/images/1.png": "", "train/labels/1.txt": "0 .15 .4 .2 .4",
			"data.yaml": "names:\n  0: tench\n  2: horn\n"},
			"boxes of YOLO", "train/images/1.png " + tench + " tench train"},
		"YOLO as darknet": {map[string]string{"obj_train_data/1.png": "", "obj_train_data/1.txt": "1 .05 .2 .25 .2 " +
			".25 .6", "obj.names": "horn\ntench\n", "train.txt": "x", "obj.data": "x"},
			"boxes of YOLO", "obj_train_data/1.png " + tench + " tench train"},
		"YOLO without names": {map[string]string{"1.png": "", "1.txt": "7 .15 .4 .2 .4"}, "boxes of YOLO", "1.png " +
			tench + " 7 train"},
		"VOC in lower case": {map[string]string{"annotations/1.xml": xml, "images/1.png": "", "images/2.png": ""},
			"boxes of Pascal VOC",
			"images/1.png " + tench + " tench train"},
		"VOC beside the pictures": {map[string]string{"test/1.xml": xml, "test/1.png": ""}, "boxes of Pascal VOC",
			"test/1.png " + tench + " tench test"},
		"LabelMe": {map[string]string{"1.json": me, "1.png": ""}, "shapes of LabelMe",
			"1.png " + tench + " tench train, 1.png " + horn + " horn train"},
		"COCO as Roboflow": {map[string]string{"train/_annotations.coco.json": coco, "train/1.png": "",
			"train/2.png": ""}, "boxes of COCO",
			"train/1.png " + tench + " tench train"},
		"COCO as published": {map[string]string{"annotations/instances_train2017.json": coco,
			"annotations/captions_train2017.json":         strings.Replace(coco, `"category_id":2`, `"caption":"x"`, 2),
			"annotations/person_keypoints_train2017.json": coco,
			"annotations/instances_val2017.json":          strings.ReplaceAll(coco, "tench", "horn"),
			"train2017/1.png":                             "", "train2017/2.png": "", "val2017/1.png": ""}, "boxes of COCO",
			"train2017/1.png " + tench + " tench train, val2017/1.png " + tench + " horn validation"},
		"COCO by other names": {map[string]string{"w/labels.json": coco, "w/text.json": `{"images": [{"id": 1,
			"file_name": "1.png"}], "annotations": [{"id": 1, "image_id": 1, "caption": "x"}]}`,
			"w/images/test/1.png": "", "w/images/test/2.png": ""}, "boxes of COCO",
			"w/images/test/1.png " + tench + " tench test"},
		"class folders with COCO's file of other pictures": {map[string]string{"cat/7.png": "", "dog/8.png": "",
			"coco.json": coco}, "class folders", "cat/7.png  cat train, dog/8.png  dog train"},
		"class folders with such files": {map[string]string{"cat/1.png": "", "cat/1.xml": xml, "dog/2.png": "",
			"dog/2.txt": "0 .5 .5 .1 .2"}, "class folders",
			"cat/1.png  cat train, dog/2.png  dog train"},
		"texts that are no boxes": {map[string]string{"a/cat/1.png": "", "a/cat/1.txt": "a cat on a mat",
			"a/dog/1.png": ""}, "class folders",
			"a/cat/1.png  cat train, a/dog/1.png  dog train"},
	} {
		files := fstest.MapFS{}
		for name, text := range c.files {
			data := []byte(text)
			if strings.HasSuffix(name, ".png") {
				data = picture.Bytes()
			}
			files[name] = &fstest.MapFile{Data: data}
		}
		d, err := ReadFolders(files, "m", ReadOptions{})
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		var got []string
		for _, s := range d.Samples {
			file, crop, cropped := CutCrop(s.Path)
			at := ""
			if cropped {
				at = fmt.Sprintf("%d,%d,%d,%d", crop.X, crop.Y, crop.W, crop.H)
			}
			got = append(got, fmt.Sprintf("%s %s %s %s", file, at, d.LabelName(s), s.Split))
		}
		if diff := cmp.Diff(c.want, strings.Join(got, ", ")); diff != "" || d.Reading == nil ||
			d.Reading.Form != c.form {
			t.Errorf("%s: %+v (-want +got):\n%s", what, d.Reading, diff)
		}
	}
}

const oneBox = `{"images":[{"id":1,"file_name":"1.png"}],"annotations":[{"id":1,"image_id":1,"category_id":1,` +
	`"bbox":[1,2,3,4]}],"categories":[{"id":1,"name":"a"}]}`

// What cannot be a box is left out and named; if nothing else is there, that is the error.
func TestSidecarErrors(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 200, 100))); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadFolders(fstest.MapFS{"1.png": {Data: picture.Bytes()}, "a.json": {Data: []byte(oneBox)},
		"b.json": {Data: []byte(oneBox)}}, "m", ReadOptions{}); err == nil || !strings.Contains(err.Error(),
		"m: found boxes of 1.png in a.json and in b.json: two readings are possible") {
		t.Errorf("two files of COCO's form: %v", err)
	}
	for want, text := range map[string][2]string{
		"1 samples; b.txt: is of another form": {"0 .5 .5 .1 .2", "0 .5 .5 .1 .2\na cat"},
		"m: read as boxes of YOLO: found no box, expected at least one; not readable: a.txt: object 1: found the class 3, " +
			"expected 0 to 1, as there are names": {"3 .5 .5 .1 .2", ""},
		"2 samples; b.txt: object 1: found the class 3": {"0 .5 .5 .1 .2", "3 .5 .5 .1 .2\n1 .5 .5 .1 .2"},
		"1 samples; b.txt: object 1: bbox":              {"0 .5 .5 .1 .2", "0 NaN .5 .1 .2"},
		"read as boxes of YOLO: found no box":           {"\n", ""},
	} {
		files := fstest.MapFS{"a.png": {Data: picture.Bytes()}, "b.png": {Data: picture.Bytes()},
			"classes.txt": {Data: []byte("x\ny\n")},
			"a.txt":       {Data: []byte(text[0])}, "b.txt": {Data: []byte(text[1])}}
		d, err := ReadFolders(files, "m", ReadOptions{})
		if got := notRead(d, err); !strings.Contains(got, want) {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

func FuzzSidecar(f *testing.F) {
	f.Add([]byte("0 .5 .5 .1 .2"), []byte(`{"shapes": [{"label": "x", "points": [[1, 2], [3, 4]]}]}`),
		[]byte("names: {0: a}"))
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 20, 10))); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, boxes, shapes, names []byte) {
		for form, files := range []fstest.MapFS{{"1.png": {Data: picture.Bytes()}, "1.txt": {Data: boxes},
			"data.yaml": {Data: names}},
			{"1.png": {Data: picture.Bytes()}, "1.json": {Data: shapes}}} {
			d, err := ReadFolders(files, "m", ReadOptions{})
			if err != nil {
				continue
			}
			for _, s := range d.Samples {
				if _, c, _ := CutCrop(s.Path); form == 0 && (c.X+c.W > 20 || c.Y+c.H > 10) {
					t.Errorf("a crop %+v of 20×10 pixels", c)
				}
			}
		}
	})
}

// Pictures in folders that may be classes, with files of boxes in the same folders beside: both readings are shown, and
// --format chooses. Names of classes are taken once they are told apart and in one list.
func TestRivalReadings(t *testing.T) {
	picture := []byte(gray(t))
	files := fstest.MapFS{"d/data.yaml": {Data: []byte("names: [tench, horn]")}, "d/other.yml": {Data: []byte("a: [")}}
	for _, p := range []string{"east/1", "east/2", "west/3"} {
		files["d/images/"+p+".png"] = &fstest.MapFile{Data: picture}
		files["d/labels/"+p+".txt"] = &fstest.MapFile{Data: []byte("1 .5 .5 .1 .1\n")}
	}
	read := func(format Format) string {
		d, err := ReadFolders(files, "m", ReadOptions{Format: format})
		if err != nil {
			return err.Error()
		}
		var list []string
		for _, s := range d.Samples {
			list = append(list, d.LabelName(s))
		}
		return d.Reading.Form + ": " + strings.Join(list, " ")
	}
	for format, want := range map[Format]string{
		"": `datasets: m: two readings are possible: folders of classes, or boxes of YOLO (d/images/east/1.png is of ` +
			`class "east", or has the boxes in d/labels/east/1.txt; `,
		Folders: "class folders: east east west", Boxes: "boxes of YOLO: horn horn horn",
	} {
		if got := read(format); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, expected %s", format, got, want)
		}
	}
	for text, want := range map[string]string{
		"tench\nhorn\ncarp\n\n\n": "boxes of YOLO: horn horn horn", // more of the same
		"horn\ntench\n": "datasets: m: found the classes horn, tench in d/classes.txt and tench, horn in d/data.yaml: " +
			"two readings are possible",
		"tench\n": "boxes of YOLO: horn horn horn",
	} {
		files["d/classes.txt"] = &fstest.MapFile{Data: []byte(text)}
		if got := read(Boxes); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %s, expected %s", text, got, want)
		}
	}
	delete(files, "d/classes.txt")
	files["d/data.yaml"] = &fstest.MapFile{Data: []byte("names: [fish, fish]")}
	if got := read(Boxes); got != "boxes of YOLO: 1 1 1" {
		t.Errorf("two classes of one name: %s", got)
	}
	delete(files, "d/data.yaml")
	if got := read(Boxes); !strings.HasPrefix(got, "datasets: m: d/other.yml:1:") {
		t.Errorf("names that cannot be read: %s", got)
	}
	if _, err := ReadFolders(fstest.MapFS{"a/1.png": {Data: picture}}, "m", ReadOptions{Format: Boxes}); err == nil ||
		!strings.Contains(err.Error(), "m: found no files of boxes") {
		t.Errorf("no boxes: %v", err)
	}
}
