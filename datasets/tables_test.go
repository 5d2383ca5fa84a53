package datasets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/encoding/unicode"

	"winnow/internal/testing/memory"
	"winnow/internal/testing/reference"
)

func read(t *testing.T, text string, opts ReadOptions) *Dataset {
	t.Helper()
	d, err := ReadManifest(strings.NewReader(text), "m", opts)
	if err != nil {
		t.Fatalf("%.300q: %v", text, err)
	}
	return d
}

// noted returns options that record the notes.
func noted() (ReadOptions, *[]string) {
	told := new([]string)
	return ReadOptions{Note: func(format string, args ...any) {
		*told = append(*told, fmt.Sprintf(format, args...))
	}}, told
}

// rowsOf formats a dataset as a manifest, for comparison.
func rowsOf(t *testing.T, d *Dataset) string {
	t.Helper()
	var out bytes.Buffer
	if err := WriteCSV(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// described lists the samples and what was left out.
func described(d *Dataset) string {
	var list []string
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
	return strings.Join(list, ", ")
}

// Tables, JSON and lists are read with all separators, quotes and names.
func TestReadManifest(t *testing.T) {
	const ab, three = "a.jpg x train, b.jpg y train", "a/1.jpg 10 train, b,c.jpg 2 validation, d.jpg  train"
	for text, want := range map[string]string{
		"path,label,split,true_label\na/1.jpg,10,train,2\n\"b,c.jpg\",2,val,2\n./d.jpg,,,10\n":                                             three,
		"\ufeffPath,Label,Split,True_Label\r\na/1.jpg,10,train,2\r\n\"b,c.jpg\",2,valid,2\r\nd.jpg,,,10\r\n":                               three,
		"true_label,split,label,path\n2,train,10,a/1.jpg\n2,validation,2,\"b,c.jpg\"\n10,,,d.jpg\n":                                        three,
		`{"path":"a/1.jpg","label":10}` + "\n\n" + `{"path":"b,c.jpg","label":"2","split":"val"}` + "\n" + `{"path":"d.jpg","label":null}`: three,
		"filename,class\na.jpg,x\nb.jpg,y\n":                                   ab,
		"\ufeffFile Name,Class-Name\r\na.jpg,x\r\nb.jpg,y\r\n":                 ab,
		"file_name\tlabel\na.jpg\tx\n\"b.jpg\"\ty\n":                           ab,
		"Bild;image;class\r\n1,5;a.jpg;x\r\n\"2;5\";b.jpg;\"y\"\r\n":           ab,
		"file|species\na.jpg|x\nb.jpg|y\n":                                     ab,
		"path, label\na.jpg, x\nb.jpg, y\n":                                    ab,
		`[{"image": "a.jpg", "label": "x"}, {"image": "b.jpg", "label": "y"}]`: ab,
		"image,breed\na.jpg,x\nb.jpg,y\n":                                      ab,
		"a.jpg x\nb.jpg y\n":                                                   ab,
		"a.jpg;x\r\nb.jpg;y\r\n":                                               ab,
		"filepaths,labels,data set\na.jpg,x,train\nb.jpg,y,test\n":             "a.jpg x train, b.jpg y test",
		`{"path": "a.jpg", "label": "x", "subset": "test"}`:                    "a.jpg x test",
		"image,caption\na.jpg,a dog\n":                                         "! expected the columns",
		"a.jpg 3\nb.jpg x;y\nc.jpg x\nd.jpg y\n":                               "a.jpg 3 train, c.jpg x train, d.jpg y train, left 1 rows with several labels, such as \"x;y\"",
		"path,label,fold\na.jpg,x,3\n":                                         "a.jpg x train",
		"a b/1.jpg\tcat\n":                                                     "a b/1.jpg cat train",
		"x, y/a.jpg 1\n":                                                       "x, y/a.jpg 1 train",
		"x/1.jpg,tabby cat\n":                                                  "x/1.jpg tabby cat train",
		"ILSVRC2012_val_1.JPEG 65\n":                                           "ILSVRC2012_val_1.JPEG 65 train",
		"path,label\ncat\\1.jpg,cat\n":                                         "cat/1.jpg cat train",
		"path,label\ncat/x\\1.jpg,cat\n":                                       `cat/x\1.jpg cat train`,
		"path,label,,\r\na.jpg,x,,\r\n,,,\r\nb.jpg,y,,1\r\n,,,\r\n": ab + ", left 2 rows with only empty " +
			"cells",
		"path,label\na.jpg,x\nb.jpg,\"[1, 2]\"\nc.jpg,\"{}\"\n": "a.jpg x train, left 1 rows with JSON instead of " +
			"one label, " +
			`such as "{}", left 1 rows with several labels, such as "[1, 2]"`,
		"path,label\na.jpg,fl\xfbte\n": "! expected UTF-8",
	} {
		d, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{})
		if refused, ok := strings.CutPrefix(want, "! "); ok {
			if err == nil || !strings.Contains(err.Error(), refused) {
				t.Errorf("%q: %v, expected %q", text, err, refused)
			}
		} else if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if diff := cmp.Diff(want, described(d)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
	opts, told := noted()
	read(t, "filename,class\na.jpg,x\nb.jpg,y\n", opts)
	if len(*told) != 1 || !strings.Contains((*told)[0], `took the column "filename" for the path and "class" for the label`) {
		t.Errorf("told %q", *told)
	}
}

// Columns named by the user take precedence over winnow's own, which become others; a written manifest reads the same.
func TestNamedColumns(t *testing.T) {
	const want = "path,label,split,true_label,other_label\na.jpg,x,test,y,7\nb.jpg,y,train,,8\n"
	for _, text := range []string{
		"photo,label,noisy,part,clean\na.jpg,7,x,test,y\nb.jpg,8,y,,\n",
		"photo\tlabel\tnoisy\tpart\tclean\na.jpg\t7\tx\ttest\ty\nb.jpg\t8\ty\t\t\n",
		`{"photo":"a.jpg","label":7,"noisy":"x","part":"test","clean":"y"}` + "\n" +
			`{"photo":"b.jpg","label":8,"noisy":"y","part":null,"clean":null}`,
	} {
		d := read(t, text, ReadOptions{Names: Names{Path: "photo", Label: "noisy", Split: "Part", True: "clean"}})
		if got := rowsOf(t, d); got != want || rowsOf(t, read(t, got, ReadOptions{})) != want {
			t.Errorf("%q: %s", text, got)
		}
	}
	d := read(t, "/data/CUB/images/001.A, B/x_1.jpg,2\n/data/CUB/images/002/y.jpg,1\n",
		ReadOptions{StripPrefix: "/data/CUB", Split: Test})
	if got := described(d); got != "images/001.A, B/x_1.jpg 2 test, images/002/y.jpg 1 test" {
		t.Errorf("a prefix: %s", got)
	}
}

// A manifest that cannot be read gives a one-line error with the place.
func TestBadManifests(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "m: file is empty",
		"path,label\n":                     "no sample found",
		"path,name,x\na,b,c\n":             "expected the columns path and label",
		"path,label,label\n":               "appears twice",
		"path,label,x,y,x\na,b,1,2,3\n":    "column \"x\" appears twice",
		"path,label\na.jpg\n":              "wrong number of fields",
		"path,label\n../a.jpg,1\n":         "m:2: path \"../a.jpg\" leaves the root",
		"path,label\n/a.jpg,1\n":           "is absolute",
		"path,label\nC:\\a\\1.jpg,cat\n":   "is on a Windows drive",
		"path,label\ns3://b/x/1.jpg,cat\n": `path "s3://b/x/1.jpg" is an address`,
		"path,label\n,1\n":                 "m:2: path is empty",
		"path,label,split\na.jpg,1,tset\n": "m:2: split \"tset\" is unknown (did you mean \"test\"?): known are",
		"a/b,x7\n":                         "m:1: label \"x7\" is not an integer",
		"{\"path\":\"a.jpg\"}":             "not \"label\"",
		"{\"path\":\"a.jpg\",":             "m:1: found no complete JSON object, expected one per line",
		"path,label\n\"a.jpg,1\n":          "m: parse error on line 2",
		"path,label\na\"b.jpg,1\n":         "m: parse error on line 2",
		"PAR1\x15\x04\x15":                 "m: is not text, expected a manifest",
		"PK\x03\x04rest":                   "m: is not text",
		"path,label\na\x00b.jpg,1\n":       "m: is not text",
		"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n": "Git LFS pointer",
		strings.Repeat("x", 99_000) + ",y,1\n":                                      "m:1: header is \"xxx",
		"a.jpg 1\nb.jpg " + strings.Repeat("1", 2<<20):                              "token too long",
		`<annotations><image id="0" name="a"/></annotations>`:                       "export other formats as COCO",
		`{"classes": ["a"], "labels": {"1": 0}}`: "FiftyOne's label file, which " +
			"winnow does not read",
		`{"image": {"0": "a.jpg"}, "label": {"0": "x"}}`: "instead of a path",
		`{"image": ["a.jpg"], "label": ["x"]}`:           "instead of a path",
		`[{"image": "a.jpg", "label": "x"}, {"image"`:    "unexpected EOF",
		`[{"image": "a.jpg", "label": "x"}] x`:           "more after",
	} {
		_, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 500 {
			t.Errorf("%.300q: got %.600v, expected %q in it", text, err, want)
		}
	}
	for text, names := range map[string]Names{"photo,kind\na.jpg,x\n": {Path: "phto", Label: "kind"},
		"a.jpg,1\n": {Path: "x"}, "photo,kind\nb.jpg,x\n": {Path: "kind", Label: "kind"}} {
		if _, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{Names: names}); err == nil {
			t.Errorf("%q was read by the names %+v", text, names)
		}
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none.csv"), ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: got %v", err)
	}
	if got := lookAlikes([]string{"-1", "1", "1.0", "a-b", "a b"}); fmt.Sprint(got) != "[[1 1.0] [a-b a b]]" {
		t.Errorf("look alike: %q", got)
	}
}

