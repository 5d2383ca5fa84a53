package datasets

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/datasets/location"
)

// TestMendAddsColumns: each row of a table gets its cell at its end, whatever its line ends, quotes and length; all
// else stays byte for byte.
func TestMendAddsColumns(t *testing.T) {
	more := Column{Name: "tags", Cells: map[int]string{0: "x;y", 2: `say "so", twice`}}
	for name, c := range map[string]struct{ source, want string }{
		"m.csv": {"path,label\na.jpg,cat\n\"b,1.jpg\",dog\nc.jpg,cat",
			"path,label,tags\na.jpg,cow,x;y\n\"b,1.jpg\",dog,\nc.jpg,cat,\"say \"\"so\"\", twice\""},
		"crlf.csv": {"label,path,by\r\ncat,a.jpg,me\r\ndog,b.jpg,\r\n\r\ncat,c.jpg,\"two\r\nlines\"\r\n",
			"label,path,by,tags\r\ncow,a.jpg,me,x;y\r\ndog,b.jpg,,\r\n\r\ncat,c.jpg,\"two\r\nlines\"," +
				"\"say \"\"so\"\", twice\"\r\n"},
		"m.tsv": {"path\tlabel\na.jpg\tcat\nb.jpg\tdog\nc.jpg\tcat\n",
			"path\tlabel\ttags\na.jpg\tcow\tx;y\nb.jpg\tdog\t\nc.jpg\tcat\t\"say \"\"so\"\", twice\"\n"},
		"m.jsonl": {"{\"path\":\"a.jpg\",\"label\":\"cat\"}\n{\"path\":\"b.jpg\",\"label\":\"dog\"}\n" +
			"{\"path\":\"c.jpg\",\"label\":\"cat\"}\n", "{\"path\": \"a.jpg\", \"label\": \"cow\", \"tags\": \"x;y\"}\n" +
			"{\"path\":\"b.jpg\",\"label\":\"dog\", \"tags\": \"\"}\n" +
			"{\"path\":\"c.jpg\",\"label\":\"cat\", \"tags\": \"say \\\"so\\\", twice\"}\n"},
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(c.source), 0o600); err != nil {
			t.Fatal(err)
		}
		d, err := ReadFile(file, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if _, err := Mend(&out, location.At(file), d, map[int]Decision{0: {Label: "cow"}}, more); err != nil {
			t.Fatal(err)
		}
		if out.String() != c.want {
			t.Errorf("%s: got %q\nexpected %q", name, out.String(), c.want)
		}
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := ReadFile(file, ReadOptions{})
		if err != nil || !slices.Equal(again.Columns, append(slices.Clone(d.Columns), "tags")) ||
			again.Samples[0].Extra[len(d.Columns)] != "x;y" || again.Samples[1].Extra[len(d.Columns)] != "" ||
			again.Samples[2].Extra[len(d.Columns)] != more.Cells[2] {
			t.Errorf("%s, read again: %v, %+v", name, err, again)
		}
	}
}

// TestMendFolderAddsColumns: a folder becomes a table with the column.
func TestMendFolderAddsColumns(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"cat/a.png", "dog/b.png"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700),
			os.WriteFile(filepath.Join(dir, name), []byte("\x89PNG\r\n\x1a\n"), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	d, err := Read(location.At(dir), ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := Mend(&out, location.At(dir), d, nil, Column{"tags", map[int]string{1: "x"}}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	if !strings.HasSuffix(lines[0], ",tags") || !strings.HasSuffix(lines[1], ",") ||
		!strings.HasSuffix(lines[2], ",x") {
		t.Errorf("got %q", out.String())
	}
}

// TestWith: more columns stand behind those that are there, of samples that lack some as well; d stays as it is.
func TestWith(t *testing.T) {
	d := &Dataset{Classes: []string{"cat"}, Columns: []string{"by"}, Samples: []Sample{{Path: "a"},
		{Path: "b", Extra: []string{"me"}}}}
	wide := d.With(Column{"tags", map[int]string{1: "x"}})
	var out bytes.Buffer
	if err := WriteCSV(&out, wide); err != nil {
		t.Fatal(err)
	}
	if len(d.Columns) != 1 || d.Samples[1].Extra[0] != "me" || d.With() != d || wide.Samples[0].Extra[1] != "" ||
		wide.Samples[1].Extra[1] != "x" || wide.Columns[1] != "tags" {
		t.Errorf("got %q", out.String())
	}
}

// TestMendSeparated: rows that were not read stay as they are, and so does a label that was read from a list of one.
func TestMendSeparated(t *testing.T) {
	for text, want := range map[string]string{
		"path,label\na,x\nb,\"[\"\"y\"\"]\"\nc,x|y\nd,x\n": "path,label\na,z\nb,\"[\"\"y\"\"]\"\nc,x|y\n",
		`[{"path": "a", "label": "x"}, {"path": "b", "label": ["y"]}, {"path": "c", "label": ["x", "y"]}, {"path": "d", "label": "x"}]`: `[{"path": ` +
			`"a", "label": "z"}, {"path": "b", "label": ["y"]}, {"path": "c", "label": ["x", "y"]}]`,
		"[\n  {\n    \"path\": \"a\",\n    \"label\": 1\n  },\n  {\n    \"path\": \"d\",\n    \"label\": 2\n  },\n" +
			"  {\n    \"path\": \"b\",\n    \"label\": 2\n  }\n]\n": "[\n  {\n    \"path\": \"a\",\n    \"label\": \"z\"\n  },\n" +
			"  {\n    \"path\": \"b\",\n    \"label\": 2\n  }\n]\n",
		"path,x,z\na,1,0\nb,1,1\nd,0,1\nc,0,1\n": "path,x,z\na,0,1\nb,1,1\nc,0,1\n",
		"path,label,xmin,ymin,w,h\na,x,1,1,5,5\nb,y,1,1,0,0\nd,x,1,1,5,5\nc,y,2,2,5,5\n": "path,label,xmin,ymin,w,h\na,z,1,1,5,5\n" +
			"b,y,1,1,0,0\nc,y,2,2,5,5\n",
	} {
		got, did, err := mended(t, text, map[string]Decision{"a": {Label: "z"}, "d": {Drop: true},
			"a#xywh=1:1:5:5&id=1": {Label: "z"}, "d#xywh=1:1:5:5&id=3": {Drop: true}})
		if err != nil || got != want || did.Relabelled != 1 || did.Dropped != 1 {
			t.Errorf("%s became %s (%+v, %v), expected %s", text, got, did, err, want)
		}
	}
}
