package datasets

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// folderOf makes a folder of files. In a name, = precedes the content, which by default is the start of an image.
func folderOf(t *testing.T, files ...string) string {
	t.Helper()
	texts := map[string]string{}
	for _, file := range files {
		name, text, ok := strings.Cut(file, "=")
		if !ok {
			text = "\xff\xd8\xff\xe0 " + name
		}
		texts[name] = text
	}
	return written(t, texts)
}

// zipOf makes a zip file of empty files.
func zipOf(t *testing.T, names ...string) string {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	for _, name := range names {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "some.zip")
	if err := os.WriteFile(file, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// Class folders are found inside a wrapping folder, below splits, and in zip files; folders without images are skipped.
func TestFoldersFound(t *testing.T) {
	for files, want := range map[string]string{
		"cat/1.jpg dog/2.jpg":                              "cat/1.jpg cat train,dog/2.jpg dog train",
		"photos/cat/1.jpg photos/dog/2.jpg":                "photos/cat/1.jpg cat train,photos/dog/2.jpg dog train",
		"p/q/train/cat/1.jpg p/q/test/dog/2.jpg":           "p/q/test/dog/2.jpg dog test,p/q/train/cat/1.jpg cat train",
		"cat/1.jpg cat/old/2.jpg":                          "cat/1.jpg cat train,cat/old/2.jpg cat train",
		"val/cat/1.jpg val/dog/2.jpg":                      "val/cat/1.jpg cat validation,val/dog/2.jpg dog validation",
		"cat/1.HEIC dog/3.png dog/4.txt":                   "cat/1.HEIC cat train,dog/3.png dog train",
		"train/1.jpg car/2.jpg":                            "car/2.jpg car train,train/1.jpg train train",
		"Training/cat/1.jpg TESTING/cat/2.jpg":             "TESTING/cat/2.jpg cat test,Training/cat/1.jpg cat train",
		"train/cat/1.jpg test/dog/2.jpg unlabeled/3.jpg":   "test/dog/2.jpg dog test,train/cat/1.jpg cat train",
		"cat/1.jpg dog/2.jpg cover.jpg":                    "cat/1.jpg cat train,dog/2.jpg dog train",
		"images/cat/1.jpg images/dog/2.jpg parts/a.txt":    "images/cat/1.jpg cat train,images/dog/2.jpg dog train",
		"images/cat/1.jpg images/dog/2.jpg sketches/3.jpg": "images/cat/1.jpg images train,images/dog/2.jpg images train,sketches/3.jpg sketches train",
		"train/cat/images/1.jpg train/dog/images/2.jpg val/images/3.jpg test/images/4.jpg": "train/cat/images/1.jpg cat train," +
			"train/dog/images/2.jpg dog train",
		"cat/1.jpg cat/@eaDir/1.jpg/thumb.jpg #recycle/9.jpg dog/2.jpg __MACOSX/cat/._1.jpg": "cat/1.jpg cat train,dog/2.jpg dog train",
		"seg_train/seg_train/sea/1.jpg seg_train/seg_train/ice/2.jpg seg_test/seg_test/ice/3.jpg seg_pred/4.jpg": "" +
			"seg_test/seg_test/ice/3.jpg ice test,seg_train/seg_train/ice/2.jpg ice train,seg_train/seg_train/sea/1.jpg sea train",
		"training_set/cat/1.jpg training_set/dog/2.jpg test_set/cat/3.jpg": "test_set/cat/3.jpg cat test," +
			"training_set/cat/1.jpg cat train,training_set/dog/2.jpg dog train",
		"train2017/a/1.jpg val2017/b/2.jpg":                           "train2017/a/1.jpg a train,val2017/b/2.jpg b validation",
		"cat/train/1.jpg cat/test/2.jpg dog/train/3.jpg":              "cat/test/2.jpg cat test,cat/train/1.jpg cat train,dog/train/3.jpg dog train",
		"cat/00.jpg dog/00.jpg":                                       "cat/00.jpg cat train,dog/00.jpg dog train",
		"blood_test/1.jpg eye_test/2.jpg":                             "blood_test/1.jpg blood_test train,eye_test/2.jpg eye_test train",
		"photos/1.jpg photos/2.jpg":                                   "photos/1.jpg photos train,photos/2.jpg photos train",
		"2019/cat/1.jpg 2019/dog/2.jpg 2020/cat/3.jpg 2020/dog/4.jpg": "! found the folders cat, dog in several others",
		"amazon/images/cat/1.jpg amazon/images/dog/2.jpg web/images/cat/3.jpg web/images/dog/4.jpg": "! lower folders are the " +
			"classes (amazon/images/cat/1.jpg is of class \"cat\"), or the upper ones (of class \"amazon\")",
		"fold1/train/a/1.jpg fold1/test/b/2.jpg fold2/train/a/3.jpg fold2/test/b/4.jpg": "! a, b in several others",
		"a/p1/neg/1.jpg a/p1/pos/2.jpg b/p2/neg/3.jpg b/p2/pos/4.jpg":                   "! neg, pos in several others",
		"dog/poodle/1.jpg dog/beagle/2.jpg cat/siamese/3.jpg":                           "cat/siamese/3.jpg cat train,dog/beagle/2.jpg dog train,dog/poodle/1.jpg dog train",
		"cat/old/1.jpg dog/old/2.jpg":                                                   "cat/old/1.jpg cat train,dog/old/2.jpg dog train",
		"bbox_train/0001/1.jpg bbox_train/0003/2.jpg bbox_test/0002/3.jpg": "bbox_test/0002/3.jpg 0002 test," +
			"bbox_train/0001/1.jpg 0001 train,bbox_train/0003/2.jpg 0003 train",
		"JPEGImages/1.jpg JPEGImages/2.jpg SegmentationClass/1.png SegmentationClass/2.png": "! of the same names",
		"mask/1.jpg nomask/1.jpg": "mask/1.jpg mask train,nomask/1.jpg nomask train",
		"train/1.jpg test/2.jpg":  "! found images directly in test and train and no class folder",
		"1.jpg 2.jpg labels.csv": "! found images directly in it and no class folder: " +
			"put each class into its own folder, or write a list with the columns path and label",
		"train/cat/1.jpg cat/2.jpg": "! two readings are possible",
		"a/images/1.jpg a/images/2.jpg": "! found images directly in images and no " +
			"class folder",
		"images/1.jpg images/2.jpg masks/1.png masks/2.png": "! found the folders images and masks with " +
			"images of the same names",
		"RGB/1.jpg RGB/2.jpg GT/1.png Depth/1.png":                  "! of the same names",
		"images/a/1.jpg images/b/2.jpg masks/a/1.png masks/b/2.png": "! of the same names",
		"readme.txt": "! no image found",
	} {
		names := strings.Fields(files)
		for from, source := range map[string]string{"folder": folderOf(t, names...), "zip": zipOf(t, names...)} {
			d, err := ReadFile(source, ReadOptions{})
			if refused, ok := strings.CutPrefix(want, "! "); ok {
				if err == nil || !strings.Contains(err.Error(), refused) {
					t.Errorf("%s of %s: %v, expected %q", from, files, err, refused)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s of %s: %v", from, files, err)
				continue
			}
			var got []string
			for _, s := range d.Samples {
				got = append(got, s.Path+" "+d.Classes[s.Label]+" "+s.Split)
			}
			if diff := cmp.Diff(want, strings.Join(got, ",")); diff != "" {
				t.Errorf("%s of %s (-want +got):\n%s", from, files, diff)
			}
		}
	}
	both := fstest.MapFS{"train/cat/1.jpg": {}, "cat/2.jpg": {}}
	for format, want := range map[Format]string{Folders: "train/cat/1.jpg cat train, left 1 images in cat in no split",
		Classes: "cat/2.jpg cat train, train/cat/1.jpg train train"} {
		if d, err := ReadFolders(both, "m", ReadOptions{Format: format}); err != nil || described(d) != want {
			t.Errorf("%s: found %q, %v; expected %q", format, described(d), err, want)
		}
	}
}

// Class folders that repeat below several domains are read as the format requires.
func TestFoldersRepeat(t *testing.T) {
	domains := fstest.MapFS{"art/cup/1.jpg": {}, "art/bed/2.jpg": {}, "real/cup/3.jpg": {}, "real/bed/4.jpg": {}}
	for format, want := range map[Format]string{Folders: "bed cup [folder]", Classes: "art real []"} {
		d, err := ReadFolders(domains, "m", ReadOptions{Format: format})
		if err != nil || fmt.Sprint(strings.Join(d.Classes, " "), " ", d.Columns) != want {
			t.Errorf("%s: %v %v %v, expected %s", format, d.Classes, d.Columns, err, want)
		}
	}
}

// Everything left out is counted and named.
func TestFoldersReading(t *testing.T) {
	folder := fstest.MapFS{"d/images/cat/1.jpg": {}, "d/images/Cat /2.jpg": {}, "d/images/dog/4.jpg": {},
		"d/images/dog/notes": {Data: []byte("no picture")}, "d/images/dog/a.TXT": {},
		"d/images/9.jpg": {}, "d/parts/p.txt": {}, "d/@eaDir/x/1.jpg": {}, "d/images/.hidden/1.jpg": {},
		"d/images/none/x.txt": {}, "d/images/\u00e9/5.jpg": {}, "d/images/e\u0301/6.jpg": {}}
	opts, told := noted()
	d, err := ReadFolders(folder, "m", opts)
	if err != nil {
		t.Fatal(err)
	}
	want := &Reading{Form: "class folders", At: "d/images", Left: []Left{{"in no class folder", "images", 1, ""},
		{"no image", ".txt", 3, ""}, {"no image", "files without an extension", 1, ""}, {"service folder", "@eaDir",
			1, ""}}, Alike: [][]string{{"Cat ", "cat"}, {"e\u0301", "\u00e9"}}}
	if diff := cmp.Diff(want, d.Reading); diff != "" || len(d.Samples) != 5 {
		t.Errorf("%d samples (-want +got):\n%s", len(d.Samples), diff)
	}
	text := strings.Join(*told, "\n")
	for _, want := range []string{"m: read as class folders below d/images", "1 image (in no class folder)",
		"3 .txt (no image)", `as different classes: "Cat " and "cat"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told: %s", want, text)
		}
	}
}

// FuzzFolders reads folders with any names: every image is either read or counted.
func FuzzFolders(f *testing.F) {
	for _, names := range []string{"a/1.jpg\nb/2.jpg\nb/x.txt", "train/a/1.jpg\ntest/a/2.jpg\nother/3.jpg",
		"images/a/1.jpg\nparts/x.txt\n1.jpg", "@eaDir/1.jpg\na/2.jpg\n.b/3.jpg"} {
		f.Add(names)
	}
	f.Fuzz(func(t *testing.T, names string) {
		tree := fstest.MapFS{}
		for name := range strings.SplitSeq(names, "\n") {
			if fs.ValidPath(name) && name != "." {
				tree[name] = &fstest.MapFile{Data: []byte("\xff\xd8\xff\xe0")}
			}
		}
		listed, err := listTree(t.Context(), tree)
		if err != nil {
			return // a file has the name of a folder
		}
		d, err := ReadFolders(tree, "f", ReadOptions{})
		if err != nil {
			return
		}
		found := len(d.Samples)
		for _, l := range d.Reading.Left {
			if strings.HasPrefix(l.Of, "image") {
				found += l.Files
			}
		}
		if pictures := len(listed.images); found != pictures {
			t.Errorf("%q: %d of %d pictures are read or counted: %+v", names, found, pictures, d.Reading)
		}
	})
}
