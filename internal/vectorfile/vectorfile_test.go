package vectorfile

import (
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"winnow/internal/atomicfile"
)

var twoRows = []Row{
	{Path: "a\tb.png", Label: "ü", Split: "train", Embedding: []float32{1, -2}},
	{Path: "ÿ\U0001F426", Embedding: []float32{0.5, math.SmallestNonzeroFloat32}},
}

// The bytes of small files, by the formats' descriptions.
func TestForms(t *testing.T) {
	header := "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }"
	npy := "\x93NUMPY\x01\x00\x76\x00" + header + strings.Repeat(" ", 117-len(header)) + "\n" +
		"\x00\x00\x80\x3f\x00\x00\x00\xc0" + "\x00\x00\x00\x3f\x01\x00\x00\x00"
	for form, want := range map[string][]string{
		"npy": {npy, "row,path,label,split\n0,a\tb.png,ü,train\n1,ÿ\U0001F426,,\n"},
		"csv": {"path,label,split,e0,e1\na\tb.png,ü,train,1,-2\nÿ\U0001F426,,,0.5,1e-45\n"},
		"jsonl": {`{"path":"a\tb.png","label":"ü","split":"train","embedding":[1,-2]}` + "\n" +
			`{"path":"ÿ` + "\U0001F426" + `","embedding":[0.5,1e-45]}` + "\n"},
	} {
		files := Files(filepath.Join(t.TempDir(), "e."+form), form)
		err := Write(files[0], form, 2, atomicfile.Write, func(w Writer) error {
			return errors.Join(w.Write(twoRows[:1]), w.Write(nil), w.Write(twoRows[1:]), w.Close())
		})
		if err != nil || len(files) != len(want) {
			t.Fatal(form, files, err)
		}
		for i, file := range files {
			if got, err := os.ReadFile(file); err != nil || string(got) != want[i] {
				t.Errorf("%s: %s is\n%q, expected\n%q", form, filepath.Base(file), got, want[i])
			}
		}
	}
}

func TestParquet(t *testing.T) {
	var want []Row
	for i := range 5000 {
		want = append(want, Row{Path: string(rune('a'+i%26)) + "/x,y.png", Label: "cls", Split: "train",
			Embedding: []float32{float32(i) / 3, -math.MaxFloat32, 1e-40}})
	}
	file := filepath.Join(t.TempDir(), "e.parquet")
	err := Write(file, "parquet", 3, atomicfile.Write,
		func(w Writer) error { return errors.Join(w.Write(want), w.Close()) })
	if err != nil {
		t.Fatal(err)
	}
	got, err := parquet.ReadFile[Row](file)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// A failure leaves the older files unchanged and nothing new.
func TestFailedWritesLeaveNothing(t *testing.T) {
	cut := errors.New("cut off")
	for _, form := range Forms {
		dir := t.TempDir()
		files := Files(filepath.Join(dir, "e."+form), form)
		for _, file := range files {
			if err := os.WriteFile(file, []byte("older"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		err := Write(files[0], form, 2, atomicfile.Write,
			func(w Writer) error { return errors.Join(w.Write(twoRows), cut) })
		if !errors.Is(err, cut) {
			t.Errorf("%s: %v", form, err)
		}
		left, err := os.ReadDir(dir)
		if err != nil || len(left) != len(files) {
			t.Errorf("%s: the folder holds %v, %v", form, left, err)
		}
		for _, file := range files {
			if b, err := os.ReadFile(file); string(b) != "older" {
				t.Errorf("%s: %s holds %q, %v", form, file, b, err)
			}
		}
	}
	if err := Write("e.txt", "txt", 2, func(_ string, write func(io.Writer) error) error {
		return write(io.Discard)
	}, nil); err == nil || !strings.Contains(err.Error(), `form "txt" is unknown`) {
		t.Error(err)
	}
}