// A list without a header is accepted only if every row has its image.
func TestCheckList(t *testing.T) {
	files := fstest.MapFS{"a/1.jpg": {}, "a/2.jpg": {}}
	for text, want := range map[string]string{
		"a/1.jpg 0\na/2.jpg 1\n":                                  "",
		"path,label\na/1.jpg,0\nb/1.jpg,1\n":                      "",
		"a/1.jpg,0\na/3.jpg,1\nc/2.jpg,2\nx/1.jpg,5\nx/2.jpg,5\n": `4 of 5 rows name no file below the root`,
	} {
		d := read(t, text, ReadOptions{})
		if err := d.CheckList(t.Context(), files); err == nil && want != "" || err != nil && (want == "" ||
			!strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
}

func TestMerge(t *testing.T) {
	a := read(t, "path,label,note\na.jpg,5,n\n", ReadOptions{})
	b := read(t, "path,label,other\nb.jpg,12,o\nc.jpg,5,p\n", ReadOptions{Split: Test})
	d := Merge(a, b)
	if got := rowsOf(t, d); strings.Join(d.Classes, " ") != "5 12" ||
		got != "path,label,split,note,other\na.jpg,5,train,n,\nb.jpg,12,test,,o\nc.jpg,5,test,,p\n" {
		t.Errorf("%q, classes %q", got, d.Classes)
	}
}

// The released lists have the counts given in PROVENANCE.md.
func TestReleasedPRISMLists(t *testing.T) {
	for name, want := range map[string]struct{ samples, classes int }{
		"CUB_train.csv":  {5864, 100},
		"CUB_test.csv":   {5924, 100},
		"CARS_train.csv": {8054, 98},
		"SOP_train.csv":  {59551, 11318},
	} {
		data := unzip(t, reference.Asset(t, "data/prism-lists.zip"), name)
		d, err := ReadManifest(bytes.NewReader(data), name, ReadOptions{StripPrefix: "/data/"})
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Samples) != want.samples || len(d.Classes) != want.classes {
			t.Errorf("%s: %d samples of %d classes, expected %d of %d", name, len(d.Samples), len(d.Classes),
				want.samples, want.classes)
		}
	}
}

// A new key in every row would make a table that is quadratic in the rows, so it is rejected before it is built.
func TestJSONLines(t *testing.T) {
	rows := func(n, keys int) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, "{\"path\":\"%d.jpg\",\"label\":1,\"k%d\":2}\n", i, i%keys)
		}
		return text.String()
	}
	text := rows(20_000, 20_000)
	var err error
	memory.Check(t, 64<<20, func() { _, err = ReadManifest(strings.NewReader(text), "m", ReadOptions{}) })
	if err == nil || !strings.Contains(err.Error(), "different keys give a table") {
		t.Errorf("a new key a row: %v", err)
	}
	if d := read(t, rows(20_000, 40), ReadOptions{}); len(d.Columns) != 40 || len(d.Samples[0].Extra) != 40 {
		t.Errorf("%d columns", len(d.Columns))
	}
}

