package datasets

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// In every format, an image that a source repeats is read once, refused or reported.
func TestListedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		file, text string
		paths      string // each with the first letter of its split; "": refused
		said       string
	}{
		"CSV":             {"m.csv", "path,label\na/1.jpg,a\nb/1.jpg,b\na/1.jpg,a\n", "ta/1.jpg tb/1.jpg", "row 1 and row 3"},
		"a dot":           {"m.csv", "path,label\na/1.jpg,a\n./a/1.jpg,a\na//1.jpg,a\n", "ta/1.jpg", "2 rows"},
		"Windows":         {"m.csv", "path,label\na\\1.jpg,a\na/1.jpg,a\n", "ta/1.jpg", "read once"},
		"JSON lines":      {"m.jsonl", "{\"path\":\"x\",\"label\":1}\n{\"path\":\"x\",\"label\":1}\n", "tx", "read once"},
		"a list":          {"m.txt", "a/1.jpg 0\na/1.jpg 0\nb/1.jpg 1\n", "ta/1.jpg tb/1.jpg", "read once"},
		"other label":     {"m.csv", "path,label\nx.jpg,a\ny.jpg,b\nx.jpg,b\n", "", `row 1 and row 3, with "a" and "b"`},
		"other in a list": {"m.txt", "x.jpg 0\nx.jpg 1\n", "", "row 1 and row 2"},
		"other in JSON":   {"m.jsonl", "{\"path\":\"x\",\"label\":1}\n{\"path\":\"./x\",\"label\":2}\n", "", "two labels"},
		"no label":        {"m.csv", "path,label\nx.jpg,a\nx.jpg,\n", "", `"a" and ""`},
		"other truth": {"m.csv", "path,label,split,true_label\nx.jpg,a,train,a\nx.jpg,a,train,b\n", "",
			"true labels"},
		"leak":                    {"m.csv", "path,label,split\nx,a,train\nx,a,test\nx,a,test\n", "tx tx", "leak: 1 image"},
		"leak with another label": {"m.csv", "path,label,split\nx,a,train\nx,b,test\n", "", "two labels"},
		"query and gallery":       {"m.csv", "path,label,split\nx,a,query\nx,a,gallery\n", "qx gx", ""},
		"boxes": {"m.csv", "path,label,xmin,ymin,xmax,ymax\nx.jpg,a,1,1,9,9\nx.jpg,b,1,1,9,9\nx.jpg,b,5,5,9,9\n",
			"tx.jpg#xywh=1:1:8:8&id=1 tx.jpg#xywh=1:1:8:8&id=2 tx.jpg#xywh=5:5:4:4&id=3", "crop"},
		"a box and its image": {"m.csv", "path,label\nx.jpg,a\nx.jpg#xywh=1:1:8:8,b\n", "tx.jpg tx.jpg#xywh=1:1:8:8", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			var notes []string
			d, err := ReadFile(file, ReadOptions{Note: func(_ string, args ...any) {
				notes = append(notes, args[1].(string))
			}})
			if c.paths == "" {
				if err == nil || !strings.Contains(err.Error(), c.said) {
					t.Errorf("error %v, expected %q", err, c.said)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, s := range d.Samples {
				got = append(got, s.Split[:1]+s.Path)
			}
			if diff := cmp.Diff(c.paths, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
			if said := strings.Join(notes, "\n"); !strings.Contains(said, c.said) || c.said == "" && said != "" {
				t.Errorf("said %q, expected %q", said, c.said)
			}
		})
	}
}
