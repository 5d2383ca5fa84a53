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
		"split and class":    {"train/cat/1.jpg cat/2.jpg", "cat/2.jpg cat train,train/cat/1.jpg train train"},
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
