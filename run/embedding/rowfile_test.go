package embedding

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

var two = []Row{
	{Path: "a\tb.png", Label: "ü", Split: "train", Embedding: []float32{1, -2}},
	{Path: "ÿ\U0001F426", Embedding: []float32{0.5, math.SmallestNonzeroFloat32}},
}

func putTwo(put func([]Row) error) error { return errors.Join(put(two[:1]), put(nil), put(two[1:])) }

// Small files have exactly the bytes that the specifications of their formats prescribe (.npy: numpy.lib.format 1.0).
func TestFormsByTheirDescriptions(t *testing.T) {
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
	for name, want := range map[string]string{
		"e.npy": "\x93NUMPY\x01\x00\x76\x00" + header + strings.Repeat(" ", 117-len(header)) + "\n" +
			"\x00\x00\x80\x3f\x00\x00\x00\xc0" + "\x00\x00\x00\x3f\x01\x00\x00\x00",
		"e.ids.csv": "row,path,label,split\n0,a\tb.png,ü,train\n1,ÿ\U0001F426,,\n",
		"e.csv":     "path,label,split,e0,e1\na\tb.png,ü,train,1,-2\nÿ\U0001F426,,,0.5,1e-45\n",
		"e.jsonl": `{"path":"a\tb.png","label":"ü","split":"train","embedding":[1,-2]}` + "\n" +
			`{"path":"ÿ` + "\U0001F426" + `","embedding":[0.5,1e-45]}` + "\n",
	} {
		dir := t.TempDir()
		if form := formOf(name); name != "e.ids.csv" {
			if err := WriteRows(form, filepath.Join(dir, name), 2, putTwo); err != nil {
				t.Fatal(err)
			}
		} else if err := WriteRows(NPY, filepath.Join(dir, "e.npy"), 2, putTwo); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %v\n%q, expected\n%q", name, err, got, want)
		}
	}
	file := filepath.Join(t.TempDir(), "e.parquet")
	if err := WriteRows(Parquet, file, 2, putTwo); err != nil {
		t.Fatal(err)
	}
	got, err := parquet.ReadFile[Row](file)
	if diff := cmp.Diff(two, got); diff != "" || err != nil {
		t.Errorf("parquet: %v (-want +got):\n%s", err, diff)
	}
}

// A failed write leaves existing files unchanged and makes no new files.
func TestFailedWritesLeaveNothing(t *testing.T) {
	cut := errors.New("cut off")
	for _, name := range []string{"e.npy", "e.CSV", "e.parquet", "e.jsonl"} {
		dir := t.TempDir()
		files, err := Files(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if err := os.WriteFile(file, []byte("older"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		fill := func(put func([]Row) error) error { return errors.Join(putTwo(put), cut) }
		if err := WriteRows(formOf(name), files[0], 2, fill); !errors.Is(err, cut) {
			t.Errorf("%s: %v", name, err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != len(files) {
			t.Errorf("%s: the folder holds %v, %v", name, left, err)
		}
		for _, file := range files {
			if b, err := os.ReadFile(file); string(b) != "older" {
				t.Errorf("%s: %s holds %q, %v", name, file, b, err)
			}
		}
	}
	if _, err := Files("e.txt"); err == nil {
		t.Error("e.txt is written")
	}
}
