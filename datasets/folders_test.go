package datasets

import (
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
)

// Class folders are found inside a wrapping folder, and folders without images are skipped.
func TestFoldersFound(t *testing.T) {
	for what, c := range map[string]struct {
		files, want string
	}{
		"classes": {"cat/1.jpg dog/2.jpg", "cat/1.jpg cat train,dog/2.jpg dog train"},
		"wrapped": {"photos/cat/1.jpg photos/dog/2.jpg", "photos/cat/1.jpg cat train,photos/dog/2.jpg dog train"},
		"wrapped splits": {"p/q/train/cat/1.jpg p/q/test/dog/2.jpg",
			"p/q/test/dog/2.jpg dog test,p/q/train/cat/1.jpg cat train"},
		"one class": {"cat/1.jpg cat/old/2.jpg", "cat/1.jpg cat train,cat/old/2.jpg cat train"},
		"one split": {"val/cat/1.jpg val/dog/2.jpg", "val/cat/1.jpg cat validation,val/dog/2.jpg dog validation"},
		"from macOS": {"photos/cat/1.jpg photos/dog/2.jpg __MACOSX/photos/cat/._1.jpg",
			"photos/cat/1.jpg cat train,photos/dog/2.jpg dog train"},
		"store beside": {"train/cat/1.jpg test/dog/2.jpg suspects.features/paths.txt",
			"test/dog/2.jpg dog test,train/cat/1.jpg cat train"},
		"formats not read": {"cat/1.HEIC cat/2.tiff dog/3.png dog/4.txt",
			"cat/1.HEIC cat train,cat/2.tiff cat train,dog/3.png dog train"},
		"class named train": {"train/1.jpg car/2.jpg", "car/2.jpg car train,train/1.jpg train train"},
		"splits in any case": {"Training/cat/1.jpg TESTING/cat/2.jpg Dev/dog/3.jpg",
			"Dev/dog/3.jpg dog validation,TESTING/cat/2.jpg cat test,Training/cat/1.jpg cat train"},
		"odd folder beside splits": {"train/cat/1.jpg test/dog/2.jpg unlabeled/3.jpg",
			"test/dog/2.jpg dog test,train/cat/1.jpg cat train"},
		"pictures beside classes": {"cat/1.jpg dog/2.jpg cover.jpg", "cat/1.jpg cat train,dog/2.jpg dog train"},
		"wrapped beside text": {"images/cat/1.jpg images/dog/2.jpg parts/a.txt attributes/b.txt",
			"images/cat/1.jpg cat train,images/dog/2.jpg dog train"},
		"masks": {"images/cat/1.jpg images/dog/2.jpg masks/cat/1.png masks/dog/2.png",
			"images/cat/1.jpg cat train,images/dog/2.jpg dog train"},
		"a class named images": {"images/cat/1.jpg images/dog/2.jpg sketches/3.jpg",
			"images/cat/1.jpg images train,images/dog/2.jpg images train,sketches/3.jpg sketches train"},
		"wrapped beside segmentations": {"CUB/images/a/1.jpg CUB/images/b/2.jpg seg/a/1.png seg/b/2.png CUB/parts/p.txt",
			"CUB/images/a/1.jpg a train,CUB/images/b/2.jpg b train"},
		"splits without class folders": {"train/cat/images/1.jpg train/dog/images/2.jpg val/images/3.jpg test/images/4.jpg",
			"train/cat/images/1.jpg cat train,train/dog/images/2.jpg dog train"},
		"services": {"cat/1.jpg cat/@eaDir/1.jpg/thumb.jpg #recycle/9.jpg lost+found/8.jpg dog/2.jpg",
			"cat/1.jpg cat train,dog/2.jpg dog train"},
		"splits with a prefix": {"seg_train/seg_train/sea/1.jpg seg_train/seg_train/ice/2.jpg seg_test/seg_test/ice/3.jpg " +
			"seg_pred/4.jpg", "seg_test/seg_test/ice/3.jpg ice test,seg_train/seg_train/ice/2.jpg ice train," +
			"seg_train/seg_train/sea/1.jpg sea train"},
		"splits with a suffix": {"training_set/cat/1.jpg training_set/dog/2.jpg test_set/cat/3.jpg",
			"test_set/cat/3.jpg cat test,training_set/cat/1.jpg cat train,training_set/dog/2.jpg dog train"},
		"persons of MARS": {"bbox_train/0001/1.jpg bbox_test/0002/2.jpg",
			"bbox_test/0002/2.jpg 0002 test,bbox_train/0001/1.jpg 0001 train"},
		"splits of COCO's names": {"train2017/a/1.jpg val2017/b/2.jpg",
			"train2017/a/1.jpg a train,val2017/b/2.jpg b validation"},
		"classes above splits": {"cat/train/1.jpg cat/test/2.jpg dog/train/3.jpg",
			"cat/test/2.jpg cat test,cat/train/1.jpg cat train,dog/train/3.jpg dog train"},
		"counted pictures": {"cat/00.jpg cat/01.jpg dog/00.jpg dog/01.jpg", "cat/00.jpg cat train,cat/01.jpg cat train," +
			"dog/00.jpg dog train,dog/01.jpg dog train"},
		"letters in fonts": {"A/arial.png A/times.png B/arial.png B/times.png", "A/arial.png A train," +
			"A/times.png A train,B/arial.png B train,B/times.png B train"},
		"a test of classes": {"blood_test/1.jpg eye_test/2.jpg",
			"blood_test/1.jpg blood_test train,eye_test/2.jpg eye_test train"},
		"nothing in a split": {"train/cat/1.jpg test/README.md", "train/cat/1.jpg cat train"},
	} {
		files, packed := fstest.MapFS{}, filepath.Join(t.TempDir(), "some.zip")
		var out bytes.Buffer
		z := zip.NewWriter(&out)
		for name := range strings.FieldsSeq(c.files) {
			files[name] = &fstest.MapFile{}
			if _, err := z.Create(name); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(packed, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		for from, read := range map[string]func() (*Dataset, error){
			"folder": func() (*Dataset, error) { return ReadFolders(files, what, ReadOptions{}) },
			"zip":    func() (*Dataset, error) { return ReadFile(packed, ReadOptions{}) },
		} {
			d, err := read()
			if err != nil {
				t.Errorf("%s, %s: %v", what, from, err)
				continue
			}
			var got []string
			for _, s := range d.Samples {
				got = append(got, s.Path+" "+d.Classes[s.Label]+" "+s.Split)
			}
			if diff := cmp.Diff(c.want, strings.Join(got, ",")); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", what, from, diff)
			}
		}
	}
}

// Where two readings lead to different labels, or no folder can be a class, the folder is refused with what to do.
func TestFoldersRefused(t *testing.T) {
	for files, want := range map[string]string{
		"train/cat/1.jpg " +
			"cat/2.jpg": `Two readings are possible: splits (train/cat/1.jpg is of class "cat", cat/2.jpg is left out)`,
		"1.jpg 2.jpg":                   "found 2 pictures directly in it and no class folder",
		"photos/1.jpg photos/2.jpg":     "",
		"a/images/1.jpg a/images/2.jpg": "found 2 pictures directly in images and no class folder",
		"images/1.jpg images/2.jpg masks/1.png masks/2.png": "found the folders images and masks with pictures of the " +
			"same names",
		"Images/1.jpg annotations/x/1.png annotations/y.txt":     "found the folders Images and annotations with pictures",
		"train/1.jpg test/2.jpg":                                 "found pictures directly in test and train and no class folders there",
		"train/1.jpg test/2.jpg x/3":                             "found pictures directly in test and train",
		"RGB/1.jpg RGB/2.jpg GT/1.png Depth/1.png Depth/2.png":   "of the same names",
		"train/Images/1.jpg train/Masks/1.png test/Images/2.jpg": "of the same names",
		"2019/cat/1.jpg 2019/dog/2.jpg 2020/cat/3.jpg 2020/dog/4.jpg": "Two readings are possible: the lower folders " +
			"are the classes",
		"amazon/images/bike/1.jpg amazon/images/mug/2.jpg web/images/bike/3.jpg web/images/mug/4.jpg": "Two readings",
		"train/a/cat/1.jpg train/a/dog/1.jpg train/b/cat/2.jpg train/b/dog/2.jpg":                     "Two readings",
		"cars_train/1.jpg cars_test/2.jpg devkit/cars_meta.mat":                                       "the preset cars196, with the root m",
		"jpg/image_1.jpg setid.mat imagelabels.mat":                                                   "preset flowers102",
		"train/1.jpg val/2.jpg x/3.c":                                                                 "found pictures directly in train and val",
	} {
		folder := fstest.MapFS{}
		for name := range strings.FieldsSeq(files) {
			folder[name] = &fstest.MapFile{}
		}
		_, err := ReadFolders(folder, "m", ReadOptions{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", files, err, want)
		}
	}
	years := fstest.MapFS{"2019/cat/1.jpg": {}, "2019/dog/2.jpg": {}, "2020/cat/3.jpg": {}, "2020/dog/4.jpg": {}}
	for format, want := range map[Format]string{Folders: "cat dog", Classes: "2019 2020"} {
		d, err := ReadFolders(years, "m", ReadOptions{Format: format})
		if err != nil || len(d.Samples) != 4 || strings.Join(d.Classes, " ") != want {
			t.Errorf("%s: %+v, %v, expected the classes %s", format, d, err, want)
		}
	}
	both := fstest.MapFS{"train/cat/1.jpg": {}, "cat/2.jpg": {}}
	for format, want := range map[Format]string{Folders: "cat train/cat/1.jpg",
		Classes: "cat cat/2.jpg train train/cat/1.jpg"} {
		d, err := ReadFolders(both, "m", ReadOptions{Format: format})
		var got []string
		for i := range d.Samples {
			got = append(got, d.LabelName(d.Samples[i])+" "+d.Samples[i].Path)
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%s: found %q, %v; expected %q", format, got, err, want)
		}
	}
}

// All that is left out is counted and named.
func TestFoldersReading(t *testing.T) {
	jpeg := &fstest.MapFile{Data: []byte("\xff\xd8\xff\xe0 and so on")}
	folder := fstest.MapFS{"d/images/cat/1.jpg": {}, "d/images/Cat /2.jpg": {}, "d/images/cat/3.jpg_large": jpeg,
		"d/images/dog/IMG_4": jpeg, "d/images/dog/notes": {Data: []byte("no picture")}, "d/images/dog/a.TXT": {},
		"d/images/9.jpg": {}, "d/parts/p.txt": {}, "d/@eaDir/x/1.jpg": {}, "d/images/.hidden/1.jpg": {},
		"d/images/\u00e9/5.jpg": {}, "d/images/e\u0301/6.jpg": {}}
	opts, told := noted()
	d, err := ReadFolders(folder, "m", opts)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(d.Samples); n != 6 {
		t.Errorf("found %d samples, expected 6", n)
	}
	want := &Reading{Form: "class folders", At: "d/images",
		Left: []Left{{"in no class folder", "pictures", 1}, {"no picture", ".txt", 2},
			{"no picture", "files without an ending", 1},
			{"service folder", "@eaDir", 1}},
		Empty: []string{"d/parts"}, Alike: [][]string{{"Cat ", "cat"}, {"e\u0301", "\u00e9"}}}
	if diff := cmp.Diff(want, d.Reading); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	text := strings.Join(*told, "\n")
	for _, want := range []string{"m: read as class folders below d/images", "1 picture (in no class folder)",
		"2 .txt (no picture)",
		"1 folder without pictures (d/parts)", `kept apart: "Cat " and "cat"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not told: %s", want, text)
		}
	}
}

// Mending a zipped folder, like mending a folder, writes a manifest of its content.
func TestMendZip(t *testing.T) {
	packed := filepath.Join(t.TempDir(), "some.zip")
	f, err := os.Create(packed)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	for _, name := range []string{"cat/1.jpg", "dog/2.jpg", "dog/3.jpg"} {
		if _, err := z.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if form, err := FormOf(location.At(packed)); form != CSV || err != nil {
		t.Errorf("found the form %q, %v", form, err)
	}
	d, err := ReadFile(packed, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	did, err := Mend(&out, location.At(packed), d, map[int]Decision{0: {Label: "dog"}, 2: {Drop: true}})
	if want := "path,label,split\ncat/1.jpg,dog,train\ndog/2.jpg,dog,train\n"; err != nil || out.String() != want ||
		did.Relabelled != 1 || did.Dropped != 1 {
		t.Errorf("%q, %+v, %v, expected %q", out.String(), did, err, want)
	}
}
