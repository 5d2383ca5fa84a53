package datasets

import (
	"bytes"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
)

// gray is a picture of 200×100 pixels.
func gray(t testing.TB) string {
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 200, 100))); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// onDisk writes files into a new folder; "" is a picture.
func onDisk(t testing.TB, files map[string]string) string {
	dir := t.TempDir()
	picture := gray(t)
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

// filesIn reads all files of a folder.
func filesIn(t testing.TB, dir string) map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(p)
		rest, _ := filepath.Rel(dir, p)
		files[filepath.ToSlash(rest)] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A mended copy differs from the files of boxes in the labels of relabelled boxes, and lacks the dropped ones: in all
// forms but for white space:
// forms the first box gets the label of the second, the third is dropped, the others stay.
func TestMendIntoFolder(t *testing.T) {
	const vocText = "\ufeff<?xml version='1.0'?>\r\n<annotation>\r\n\t<size><width>200</width><height>100</height></size>" +
		"\r\n\t<object><name> a&amp;b </name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>20.50</xmax><ymax>30</ymax></bndbox>" +
		"</object>\r\n\t<object>\r\n<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>20</xmax><ymax>30</ymax></bndbox>" +
		"<name><![CDATA[c<d]]></name><!-- e --></object>\r\n" +
		"\t<object><name>f</name><bndbox><xmin>5</xmin><ymin>5</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object>" +
		"\r\n\t<object><name>f</name><bndbox><xmin>500</xmin><ymin>5</ymin><xmax>509</xmax><ymax>9</ymax></bndbox>" +
		"</object>\r\n</annotation>\r\n"
	const me = `{"version": "5", "shapes": [` + "\n" + ` { "points": [[1,2],[30,40]], "label" : "ab"},` +
		`{"label":"c","points":[[1,2],[30,40.0]]} , {"label":"f","points":[[1,2],[30,40]]}` + "\n" + `], "imageData": null,` +
		` "imageHeight": 100, "imageWidth": 200}`
	const lists = `{"images":[{"id":1,"file_name":"1.png"}],"categories":[{"id":5,"name":"a"},{"id":2,"name":"c"}],`
	const train = lists + `"annotations" : [ {"id":7,"image_id":1,"category_id": 5,"bbox":[1,2,3,4]},
		{"id":8,"image_id":1,"category_id":2,"bbox":[1,2,3,4]},
		{"id":9,"image_id":1,"category_id":2,"bbox":[5,2,3,4],"iscrowd":1}]}`
	const val = lists + `"annotations":[{"id":9,"image_id":1,"category_id":2,"bbox":[1,2,3,4]}` + "\n" +
		`,{"id":7,"image_id":1,"category_id":5,"bbox":[1,2,3,4]}]}`
	const odd = lists + `"annotations":[{"id":1,"image_id":1,"category_id":5,"bbox":[1,"x",3,4]},{"id":{},"image_id":1},` +
		`{"id":2,"image_id":1,"category_id":5,"bbox":[1,2,3,4]},{"id":3,"image_id":1,"category_id":2,"bbox":[1,2,3,4]},` +
		`{"id":3,"image_id":1,"category_id":5,"bbox":[1,2,3,4]},{"id":4,"image_id":1,"category_id":9},` +
		`{"id":5,"image_id":1,"category_id":2,"bbox":[5,2,3,4]}]}`
	for name, c := range map[string]struct {
		files map[string]string
		want  map[string]string
	}{
		"YOLO with odd files": {map[string]string{"1.png": "", "1.txt": "0 .5 .5 .4 .4\n7 .5 .5 .1 .1\n1 .5 .5 .1 .1\n",
			"2.png": "", "2.txt": "0 .5 .5 .4 .4\nno box\n", "3.png": "", "3.txt": "1 .5 .5 .1 .1\n1 .2 .2 .1 .1",
			"classes.txt": "a\nc"}, map[string]string{"1.txt": "1 .5 .5 .4 .4\n7 .5 .5 .1 .1\n1 .5 .5 .1 .1\n",
			"2.txt": "0 .5 .5 .4 .4\nno box\n", "3.txt": "1 .2 .2 .1 .1"}},
		"COCO with odd annotations": {map[string]string{"1.png": "", "a.json": odd}, map[string]string{
			"a.json": strings.Replace(strings.Replace(odd, `"id":2,"image_id":1,"category_id":5`, `"id":2,"image_id":1,"category_id":2`, 1),
				`,{"id":5,"image_id":1,"category_id":2,"bbox":[5,2,3,4]}`, "", 1)}},
		"YOLO": {map[string]string{
			"images/train/1.png": "", "labels/train/1.txt": " 0  .5 .50000 .4 .4\r\n\r\n1 .5 .5\t.1 .1 \r\n1 .2 .2 .1 .1\n" +
				"1 9 9 .1 .1\n0 .5 .5 .4 .40",
			"images/val/2.png": "", "labels/val/2.txt": "", "images/val/3.png": "", "data.yaml": "names: [a, c]"},
			map[string]string{"labels/train/1.txt": " 1  .5 .50000 .4 .4\r\n\r\n1 .5 .5\t.1 .1 \r\n1 9 9 .1 .1\n" +
				"0 .5 .5 .4 .40", "labels/val/2.txt": ""}},
		"VOC": {map[string]string{"1.png": "", "1.xml": vocText},
			nil},
		"COCO": {map[string]string{"train2017/1.png": "", "val2017/1.png": "", "annotations/instances_train2017.json": train,
			"annotations/instances_val2017.json": val, "annotations/captions_val2017.json": train},
			map[string]string{"annotations/instances_train2017.json": strings.Replace(train, `"category_id": 5`,
				`"category_id": 2`, 1), "annotations/instances_val2017.json": strings.Replace(val,
				`{"id":9,"image_id":1,"category_id":2,"bbox":[1,2,3,4]}`+"\n,", "\n", 1)}},
		"LabelMe": {map[string]string{"1.png": "", "1.json": me},
			map[string]string{"1.json": strings.Replace(strings.Replace(me, `"ab"`, `"c"`, 1),
				` , {"label":"f","points":[[1,2],[30,40]]}`, "", 1)}},
	} {
		t.Run(name, func(t *testing.T) {
			source := location.At(onDisk(t, c.files))
			d, err := Read(source, ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			to := filepath.Join(t.TempDir(), "mended")
			for range 2 { // the second overwrites the first
				did, err := MendFolder(t.Context(), to, source, d, map[int]Decision{
					0: {Label: d.LabelName(d.Samples[1])}, 2: {Drop: true}})
				if err != nil || did.Dropped != 1 || did.Relabelled != 1 || did.Rows != len(d.Samples)-1 {
					t.Fatalf("%+v, %v", did, err)
				}
				got := filesIn(t, to)
				if c.want == nil { // read again below
					continue
				}
				if diff := cmp.Diff(compacted(c.want), compacted(got)); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
			want := map[int]string{0: d.LabelName(d.Samples[1])}
			if diff := cmp.Diff(want, relabelled(t, source, to, d)); diff != "" {
				t.Errorf("read again, -want +got:\n%s", diff)
			}
		})
	}
}

// relabelled puts mended files over those of a source, reads them again, and returns the changed labels.
func relabelled(t *testing.T, source location.Source, mended string, was *Dataset) map[int]string {
	for name, text := range filesIn(t, mended) {
		to := filepath.Join(source.Path(), filepath.FromSlash(name))
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Read(source, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	changed := map[int]string{}
	for i, s := range d.Samples[:2] {
		if label := d.LabelName(s); label != was.LabelName(was.Samples[i]) {
			changed[i] = label
		}
	}
	return changed
}

// What cannot be written is refused in a line, and nothing of the user's is replaced.
func TestMendIntoFolderErrors(t *testing.T) {
	dir := onDisk(t, map[string]string{"1.png": "", "1.txt": "0 .5 .5 .1 .1\n1 .5 .5 .1 .1\n", "classes.txt": "a\nb\n"})
	source := location.At(dir)
	d, err := Read(source, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	mine := onDisk(t, map[string]string{"thesis.txt": "x"})
	fresh := filepath.Join(t.TempDir(), "x")
	for want, c := range map[string]struct {
		to   string
		what Decision
		do   func()
	}{
		"holds thesis.txt already":         {mine, Decision{Label: "b"}, nil},
		"is in the folder itself":          {filepath.Join(dir, "mended"), Decision{Label: "b"}, nil},
		`"z" is not among the 2 names`:     {fresh, Decision{Label: "z"}, nil},
		"1.txt: object 1 with the label":   {fresh, Decision{Label: "b"}, func() { replace(t, dir, "1 .5 .5 .1 .1\n") }},
		"found 1 samples, 2 were read":     {fresh, Decision{Label: "b"}, func() { replace(t, dir, "0 .5 .5 .1 .1\n") }},
		"has no files of boxes or labels,": {fresh, Decision{Label: "b"}, func() { d.Reading.Form = "class folders" }},
	} {
		if c.do != nil {
			c.do()
		}
		if _, err := MendFolder(t.Context(), c.to, source, d, map[int]Decision{0: c.what}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
		replace(t, dir, "0 .5 .5 .1 .1\n1 .5 .5 .1 .1\n")
		d.Reading.Form = "boxes of YOLO"
	}
	if !IntoFolder(source, fresh) || IntoFolder(source, fresh+".csv") || IntoFolder(location.At(dir).Join("1.txt"), fresh) {
		t.Error("IntoFolder")
	}
	if err := HasFiles(t.Context(), source); err != nil {
		t.Error(err)
	}
	if err := HasFiles(t.Context(), location.At(mine)); err == nil {
		t.Error("a text passed as boxes")
	}
}

func replace(t *testing.T, dir, text string) {
	if err := os.WriteFile(filepath.Join(dir, "1.txt"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
