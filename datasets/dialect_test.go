package datasets

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"

	"winnow/datasets/location"
)

// mendAt reads a table and returns its copy in which the second sample has the label of the third, and the first is
// left out.
func mendAt(t *testing.T, name, text string, opts ReadOptions) (d *Dataset, copied string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	d, err := ReadFile(file, opts)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var out bytes.Buffer
	_, err = Mend(&out, location.At(file), d, map[int]Decision{0: {Drop: true},
		1: {Label: d.className(d.Samples[2].Label)}})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return d, out.String()
}

// Tables are read however their cells are separated, quoted and ended, and a copy keeps all of it.
func TestDialects(t *testing.T) {
	for name, c := range map[string]struct{ text, labels, copied string }{
		"semicolons of Excel": {
			"\ufeffBild;image;class\r\n1,5;a.jpg;owl\r\n\"2;5\";b.jpg;\"tit\"\r\n3;c.jpg;jay, blue\r\n",
			"owl|tit|jay, blue", "\ufeffBild;image;class\r\n\"2;5\";b.jpg;jay, blue\r\n3;c.jpg;jay, blue\r\n"},
		"a line that names the separator": {
			"sep=;\r\nimage;class\r\na.jpg;owl\r\nb.jpg;tit\r\nc.jpg;jay\r\n",
			"owl|tit|jay", "sep=;\r\nimage;class\r\nb.jpg;jay\r\nc.jpg;jay\r\n"},
		"bars": {"file|species\na.jpg|owl\nb.jpg|tit\nc.jpg|jay\n",
			"owl|tit|jay", "file|species\nb.jpg|jay\nc.jpg|jay\n"},
		"tabs, quoted cells": {
			"path\tlabel\tn\na.jpg\t\"5\"\" owl\"\t\"\"\n\nb.jpg\t\"tit\tgreat\"\t\"2\n3\"\nc.jpg\tjay\t\n",
			"5\" owl|tit\tgreat|jay", "path\tlabel\tn\n\nb.jpg\tjay\t\"2\n3\"\nc.jpg\tjay\t\n"},
		"a column for each class": {"image,\"MEL\",NV, BCC\r\na,1.0,0.0,0\r\nb,0.0, 1.0,0\r\nc,0,0,\"1\"\r\n", "MEL|NV|BCC",
			"image,\"MEL\",NV, BCC\r\nb,0.0,0,\" 1.0\"\r\nc,0,0,\"1\"\r\n"},
		"a column for each class, without a label": {"id;a;b\nx;1;0\ny;0;0\nz;0;1\n", "a||b", "id;a;b\ny;0;1\nz;0;1\n"},
		"a list with semicolons": {"x/a.jpg;owl\nx/b.jpg;tit\nx/c.jpg;jay\n", "owl|tit|jay",
			"x/b.jpg;jay\nx/c.jpg;jay\n"},
		"a list with commas in its paths": {"x, y/a.jpg 1\nx, y/b.jpg 2\nx, y/c.jpg 3\n", "1|2|3",
			"x, y/b.jpg 3\nx, y/c.jpg 3\n"},
	} {
		d, copied := mendAt(t, "m.csv", c.text, ReadOptions{})
		var labels []string
		for _, s := range d.Samples {
			labels = append(labels, d.className(s.Label))
		}
		if got := strings.Join(labels, "|"); got != c.labels || copied != c.copied {
			t.Errorf("%s: read %q, copied %q; expected %q, %q", name, got, copied, c.labels, c.copied)
		}
	}
	wide := func(endian unicode.Endianness, text string) string {
		s, err := unicode.UTF16(endian, unicode.UseBOM).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for _, endian := range []unicode.Endianness{unicode.LittleEndian, unicode.BigEndian} { // as Excel's Unicode text
		_, copied := mendAt(t, "m.txt", wide(endian, "image\tclass\r\na.jpg\towl\r\nb.jpg\ttit\r\nc.jpg\tjäy\r\n"),
			ReadOptions{})
		if want := wide(endian, "image\tclass\r\nb.jpg\tjäy\r\nc.jpg\tjäy\r\n"); copied != want {
			t.Errorf("%v: copied %q, expected %q", endian, copied, want)
		}
	}
}

// A copy of a table whose columns were named keeps the names, the order and everything else.
func TestMendNamedColumns(t *testing.T) {
	names := Names{Path: "plate", Label: "kind"}
	for text, want := range map[string]string{
		"kind;label;plate\r\nowl;x;a.jpg\r\n\"tit\";y;b.jpg\r\njay;z;c.jpg\r\n": "kind;label;plate\r\njay;y;b.jpg\r\n" +
			"jay;z;c.jpg\r\n",
		`{"kind":"owl","plate":"a.jpg"}` + "\n" + `{"kind": "tit", "plate":"b.jpg"}` + "\n" +
			`{"kind":"jay","plate":"c.jpg"}`: `{"kind": "jay", "plate": "b.jpg"}` + "\n" +
			`{"kind":"jay","plate":"c.jpg"}`,
	} {
		if _, copied := mendAt(t, "m", text, ReadOptions{Names: names}); copied != want {
			t.Errorf("%q became %q, expected %q", text, copied, want)
		}
	}
}

// Two columns that may both be the labels are read if they divide the images alike, else refused with examples.
func TestTwoColumnsOfLabels(t *testing.T) {
	for _, text := range []string{
		"image,class_id,class_name\na.jpg,1,owl\nb.jpg,2,tit\nc.jpg,1,owl\n",
		`{"image":"a.jpg","class_id":1,"class_name":"owl"}` + "\n" + `{"image":"b.jpg","class_id":2,"class_name":"tit"}`,
	} {
		if d := read(t, text, ReadOptions{}); strings.Join(d.Classes, " ") != "owl tit" {
			t.Errorf("%q: found %q", text, d.Classes)
		}
	}
	for text, want := range map[string]string{
		"image,class,category\na.jpg,bird,owl\nb.jpg,bird,tit\nc.jpg,cat,lynx\n": `m:3: found labels in the columns ` +
			`"class" and "category", which divide the images differently: a.jpg is "bird" or "owl"; b.jpg is "bird" ` +
			`or "tit". Name one with --label-column`,
		"image;target;species\na.jpg;1;owl\nb.jpg;2;tit\nc.jpg;3;jay\nd.jpg;4;jay\n": `a.jpg is "1" or "owl"; b.jpg is ` +
			`"2" or "tit"; d.jpg is "4" or "jay"`,
		`{"image":"a.jpg","class":"x","category":"1"}` + "\n" + `{"image":"b.jpg","class":"x","category":"2"}`: `m:2: ` +
			`found labels in the columns "class" and "category"`,
		"a.jpg,10,20,30,40\n":                      `m:1: found no header but the values "a.jpg,10,20,30,40"`,
		"a.jpg,1\nb.jpg,10,20,30\n":                "m:2: found 4 values",
		"image,0,1\na.jpg,2,0":                     "expected the columns path and label",
		"path\tlabel\na.jpg\t5\" nail\n":           "m:2: found a quote inside a value",
		"path\tlabel\na.jpg\t\"big\" tit\n":        "m:2: found a quote",
		"path\tlabel\na.jpg\t\"big\nb.jpg\ttit\n":  "m:2: found a quote that begins a value",
		"path\tlabel\na.jpg\tbig\ttit\nb.jpg\tx\n": "m:2: 3 fields",
	} {
		if d, err := ReadManifest(strings.NewReader(text), "m", ReadOptions{}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, %v, expected %q", text, d, err, want)
		}
	}
	d := read(t, "image,class,category\na.jpg,bird,owl\nb.jpg,bird,tit\n", ReadOptions{Names: Names{Label: "category"}})
	if strings.Join(d.Classes, " ") != "owl tit" {
		t.Errorf("a named column: found %q", d.Classes)
	}
	if d := read(t, "image,0,1,10\na.jpg,1,0,0\nb.jpg,0,0,1\n", ReadOptions{}); strings.Join(d.Classes, " ") != "0 10" {
		t.Errorf("a column for each of some numbers: found %q", d.Classes)
	}
}

// FuzzDialects reads tables of any separator, and mends those that are read: nothing but the decided row changes.
func FuzzDialects(f *testing.F) {
	f.Add("id,class\r0,\x81")
	for _, text := range []string{
		"\ufeffimage;class\r\na.jpg;owl\r\nb.jpg;\"t;it\"\r\n", "sep=|\nfile|label\na|1\nb|2\n",
		"path\tlabel\na\t\"x\ny\"\nb\t1\n",
		"image,cat,dog\na.jpg,0,1\nb.jpg,1,0\n", "x/a.jpg;owl\nx/b.jpg;tit\n",
		"\xff\xfei\x00d\x00;\x00c\x00l\x00a\x00s\x00s\x00", "image,class,category\na,1,x\nb,1,y\n", "x, y/a.jpg 1\n",
	} {
		f.Add(text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		file := filepath.Join(dir, "m")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		d, err := ReadFile(file, ReadOptions{})
		if err != nil {
			return
		}
		var same bytes.Buffer
		if _, err := Mend(&same, location.At(file), d, nil); err != nil {
			t.Fatalf("%q was read and cannot be copied: %v", text, err)
		}
		if d.Reading.Form != forms[LabelStudio] && d.Encoding == "" &&
			same.String() != text {
			t.Errorf("%q was copied as %q", text, same.String())
		}
		var mended bytes.Buffer
		const label = "new 1"
		if _, err := Mend(&mended, location.At(file), d, map[int]Decision{0: {Label: label}}); err != nil {
			return // a list without a header takes no such label
		}
		if err := os.WriteFile(file, mended.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		again, err := ReadFile(file, ReadOptions{Encoding: d.Encoding})
		if rival := "divide the images differently"; err != nil && strings.Contains(err.Error(), rival) {
			return // the other column has no such label
		}
		if err != nil || len(again.Samples) != len(d.Samples) || again.className(again.Samples[0].Label) != label {
			t.Fatalf("%q was mended to %q, which is read as %+v, %v", text, mended.Bytes(), again, err)
		}
		for i, s := range d.Samples[1:] {
			if got := again.Samples[i+1]; got.Path != s.Path || again.className(got.Label) != d.className(s.Label) {
				t.Fatalf("%q was mended to %q: %+v became %+v", text, mended.Bytes(), s, got)
			}
		}
	})
}