// Boxes are found by their column names in CSV, JSON lines and lists of objects, or refused.
func TestBoxColumns(t *testing.T) {
	const crop = "a.jpg 10,10,60,50 x train"
	for columns, values := range map[string]string{
		"xmin,ymin,xmax,ymax": "10,10,70,60", "xmin,xmax,ymin,ymax": "10,70,10,60", "x1,y1,w,h": "10,10,60,50",
		"x0,y0,x1,y1": "10,10,70,60", "minX,minY,maxX,maxY": "10,10,70,60", "cx,cy,w,h": "40,35,60,50",
		"X_Center,Y_Center,Width,Height": "40,35,60,50", "xcenter,ycenter,w,h": "40,35,60,50",
		"bbox_x,bbox_y,bbox_w,bbox_h": "10,10,60,50", "Roi.X1,Roi.Y1,Roi.X2,Roi.Y2": "10,10,70,60",
		"left,top,right,bottom": "10,10,70,60", "left,top,width,height": "10,10,60,50",
		"width,height,x1,y1,x2,y2": "200,200,10,10,70,60", "x,y,width,height": "10,10,60,50",
		"bbox": "", "boxes": "", "bbox_xywh": "", "bbox_0,bbox_1,bbox_2,bbox_3": "!10,10,70,60",
		"x1,y1,x2,y2,x3,y3,x4,y4": "!1,1,9,1,9,9,1,9",
	} {
		values, refused := strings.CutPrefix(values, "!")
		if values == "" {
			values, refused = `"[10, 10, 70, 60]"`, true
		}
		d, err := ReadManifest(strings.NewReader("path,label,"+columns+"\na.jpg,x,"+values+"\n"), "m", ReadOptions{})
		if refused && (err == nil || !strings.Contains(err.Error(), "box")) || !refused && (err != nil ||
			described(d) != crop) {
			t.Errorf("%s: %v, %+v", columns, err, d)
		}
	}
	for text, want := range map[string]string{
		`{"image": "a.jpg", "label": "x", "xmin": 10, "ymin": 10, "xmax": 70, "ymax": 60}`: crop,
		"image,label,box\na.jpg,x,A12\n":                                            "a.jpg x train",
		"path,label,eye_x,eye_y,nose_x,nose_y,ear_x,ear_y\na.jpg,x,1,2,3,4,5,6\n":   "a.jpg x train",
		"path,label,lat,lon,year,day,index\na.jpg,x,1,2,2019,4,5\n":                 "a.jpg x train",
		"path,label,x1,y1\na.jpg,x,1,2\n":                                           "a.jpg x train",
		"path,label,x1,y1,x2,y2\na.png,a,1,2,3,4\na.png,a,x,2,3,4\n":                "a.png 1,2,2,2 a train, left 1 rows not readable",
		"path,label,x1,y1,x2,y2\na.png,a,1,2,3,4\na.png,a,,,,\na.png,a,1,2,3,\n":    "a.png 1,2,2,2 a train, left 1 rows not readable, left 1 rows without a box",
		"path,label,x1,y1,x2,y2\na.png#xywh=1:2:3:4,a,1,2,3,4\na.png,a,1,2,NaN,4\n": "a.png 1,2,3,4 a train, left 1 rows not readable",
	} {
		if got := described(read(t, text, ReadOptions{})); got != want {
			t.Errorf("%q: %s, expected %s", text, got, want)
		}
	}
	if _, err := ReadManifest(strings.NewReader("path,label,x1,y1,x2,y2\na.png,a,.1,.2,.3,.4\n"), "m",
		ReadOptions{}); err == nil || !strings.Contains(err.Error(), "shares of the sides") {
		t.Errorf("shares without a picture: %v", err)
	}
	dir := onDisk(t, map[string]string{"1.png": "", "m.tsv": "image\tclass\tx1\ty1\tx2\ty2\n1.png\ta\t.05\t.2\t.25\t.6\n"})
	if d, err := ReadFile(filepath.Join(dir, "m.tsv"), ReadOptions{}); err != nil || described(d) != "1.png 10,20,40,40 a train" {
		t.Errorf("shares: %v, %v", d, err)
	}
}

