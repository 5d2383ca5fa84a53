package datasets

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"winnow/internal/testing/reference"
)

func read(t *testing.T, text string, opts ReadOptions) *Dataset {
	t.Helper()
	d, err := ReadManifest(strings.NewReader(text), "m", opts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestReadManifest(t *testing.T) {
	want := &Dataset{
		Classes: []string{"2", "10"},
		Samples: []Sample{
			{Path: "a/1.jpg", Label: 1, True: 0, Split: Train},
			{Path: "b,c.jpg", Label: 0, True: 0, Split: Validation},
			{Path: "d.jpg", Label: Unlabelled, True: 1, Split: Train},
		},
	}
	for name, text := range map[string]string{
		"csv": "path,label,split,true_label\na/1.jpg,10,train,2\n\"b,c.jpg\",2,val,2\n./d.jpg,,,10\n",
		"bom crlf": "\ufeffPath,Label,Split,True_Label\r\n" +
			"a/1.jpg,10,train,2\r\n\"b,c.jpg\",2,valid,2\r\nd.jpg,,,10\r\n",
		"columns moved": "true_label,split,label,path\n2,train,10,a/1.jpg\n2,validation,2,\"b,c.jpg\"\n10,,,d.jpg\n",
		"jsonl": `{"path":"a/1.jpg","label":10,"split":"train","true_label":"2"}` + "\n\n" +
			`{"path":"b,c.jpg","label":"2","split":"val","true_label":2}` + "\n" +
			`{"path":"d.jpg","label":null,"true_label":10}`,
	} {
		if diff := cmp.Diff(want, read(t, text, ReadOptions{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReadPRISM(t *testing.T) {
	d := read(t, "/data/CUB/images/001.A, B/x_1.jpg,2\n/data/CUB/images/002/y.jpg,1\n",
		ReadOptions{StripPrefix: "/data/CUB", Split: Test})
	want := []Sample{
		{Path: "images/001.A, B/x_1.jpg", Label: 1, True: Unlabelled, Split: Test},
		{Path: "images/002/y.jpg", Label: 0, True: Unlabelled, Split: Test},
	}
	if diff := cmp.Diff(want, d.Samples); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Lists without a header have a comma, a tab or a space before the label, which is a number or, of an image, a name.
func TestReadLists(t *testing.T) {
	for text, want := range map[string]string{
		"ILSVRC2012_val_1.JPEG 65\nILSVRC2012_val_2.JPEG 970\n": "65 ILSVRC2012_val_1.JPEG, 970 ILSVRC2012_val_2.JPEG",
		"a b/1.jpg\tcat\na b/2.jpg\tdog\n":                      "cat a b/1.jpg, dog a b/2.jpg",
		"cat/1.jpg cat\r\ndog/2.png dog\r\n":                    "cat cat/1.jpg, dog dog/2.png",
		"x/1.jpg,tabby cat\nx/2.jpg,dog\n":                      "tabby cat x/1.jpg, dog x/2.jpg",
	} {
		d := read(t, text, ReadOptions{})
		var got []string
		for _, s := range d.Samples {
			got = append(got, d.LabelName(s)+" "+s.Path)
		}
		if diff := cmp.Diff(want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// A list without a header is one where every row has its picture.
func TestCheckList(t *testing.T) {
	files := fstest.MapFS{"a/1.jpg": {}, "a/2.jpg": {}}
	for text, want := range map[string]string{
		"a/1.jpg 0\na/2.jpg 1\n":                                  "",
		"path,label\na/1.jpg,0\nb/1.jpg,1\n":                      "",
		"a/1.jpg,0\na/3.jpg,1\nc/2.jpg,2\nx/1.jpg,5\nx/2.jpg,5\n": `read as a list without a header: 4 of 5 rows name no`,
		"Bilder/Name.jpg,owl\na/1.jpg,owl\n":                      `1 of 2 rows name no file below the root (row 1: "Bilder/Name.jpg" with the label "owl")`,
	} {
		list := filepath.Join(t.TempDir(), "l")
		if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := ReadFile(list, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err = d.CheckList(t.Context(), files); err == nil && want != "" || err != nil && (want == "" ||
			!strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
}

func TestReadFolders(t *testing.T) {
	file := &fstest.MapFile{Data: []byte("x")}
	flat := fstest.MapFS{"a/1.jpg": file, "a/deep/2.PNG": file, "b/3.webp": file, "b/notes.txt": file,
		".git/4.jpg": file, "b/.5.jpg": file}
	d, err := ReadFolders(flat, "m", ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []Sample{
		{Path: "a/1.jpg", Label: 0, True: Unlabelled, Split: Train},
		{Path: "a/deep/2.PNG", Label: 0, True: Unlabelled, Split: Train},
		{Path: "b/3.webp", Label: 1, True: Unlabelled, Split: Train},
	}
	if diff := cmp.Diff(want, d.Samples); diff != "" {
		t.Errorf("flat (-want +got):\n%s", diff)
	}
	split := fstest.MapFS{"train/a/1.jpg": file, "val/b/2.jpg": file, "test/c/3.jpg": file}
	if d, err = ReadFolders(split, "m", ReadOptions{}); err != nil {
		t.Fatal(err)
	}
	want = []Sample{
		{Path: "test/c/3.jpg", Label: 2, True: Unlabelled, Split: Test},
		{Path: "train/a/1.jpg", Label: 0, True: Unlabelled, Split: Train},
		{Path: "val/b/2.jpg", Label: 1, True: Unlabelled, Split: Validation},
	}
	if diff := cmp.Diff(want, d.Samples); diff != "" {
		t.Errorf("split (-want +got):\n%s", diff)
	}
	if _, err = ReadFolders(fstest.MapFS{"readme.txt": file}, "m", ReadOptions{}); err == nil ||
		!strings.Contains(err.Error(), "no image found") {
		t.Errorf("a folder without images: got %v", err)
	}
}

// lastEntry is a folder tree that cancels a context when a folder is listed.
type lastEntry struct {
	fstest.MapFS
	dir    string
	cancel func()
}

func (l lastEntry) ReadDir(name string) ([]fs.DirEntry, error) {
	if name == l.dir {
		l.cancel()
	}
	return l.MapFS.ReadDir(name)
}

// TestFoldersInterrupted: the walk of a folder ends with its context, wherever it is.
func TestFoldersInterrupted(t *testing.T) {
	files := fstest.MapFS{"train/a/1.png": {}, "train/a/deep/2.png": {}, "train/b/3.png": {}, "test/a/4.png": {}}
	for _, dir := range []string{".", "train", "train/a", "train/a/deep", "train/b", "none"} {
		ctx, cancel := context.WithCancel(t.Context())
		d, err := ReadFolders(lastEntry{files, dir, cancel}, "images", ReadOptions{Once: ctx})
		if want := context.Canceled; dir != "none" && !errors.Is(err, want) {
			t.Errorf("in %s: %v, expected %v", dir, err, want)
		} else if dir == "none" && (err != nil || len(d.Samples) != 4) {
			t.Errorf("not interrupted: %v", err)
		}
		cancel()
	}
}

func TestBadManifests(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "m: file is empty",
		"path,label\n":                     "no sample found",
		"path,name,x\na,b,c\n":             "expected the columns path and label",
		"path,label,label\n":               "appears twice",
		"path,label,x,y,x\na,b,1,2,3\n":    "column \"x\" appears twice",
		"path,label\na.jpg\n":              "m:2: 1 fields, expected 2",
		"path,label\n../a.jpg,1\n":         "m:2: path \"../a.jpg\" leaves the root",
		"path,label\n/a.jpg,1\n":           "is absolute",
		"path,label\n,1\n":                 "m:2: path is empty",
		"path,label,split\na.jpg,1,tset\n": "m:2: split \"tset\" is unknown (did you mean \"test\"?): known are",
		"a/b,x7\n":                         "m:1: label \"x7\" is not an integer",
		"{\"path\":\"a.jpg\"}":             "no key \"label\"",
		"{\"path\":\"a.jpg\",":             "m:1: found no whole JSON object, expected one in each line",
		"path,label\n\"a.jpg,1\n":          "m:2: found a quote that begins a value and does not end it",
		"path,label\na\"b.jpg,1\n":         "m:2: found a quote inside a value, expected it doubled",
	} {
		_, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, expected %q in it", text, err, want)
		}
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "none.csv"), ReadOptions{}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing file: got %v", err)
	}
}

func TestWriteRoundTrip(t *testing.T) {
	d := read(t, "path,label,split,true_label,who,when\na.jpg,x,train,y,\"me, too\",1\nb.jpg,,test,,\"\",2\n",
		ReadOptions{})
	var out bytes.Buffer
	if err := WriteCSV(&out, d); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(d, read(t, out.String(), ReadOptions{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestMerge(t *testing.T) {
	a := read(t, "path,label,note\na.jpg,5,n\n", ReadOptions{})
	b := read(t, "path,label,other\nb.jpg,12,o\nc.jpg,5,p\n", ReadOptions{Split: Test})
	want := &Dataset{
		Classes: []string{"5", "12"}, Columns: []string{"note", "other"},
		Samples: []Sample{
			{Path: "a.jpg", Label: 0, True: Unlabelled, Split: Train, Extra: []string{"n", ""}},
			{Path: "b.jpg", Label: 1, True: Unlabelled, Split: Test, Extra: []string{"", "o"}},
			{Path: "c.jpg", Label: 0, True: Unlabelled, Split: Test, Extra: []string{"", "p"}},
		},
	}
	if diff := cmp.Diff(want, Merge(a, b)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The released lists have the numbers that PROVENANCE.md gives.
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

func FuzzReadManifest(f *testing.F) {
	f.Add("path,label,split,true_label\na.jpg,1,train,2\n")
	f.Add("{\"path\":\"a.jpg\",\"label\":3,\"k\":[1]}\n{\"path\":\"b.jpg\",\"label\":\"x\",\"l\":{}}")
	f.Add("/data/a b,c.jpg,7\n")
	f.Add("\ufeffpath,label\r\n\"a\"\"b\",c")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{})
		if err != nil {
			return
		}
		for i, s := range d.Samples {
			if s.Label < Unlabelled || s.Label >= len(d.Classes) || s.True < Unlabelled || s.True >= len(d.Classes) {
				t.Fatalf("sample %d: label %d, true %d of %d classes", i, s.Label, s.True, len(d.Classes))
			}
			if len(s.Extra) != len(d.Columns) {
				t.Fatalf("sample %d: %d further values, %d columns", i, len(s.Extra), len(d.Columns))
			}
		}
		var out bytes.Buffer
		if err := WriteCSV(&out, d); err != nil {
			t.Fatal(err)
		}
	})
}
