package datasets

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/testing/memory"
)

// A file that is not text is named, and none of its content is shown.
func TestForeign(t *testing.T) {
	var archive bytes.Buffer
	to := tar.NewWriter(&archive)
	if err := to.WriteHeader(&tar.Header{Name: "path,label", Size: 1}); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{
		archive.String():                       "m: is a tar archive, expected a manifest",
		"PAR1\x15\x04\x15":                     "m: is a Parquet file, expected a manifest",
		"PK\x03\x04rest":                       "m: is a zip archive, expected",
		"path,label\na\x00b.jpg,1\n":           "m: is not text (byte 13 is 0), expected",
		strings.Repeat("x", 99_000) + ",y,1\n": "m:1: header is \"xxx",
		strings.Repeat("x", 99_000) + "\n":     "m:1: header is \"xxx",
		"{\"path\":\"a\",\"label\":1,\"" + strings.Repeat("k", 1<<20) + "\":[}": "m:1: found no whole JSON object",
	} {
		_, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{})
		if want == "" && err != nil || want != "" &&
			(err == nil || !strings.Contains(err.Error(), want) || len(err.Error()) > 400) {
			t.Errorf("%.40q: got %.500v, expected %q in it, and not much more", text, err, want)
		}
	}
}

// A new key in every row would make a table that is quadratic in the rows: it is rejected before it is built.
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
	if err == nil || !strings.Contains(err.Error(), "rows with 1024 different keys make a table") &&
		!strings.Contains(err.Error(), "rows with 1025 different keys make a table") {
		t.Errorf("a new key a row: %v", err)
	}
	if d := read(t, rows(20_000, 40), ReadOptions{}); len(d.Columns) != 40 || len(d.Samples[0].Extra) != 40 {
		t.Errorf("%d columns", len(d.Columns))
	}
}

// Only some files of a large group of copies are written.
func TestCopiesAreCut(t *testing.T) {
	manifest := "path,label\n"
	for i := range 100 {
		manifest += fmt.Sprintf("%03d.jpg,1\n", i)
	}
	d := read(t, manifest, ReadOptions{})
	same := func(string) ([sha256.Size]byte, error) { return [sha256.Size]byte{1}, nil }
	r, err := checked(t.Context(), d, same, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	r.Write(&out, d, 10)
	if !strings.Contains(out.String(), " 004.jpg (1, train) … and 95 more\n") ||
		strings.Contains(out.String(), "005.jpg") {
		t.Error(out.String())
	}
}

// Data sets of other libraries and pointers of Git LFS are called by their names, with what to do.
func TestStoredByOthers(t *testing.T) {
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"
	record := make([]byte, 12)
	record[0] = 5
	sum := crc32.Checksum(record[:8], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(record[8:], (sum>>15|sum<<17)+0xa282ead8)
	for text, want := range map[string]string{
		pointer:                     "this is a Git LFS pointer, not the file itself: fetch the file with git lfs pull",
		string(record) + "12345crc": "is a TFRecord file (write its pictures into folders",
		"\xff\xff\xff\xff\x10\x00\x00\x00\x00\x00\x0a\x00":  "is a stream of Arrow (datasets.load_from_disk",
		strings.Repeat("\x00", 16) + "\xde\xc0\xef\xbe\x01": "is an LMDB database (write",
	} {
		if _, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
	for want, files := range map[string][]string{
		"found no image but an LMDB database":                      {"db/data.mdb", "db/lock.mdb"},
		"found no image but Arrow files (datasets.load_from_disk":  {"train/dataset_info.json", "train/data-0.arrow"},
		"found no image but TFRecord files":                        {"a.tfrecord-00000-of-00002", "readme.md"},
		"a.parquet: this is a Git LFS pointer, not the file itsel": {"a.parquet"},
	} {
		dir := t.TempDir()
		for _, name := range files {
			file := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(pointer), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := ReadFile(dir, ReadOptions{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, expected %q", files, err, want)
		}
	}
}

// A line without an end is named with its number, and numbers with a sign are no twins of those without.
func TestLongLines(t *testing.T) {
	for text, want := range map[string]string{
		`{"path":"a.jpg","label":"` + strings.Repeat("x", 17<<20) + `"}`: "m:1: the line has more than 16 MB",
		"a.jpg 1\nb.jpg " + strings.Repeat("1", 2<<20):                   "m:2: the line has more than 1 MB",
	} {
		if _, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%.400v, expected %q", err, want)
		}
	}
	if got := lookAlikes([]string{"-1", "1", "1.0", "a-b", "a b"}); fmt.Sprint(got) != "[[1 1.0] [a-b a b]]" {
		t.Errorf("look alike: %q", got)
	}
}
