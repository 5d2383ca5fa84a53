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

// A row that cannot be a box is left out and listed with its line, and what has no boxes is no such table.
func TestBoxColumnErrors(t *testing.T) {
	for want, text := range map[string]string{
		`1 samples; line 3: box: found "x", expected a number`:                     "path,label,x1,y1,x2,y2\na.png,a,1,2,3,4\na.png,a,x,2,3,4\n",
		"not readable: line 2: box: found 1 empty values, expected four numbers":   "path,label,x1,y1,x2,y2\na.png,a,1,2,3,\n",
		"not readable: line 2: box: its numbers are shares of the picture's sides": "path,label,x1,y1,x2,y2\na.png,a,.1,.2,.3,.4\n",
		"m: is of Open Images' labels of whole images":                             "ImageID,Source,LabelName,Confidence\na,b,/m/a,0\n",
		"m: no sample found": "path,label,x1,y1,x2,y2\na.png,a,,,,\n",
		"not readable: line 2: bbox [1 2 NaN 2] in a picture of 0×0 pixels, expected": "path,label,x1,y1,x2,y2\na.png,a,1,2,NaN,4\n",
	} {
		d, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{})
		if got := notRead(d, err); !strings.Contains(got, want) {
			t.Errorf("%q, expected %q", got, want)
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

// FuzzBoxColumns: a table of boxes that is read is copied byte for byte, its crops have a place in a picture, and
// another label can be read again.
func FuzzBoxColumns(f *testing.F) {
	for _, text := range []string{
		"filename,width,height,class,xmin,ymin,xmax,ymax\n1.png,20,10,a,1,2,3,4\n1.png,20,10,\"b\",1,2,30,4\n",
		"path;label;x;y;w;h\r\n1.png;a;1;2;3;4\r\n1.png;b;;;;\r\n1.png;b;0.5;1;2;2\r\n",
		"image\tclass\tx1\ty1\tx2\ty2\n1.png\ta\t.05\t.2\t.25\t.6\n1.png\tb\t0\t0\t1\t1\n",
		"ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax\n1,x,/m/a,1,0.05,0.25,0.2,0.6\n",
		"path,label,x,y,width,height\n1.png,a,NaN,2,3,1e300\n", "path,label,left,top,right,bottom\n1.png,a,9,9,1,1\n",
		"path,label,left,top,right,bottom\n,a,1,1,9,9\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		file := filepath.Join(t.TempDir(), "m.csv")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		source := location.At(file)
		d, err := Read(source, ReadOptions{})
		if err != nil || d.Reading.Form != boxTable || d.Encoding != "" {
			return
		}
		var same bytes.Buffer
		if _, err := Mend(&same, source, d, nil); err != nil || same.String() != string(text) {
			t.Fatalf("%q was copied as %q, %v", text, &same, err)
		}
		for _, s := range d.Samples {
			if _, c, cropped := CutCrop(s.Path); cropped && (c.X < 0 || c.Y < 0 || c.W < 1 || c.H < 1) {
				t.Errorf("%q: the crop %+v", text, c)
			}
		}
		label := d.LabelName(d.Samples[len(d.Samples)-1])
		if label == "" || d.Samples[0].Label == d.Samples[len(d.Samples)-1].Label {
			return
		}
		var mended bytes.Buffer
		if _, err := Mend(&mended, source, d, map[int]Decision{0: {Label: label}}); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if err := os.WriteFile(file, mended.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := Read(source, ReadOptions{})
		if rival := "divide the images differently"; err != nil && strings.Contains(err.Error(), rival) {
			return // the other column has no such label
		}
		if err != nil || again.LabelName(again.Samples[0]) != label || len(again.Samples) != len(d.Samples) {
			t.Fatalf("%q was mended to %q, which is read as %+v, %v", text, &mended, again, err)
		}
	})
}
