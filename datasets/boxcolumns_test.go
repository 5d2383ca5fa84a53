package datasets

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
)

// A table whose columns hold boxes is read alone, beside its pictures, and in a folder: each row is the crop. Its copy
// differs in the labels: the first row gets the label of the second, the third is dropped, the others stay.
func TestBoxColumns(t *testing.T) {
	for name, c := range map[string]struct {
		files       map[string]string
		table       string
		rows, reads []string // of the table; what is read
	}{
		"TensorFlow": {map[string]string{"train/1.png": "", "train/2.png": ""}, "train/_annotations.csv",
			[]string{"filename,width,height,class,xmin,ymin,xmax,ymax", "1.png,200,100,tench,10,20,50,60",
				`2.png,200,100,"horn",1,2,31.5,40`, "1.png,200,100,horn,1,1,9,9", "2.png,200,100,horn,210,2,300,40"},
			[]string{"train/1.png 10,20,40,40 tench train", "train/2.png 1,2,31,38 horn train", "train/1.png 1,1,8,8 horn train",
				"left 1 rows outside their picture"}},
		"sides, and Windows' line ends": {map[string]string{"1.png": "", "2.png": ""}, "m.csv",
			[]string{"path,label,x,y,width,height,note\r", "1.png,tench,10,20,40,40,a\r", "2.png,horn,1,2,30,38,\r",
				"1.png,horn,1,1,8,8,b\r", "1.png,tench,,,,,c\r", "2.png,tench,300,2,30,38,\r"},
			[]string{"1.png 10,20,40,40 tench train", "2.png 1,2,30,38 horn train", "1.png 1,1,8,8 horn train",
				"left 1 rows outside their picture", "left 1 rows without a box"}},
		"Open Images": {map[string]string{"validation/1.png": "", "validation/2.png": "", "test/3.png": "",
			"class-descriptions-boxable.csv": "/m/a,Tench\n/m/b,Horn\n/m/c,Same\n/m/d,Same\n"},
			"validation-annotations-bbox.csv",
			[]string{"ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded", "1,xclick,/m/a,1,0.05,0.25,0.2,0.6,0",
				"2,xclick,/m/b,1,0.1,0.2,0.1,0.2,0", "2,x,/m/c,1,0,1,0,1,0", "gone,x,/m/a,1,0,1,0,1,0"},
			[]string{"validation/1.png 10,20,40,40 Tench ?", "validation/2.png 20,10,20,10 Horn ?",
				"validation/2.png 0,0,200,100 /m/c ?", "left 1 rows named and not there"}},
		"shares, with the picture's sides": {map[string]string{"1.png": "", "2.png": ""}, "m.tsv",
			[]string{"image\tclass\tx1\ty1\tx2\ty2", "1.png\ta\t.05\t.2\t.25\t.6", "2.png\tb\t0\t0\t1\t1",
				"1.png\ta\t.5\t.5\t1\t1"},
			[]string{"1.png 10,20,40,40 a train", "2.png 0,0,200,100 b train", "1.png 100,50,100,50 a train"}},
	} {
		text := strings.Join(c.rows, "\n") + "\n"
		c.files[c.table] = text
		dir := onDisk(t, c.files)
		end := "\n"
		mended := append([]string{}, c.rows...)
		first, second := "tench", "horn"
		switch name {
		case "Open Images":
			first, second = "/m/a", "/m/b"
		case "shares, with the picture's sides":
			first, second = "\ta\t", "\tb\t"
		}
		mended[1] = strings.Replace(mended[1], first, second, 1)
		mended = append(mended[:3:3], mended[4:]...)
		wantCopy := strings.Join(mended, "\n") + end
		for _, source := range []location.Source{location.At(dir), location.At(filepath.Join(dir, c.table))} {
			d, err := Read(source, ReadOptions{})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			var got, want []string
			for _, s := range described(d) {
				if !strings.Contains(s, "no picture") {
					got = append(got, s)
				}
			}
			folder := source.Path() == dir
			for _, w := range c.reads {
				split := "train"
				if folder {
					split = "validation"
				}
				w = strings.Replace(w, "?", split, 1)
				if !folder {
					w = strings.TrimPrefix(w, "train/")
				}
				want = append(want, w)
			}
			if diff := cmp.Diff(want, sortedLefts(got, want)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", name, diff)
			}
			do := map[int]Decision{0: {Label: d.LabelName(d.Samples[1])}, 2: {Drop: true}}
			var out bytes.Buffer
			if folder {
				to := filepath.Join(t.TempDir(), "mended")
				_, err = MendFolder(t.Context(), to, source, d, do)
				text, _ := os.ReadFile(filepath.Join(to, c.table))
				out.Write(text)
			} else {
				_, err = Mend(&out, source, d, do)
			}
			if diff := cmp.Diff(wantCopy, out.String()); diff != "" || err != nil {
				t.Errorf("%s: mended: %v, -want +got:\n%s", name, err, diff)
			}
		}
	}
}

// A row that cannot be a box is refused with its line, and what has no boxes is no such table.
func TestBoxColumnErrors(t *testing.T) {
	for want, text := range map[string]string{
		`m:3: box: found "x", expected a number`:                     "path,label,x1,y1,x2,y2\na.png,a,1,2,3,4\na.png,a,x,2,3,4\n",
		"m:2: box: found 1 empty values, expected four numbers":      "path,label,x1,y1,x2,y2\na.png,a,1,2,3,\n",
		"m:2: box: its numbers are shares of the picture's sides":    "path,label,x1,y1,x2,y2\na.png,a,.1,.2,.3,.4\n",
		"m: is of Open Images' labels of whole images":               "ImageID,Source,LabelName,Confidence\na,b,/m/a,0\n",
		"m: no sample found":                                         "path,label,x1,y1,x2,y2\na.png,a,,,,\n",
		"m:2: bbox [1 2 NaN 2] in a picture of 0×0 pixels, expected": "path,label,x1,y1,x2,y2\na.png,a,1,2,NaN,4\n",
	} {
		if _, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	d, err := ReadManifest(strings.NewReader("path,label,x1,y1,x2,y2\na.png#xywh=1:2:3:4,a,1,2,3,4\n"), "m", ReadOptions{})
	if err != nil || d.Samples[0].Path != "a.png#xywh=1:2:3:4" {
		t.Errorf("a crop: %v, %v", d, err)
	}
	if d, err = ReadManifest(strings.NewReader("path,label,x1,y1\na.png,a,1,2\n"), "m", ReadOptions{}); err != nil ||
		d.Samples[0].Path != "a.png" {
		t.Errorf("no box: %v, %v", d, err)
	}
}
