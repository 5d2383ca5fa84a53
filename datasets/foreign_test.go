package datasets

import (
	"archive/tar"
	"bytes"
	"crypto/sha256"
	"fmt"
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
		"{\"path\":\"a\",\"label\":1,\"" + strings.Repeat("k", 1<<20) + "\":[}": "m:1: invalid character",
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
	r, err := Check(t.Context(), d, same, nil)
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