// Reading stops when its context ends.
func TestReadInterrupted(t *testing.T) {
	files := fstest.MapFS{"train/a/1.png": {}, "train/b/3.png": {}, "test/a/4.png": {}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ReadFolders(files, "images", ReadOptions{Once: ctx}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected %v", err, context.Canceled)
	}
}

// Any text gives an error, or samples that can be written, fixed and read again.
func FuzzReadManifest(f *testing.F) {
	for _, text := range []string{"path,label,split,true_label\na.jpg,1,train,2\n\"b\n\",\"x\",,\n",
		"{\"path\":\"a.jpg\",\"label\":3,\"k\":[1]}\n{\"path\":\"b.jpg\",\"label\":\"x\",\"l\":{}}",
		"/data/a b,c.jpg,7\nb,8", "\ufeffpath,label\r\n\"a\"\"b\",c\r\n\r\nb,d", "path;label;x;y;w;h\r\n1.png;a;1;2;3;4\r\n",
		"pAth,lABel\r\n\"\"\"\",0\r0", "[{\"image\": \"a\", \"label\": 1}, {\"image\": \"b\", \"label\": 2}]", cocoFile} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(t.TempDir(), "m")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := ReadFile(file, ReadOptions{})
		if err != nil {
			return
		}
		for i, s := range d.Samples {
			if s.Label < Unlabelled || s.Label >= len(d.Classes) || s.True < Unlabelled || s.True >= len(d.Classes) ||
				len(s.Extra) != len(d.Columns) {
				t.Fatalf("sample %d: %+v of %d classes", i, s, len(d.Classes))
			}
		}
		rowsOf(t, d)
		fixed, _, err := fixAt(file, d, map[int]Decision{0: {Label: "17"}})
		if err != nil {
			return // the format cannot store this label
		}
		again, err := ReadManifest(strings.NewReader(fixed), "m", ReadOptions{})
		if err != nil || len(again.Samples) < len(d.Samples) || again.LabelName(again.Samples[0]) != "17" {
			t.Fatalf("%q was fixed to %q, which is read as %+v, %v", text, fixed, again, err)
		}
	})
}

