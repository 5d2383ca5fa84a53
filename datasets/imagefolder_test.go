package datasets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// tree makes a file system of files with the given texts; an image contains the text x.
func tree(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// An imagefolder is read through metadata above or inside the splits, with labels from a column or from folder names.
func TestImageFolder(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"metadata.csv": "file_name,label\ntest/c/3.jpg,1\ntrain/a/1.jpg,2\nval/2.jpg,\n", "val/2.jpg": "x",
			"train/a/1.jpg": "x", "val/8.jpg": "x"},
			"test/c/3.jpg 1 test, train/a/1.jpg 2 train, val/2.jpg  validation, left 1 images not listed"},
		{map[string]string{"train/metadata.jsonl": `{"file_name":"a/1.jpg","label":2}`, "train/a/1.jpg": "x",
			"test/metadata.jsonl": `{"file_name":"3.jpg","label":1}`, "test/3.jpg": "x"},
			"test/3.jpg 1 test, train/a/1.jpg 2 train"},
		{map[string]string{"d/metadata.csv": "file_name,text\ntrain/a/1.jpg,one\ntest/b/2.jpg,two\n", "d/train/a/1.jpg": "x",
			"d/test/b/2.jpg": "x"}, "d/train/a/1.jpg a train, d/test/b/2.jpg b test"},
		{map[string]string{"metadata.csv": "file_name,text\n1.jpg,x\n", "1.jpg": "x"},
			"! metadata.csv:2: \"1.jpg\" is outside class folders, and no label column was found"},
		{map[string]string{"metadata.csv": "file_name,label\n../1.jpg,x\n", "1.jpg": "x"}, "! metadata.csv:2: path \"../1.jpg\" leaves the root"},
		{map[string]string{"metadata.csv": "file_name,label\n1.jpg,x\n", "metadata.jsonl": `{"file_name":"1.jpg"}`,
			"1.jpg": "x"},
			"! found both metadata.csv and metadata.jsonl, expected one"},
		{map[string]string{"metadata.csv": "key,value\na,b\n", "a/1.jpg": "x"}, "! folders takes the folders' names"},
	} {
		d, err := ReadFolders(tree(c.files), "m", ReadOptions{})
		if refused, ok := strings.CutPrefix(c.want, "! "); ok {
			if err == nil || !strings.Contains(err.Error(), refused) {
				t.Errorf("%v: %v, expected %q", c.files, err, refused)
			}
		} else if err != nil || described(d) != c.want {
			t.Errorf("%v: %v\n%s, expected\n%s", c.files, err, described(d), c.want)
		}
	}
}

// A manifest written as metadata.csv reads the same from the folder of its images.
func TestImageFolderRoundTrip(t *testing.T) {
	want := read(t, "path,label,split,true_label,who\na/1.jpg,x,train,y,\"me, \"\"too\"\"\"\nb.jpg,,test,,\n",
		ReadOptions{})
	for _, name := range []string{"metadata.csv"} {
		dir := t.TempDir()
		if err := WriteFile(filepath.Join(dir, name), want, nil); err != nil {
			t.Fatal(err)
		}
		if text, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !strings.Contains(string(text), fileName) {
			t.Errorf("%s: %s, %v", name, text, err)
		}
		d, err := ReadFile(dir, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Reading.Form != "an imagefolder, by its "+name || rowsOf(t, d) != rowsOf(t, want) {
			t.Errorf("%s: read as %+v\n%s", name, d.Reading, rowsOf(t, d))
		}
	}
}
