package datasets

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"winnow/datasets/location"
)

// Tables in other encodings are read with their letters, and mended copies keep every other byte.
func TestEncodings(t *testing.T) {
	const table = "path,label,note\r\na.jpg,flûte,\"é, è\"\r\nb.jpg,fläte,x\r\nc.jpg,saw,y\r\n"
	latin, err := charmap.Windows1252.NewEncoder().String(table)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(table)
	if err != nil {
		t.Fatal(err)
	}
	koi, err := charmap.KOI8R.NewEncoder().String("path,label\na.jpg,волк\nb.jpg,лиса\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ text, encoding, said, classes, relabelled string }{
		"Latin-1": {latin, "", "read as windows-1252", "fläte flûte saw", strings.Replace(latin, "fl\xe4te", "saw", 1)},
		"UTF-16": {wide, "", "read as utf-16", "fläte flûte saw", strings.Replace(wide,
			"f\x00l\x00\xe4\x00t\x00e\x00", "s\x00a\x00w\x00", 1)},
		"named": {koi, "koi8-r", "read as koi8-r", "волк лиса", ""},
		"JSON lines": {"{\"path\": \"a.jpg\", \"label\": \"fl\xfbte\"}\n{\"path\": \"b.jpg\", \"label\": \"saw\"}\n",
			"", "read as windows-1252",
			"flûte saw", "{\"path\": \"a.jpg\", \"label\": \"fl\xfbte\"}\n{\"path\": \"b.jpg\", \"label\": \"saw\"}\n"},
		"UTF-8": {table, "", "", "fläte flûte saw", strings.Replace(table, "fläte", "saw", 1)},
	} {
		file := filepath.Join(t.TempDir(), "m.csv")
		if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		opts, told := noted()
		opts.Encoding = c.encoding
		d, err := ReadFile(file, opts)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(d.Classes, " "); got != c.classes || !strings.Contains(strings.Join(*told, "\n"),
			c.said) {
			t.Errorf("%s: found %q, told %q; expected %q, %q", name, got, *told, c.classes, c.said)
		}
		if c.relabelled == "" {
			continue
		}
		var out bytes.Buffer
		if _, err := Mend(&out, location.At(file), d, map[int]Decision{1: {Label: "saw"}}); err != nil ||
			out.String() != c.relabelled {
			t.Errorf("%s: mended to %q, %v; expected %q", name, out.String(), err, c.relabelled)
		}
	}
	if _, err := ReadManifest(strings.NewReader(latin), "m", ReadOptions{}); err == nil ||
		!strings.Contains(err.Error(), "expected UTF-8: name the table's encoding") {
		t.Errorf("a stream in another encoding: %v", err)
	}
	if _, err := ReadManifest(strings.NewReader(latin), "m", ReadOptions{Encoding: "latin-99"}); err == nil ||
		!strings.Contains(err.Error(), `encoding "latin-99" is unknown`) {
		t.Errorf("an unknown encoding: %v", err)
	}
}

// Paths as Windows writes them are read; addresses and drives are refused with what to do.
func TestForeignPaths(t *testing.T) {
	for text, want := range map[string]string{
		"path,label\ncat\\1.jpg,cat\ndog\\a b\\2.jpg,dog\n": "cat/1.jpg dog/a b/2.jpg",
		"path,label\ncat/x\\1.jpg,cat\ndog\\2.jpg,dog\n":    `cat/x\1.jpg dog\2.jpg`,
		"path,label\n..\\1.jpg,cat\n":                       "leaves the root",
		"path,label\nC:\\photos\\1.jpg,cat\n":               `path "C:\\photos\\1.jpg" is on a drive of Windows`,
		"path,label\ns3://b/x/1.jpg,cat\n":                  `path "s3://b/x/1.jpg" is an address`,
		"path,label\nhttps://a.b/1.jpg,cat\n":               "is an address",
		"path,label\nfile:///a/1.jpg,cat\n":                 "is an address",
	} {
		d, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{})
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = strings.Join(d.Paths(), " ")
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: found %q, expected %q", text, got, want)
		}
	}
}