// Rows with several labels are left out, a JSON list of one label is that label, and class names that contain
// separators are kept.
func TestSeveralLabels(t *testing.T) {
	for _, c := range []struct{ labels, classes, said string }{
		{`["tench"];["church"];["tench"]`, "church tench", ""},
		{`['tench'];church`, "church tench", ""},
		{`["tench", "people"];["church"]`, "church", `1 row (with several labels, such as "[\"tench\", \"people\"]")`},
		{`[];church;{"a": 1};[{"label": "x"}]`, "church", "3 rows (with JSON instead of one label"},
		{`[3];4`, "3 4", ""},
		{`tench|people;church`, "church", "1 row (with several labels"},
		{`tench + people;tench`, "tench tench + people", ""},
		{`crane, bird;crane, machine;stork`, "crane, bird crane, machine stork", ""},
		{`missile;projectile, missile;cock`, "cock missile projectile, missile", ""},
		{`[PAD];x`, "[PAD] x", ""},
	} {
		var table, lines strings.Builder
		table.WriteString("path,label\n")
		for i, label := range strings.Split(c.labels, ";") {
			name := string(rune('a'+i)) + ".jpg"
			table.WriteString(joinCells([]string{name, label}, ',') + "\n")
			lines.WriteString(`{"path": "` + name + `", "label": ` + strconv.Quote(label) + "}\n")
		}
		for _, text := range []string{table.String(), lines.String(), strings.ReplaceAll(table.String(), ",", "\t")} {
			if strings.Contains(text, "\t") && strings.Contains(c.labels, ",") {
				continue
			}
			opts, told := noted()
			d, err := ReadManifest(strings.NewReader(text), "m", opts)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(d.Classes, " "); got != c.classes ||
				!strings.Contains(strings.Join(*told, "\n"), c.said) || c.said == "" && len(*told) > 0 {
				t.Errorf("%s: classes %q, noted %q, expected %q and %q", text, got, *told, c.classes, c.said)
			}
		}
	}
}

// Tables in other encodings are read correctly.
func TestEncodings(t *testing.T) {
	const table = "path\tlabel\r\na.jpg\tflûte\r\nb.jpg\tfläte\r\nc.jpg\tsaw\r\n"
	texts := map[string]string{"latin1": strings.NewReplacer("û", "\xfb", "ä", "\xe4").Replace(table), "utf-8": table}
	for name, endian := range map[string]unicode.Endianness{"le": unicode.LittleEndian, "be": unicode.BigEndian} {
		var err error
		if texts[name], err = unicode.UTF16(endian, unicode.UseBOM).NewEncoder().String(table); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range texts {
		file := filepath.Join(t.TempDir(), "m.txt")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := ReadFile(file, ReadOptions{})
		if err != nil || strings.Join(d.Classes, " ") != "fläte flûte saw" {
			t.Errorf("%s: %v, %v", name, d, err)
		}
	}
}
