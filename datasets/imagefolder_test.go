package datasets

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// tree makes files with the given texts; images contain an x.
func tree(files map[string]string) fstest.MapFS {
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// noted returns options that record the notes.
func noted() (ReadOptions, *[]string) {
	told := new([]string)
	return ReadOptions{Note: func(format string, args ...any) {
		*told = append(*told, fmt.Sprintf(format, args...))
	}}, told
}

// metadataRow is a row as Hugging Face's libraries write it: with an additional column, a list column, and a
// numeric label.
type metadataRow struct {
	FileName string    `parquet:"file_name"`
	Label    *int64    `parquet:"label,optional"`
	Box      []float64 `parquet:"bbox,list"`
	Width    float64   `parquet:"width"`
}

func parquetOf[R any](t testing.TB, rows []R) string {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[R](&out)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// An imagefolder reads the same with each form of metadata, above the splits and inside them, with labels in a
// column or in folder names.
func TestImageFolder(t *testing.T) {
	want := []Sample{
		{Path: "test/c/3.jpg", Label: 0, True: Unlabelled, Split: Test},
		{Path: "train/a/1.jpg", Label: 1, True: Unlabelled, Split: Train},
		{Path: "val/2.jpg", Label: Unlabelled, True: Unlabelled, Split: Validation},
	}
	one, two := int64(1), int64(2)
	images := map[string]string{"test/c/3.jpg": "x", "train/a/1.jpg": "x", "val/2.jpg": "x",
		"train/a/not-listed.png": "x"}
	for name, files := range map[string]map[string]string{
		"csv above": {"metadata.csv": "label,file_name\n1,test/c/3.jpg\n2,train/a/1.jpg\n,val/2.jpg\n"},
		"jsonl above": {"metadata.jsonl": `{"file_name":"test/c/3.jpg","label":1}` + "\n" +
			`{"file_name":"train/a/1.jpg","label":"2"}` + "\n" + `{"file_name":"val/2.jpg","label":null}` + "\n"},
		"inside, of all forms": {
			"test/metadata.csv":  "file_name,label\nc/3.jpg,1\n",
			"val/metadata.jsonl": `{"file_name":"2.jpg","label":null}`,
			"train/metadata.parquet": parquetOf(t, []struct {
				FileName string `parquet:"file_name"`
				Label    string `parquet:"label"`
			}{{"a/1.jpg", "2"}}),
		},
	} {
		for image := range images {
			files[image] = "x"
		}
		opts, told := noted()
		d, err := ReadFolders(tree(files), "m", opts)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(want, d.Samples); diff != "" || strings.Join(d.Classes, ",") != "1,2" {
			t.Errorf("%s: classes %v (-want +got):\n%s", name, d.Classes, diff)
		}
		if len(*told) != 2 || !strings.Contains((*told)[0], "read as an imagefolder, by its metadata.") ||
			!strings.Contains((*told)[1], "left out 1 images") {
			t.Errorf("%s: told %q", name, *told)
		}
		opts.Format = Folders
		if d, err := ReadFolders(tree(files), "m", opts); err != nil || len(d.Samples) != 3 || d.Classes[0] != "a" {
			t.Errorf("%s: read by the folders' names: %v, %v", name, d, err)
		}
	}
	table := parquetOf(t, []metadataRow{{"test/c/3.jpg", &one, []float64{1, 2}, 640},
		{"train/a/1.jpg", &two, nil, 0.5}, {"val/2.jpg", nil, nil, 1}})
	d, err := ReadFolders(tree(map[string]string{"metadata.parquet": table, "val/2.jpg": "x"}), "m", ReadOptions{})
	if err != nil || strings.Join(d.Columns, ",") != "width" || d.Samples[1].Extra[0] != "0.5" {
		t.Fatalf("parquet: %+v, %v", d, err)
	}
	for i := range d.Samples {
		d.Samples[i].Extra = nil
	}
	if diff := cmp.Diff(want, d.Samples); diff != "" {
		t.Errorf("parquet (-want +got):\n%s", diff)
	}
	d, err = ReadFolders(tree(map[string]string{"train/a/1.jpg": "x",
		"metadata.csv": "file_name,text\ntrain/a/1.jpg,one\ntest/b/2.jpg,two\n"}), "m", ReadOptions{})
	if err != nil || d.className(d.Samples[0].Label) != "a" || d.className(d.Samples[1].Label) != "b" ||
		d.Samples[1].Split != Test {
		t.Errorf("labels by folders: %+v, %v", d, err)
	}
	opts, told := noted() // a foreign table of another kind
	if d, err = ReadFolders(tree(map[string]string{"metadata.csv": "key,value\na,b\n", "a/1.jpg": "x",
		"b/2.jpg": "x"}), "m", opts); err != nil || len(d.Classes) != 2 || len(*told) != 2 ||
		!strings.Contains((*told)[0], "m/metadata.csv: ignored") {
		t.Errorf("another table: %+v, %v, told %q", d, err, *told)
	}
}

func TestWrongImageFolder(t *testing.T) {
	for _, c := range []struct {
		files map[string]string
		want  string
	}{
		{map[string]string{"metadata.csv": "file_name,text\n1.jpg,x\n"},
			"m/metadata.csv:2: \"1.jpg\" is in no class folder, and there is no column label"},
		{map[string]string{"metadata.csv": "file_name,label\n../1.jpg,x\n"},
			"m/metadata.csv:2: path \"../1.jpg\" leaves the root"},
		{map[string]string{"metadata.csv": "file_name,label\n"}, "m/metadata.csv: no sample found"},
		{map[string]string{"metadata.csv": "file_name,label\n1.jpg,x\n", "metadata.jsonl": `{"file_name":"1.jpg"}`},
			"m: found metadata.csv and metadata.jsonl, expected one"},
		{map[string]string{"metadata.jsonl": "[1]"}, "m/metadata.jsonl: its first line is no JSON object"},
		{map[string]string{"metadata.parquet": "PAR1 and no more"}, "m/metadata.parquet: is no Parquet file"},
		{map[string]string{"metadata.parquet": parquetOf(t, []metadataRow{{FileName: "/1.jpg"}})},
			"m/metadata.parquet: row 1: path \"/1.jpg\" is absolute"},
	} {
		if _, err := ReadFolders(tree(c.files), "m", ReadOptions{}); err == nil ||
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, expected %q in it", c.files, err, c.want)
		}
	}
}

// A manifest written as metadata reads the same from the folder of its images.
func TestImageFolderRoundTrip(t *testing.T) {
	want := read(t, "path,label,split,true_label,who\na/1.jpg,x,train,y,\"me, \"\"too\"\"\"\nb.jpg,,test,,\n",
		ReadOptions{})
	for _, name := range []string{"metadata.csv", "metadata.jsonl"} {
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
		if d.Reading.Form != "an imagefolder, by its "+name || len(d.Reading.Splits) != 2 {
			t.Errorf("%s: read as %+v", name, d.Reading)
		}
		d.Reading = nil
		if diff := cmp.Diff(want, d); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	spoiled := &Dataset{Columns: []string{"note"}, Samples: []Sample{{Path: "a.jpg", Label: Unlabelled,
		True: Unlabelled, Split: Train, Extra: []string{"\xff"}}}}
	if err := WriteFile(filepath.Join(t.TempDir(), "metadata.jsonl"), spoiled, nil); err == nil ||
		!strings.Contains(err.Error(), "expected UTF-8") {
		t.Errorf("a note that JSON cannot hold: %v", err)
	}
	if err := WriteFile(filepath.Join(t.TempDir(), "metadata.parquet"), want, nil); err == nil ||
		!strings.Contains(err.Error(), "expected metadata.csv or metadata.jsonl") {
		t.Errorf("parquet: %v", err)
	}
}

// The images that an imagefolder lists stay inside it, whatever its metadata holds.
func FuzzImageFolder(f *testing.F) {
	f.Add("csv", "file_name,label\ntrain/a.jpg,1\n")
	f.Add("jsonl", "\n{\"file_name\":\"a/b.jpg\"}\n{\"file_name\":\"val/c/d.jpg\",\"label\":[1]}")
	f.Add("parquet", parquetOf(f, []metadataRow{{FileName: "a/1.jpg", Box: []float64{1}}}))
	f.Fuzz(func(t *testing.T, form, text string) {
		d, err := ReadFolders(tree(map[string]string{"top/metadata." + form: text, "top/a/1.jpg": "x",
			"top/b/1.jpg": "x"}), "m", ReadOptions{})
		if err != nil {
			return
		}
		for i, s := range d.Samples {
			if !validPath(s.Path) || s.Label >= len(d.Classes) || s.Split == "" || len(s.Extra) != len(d.Columns) {
				t.Fatalf("sample %d: %+v", i, s)
			}
		}
		if err := WriteCSV(io.Discard, d); err != nil {
			t.Fatal(err)
		}
	})
}

// BenchmarkMillionMetadata reads an imagefolder of a million rows. Long: go test ./datasets -run none -bench
// MillionMetadata -benchtime 1x
func BenchmarkMillionMetadata(b *testing.B) {
	rows := make([]metadataRow, 1_000_000)
	for i := range rows {
		label := int64(i % 1000)
		rows[i] = metadataRow{FileName: fmt.Sprintf("train/%07d.jpg", i), Label: &label}
	}
	fsys := tree(map[string]string{"metadata.parquet": parquetOf(b, rows)})
	for b.Loop() {
		if d, err := ReadFolders(fsys, "m", ReadOptions{}); err != nil || len(d.Samples) != len(rows) {
			b.Fatal(err)
		}
	}
}
