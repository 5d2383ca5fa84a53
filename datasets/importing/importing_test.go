package importing

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/datasets/location"
)

// A list without a header is read only if its images exist or its format is named. If a root is given, missing files of
// any list are counted, and it is an error if all are missing.
func TestPicturesOfLists(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) location.Source {
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return location.At(to)
	}
	write("p/a.jpg", "x")
	write("p/b.jpg", "x")
	bare, table := write("l.txt", "a.jpg 3\nb.jpg 4\n"), write("t.csv", "path,label\na.jpg#xywh=1:2:3:4,3\nc.jpg,4\n")
	coco := write("c.json", `{"images":[{"id":1,"file_name":"x/a.jpg"}],"annotations":[{"id":1,"image_id":1,`+
		`"category_id":1}],"categories":[{"id":1,"name":"a"}]}`)
	there := location.At(dir).Join("p")
	for _, c := range []struct {
		source, root location.Source
		format       datasets.Format
		want, said   string
	}{
		{source: bare, want: `l.txt: 2 of 2 rows name no file below the root (row 1: "a.jpg" ` +
			`with the label "3"; row 2`},
		{source: bare, root: there},
		{source: bare, format: datasets.PRISM},
		{source: bare, format: datasets.PRISM, root: location.At(dir), want: "2 of 2 rows name no file"},
		{source: table},
		{source: table, root: there, said: `t.csv: 1 of 2 rows name no file below the root (row 2: "c.jpg"`},
		{source: coco, root: there, want: `c.json: 1 of 1 rows name no file below the root (row 1: "x/a.jpg"`},
		{source: there, root: there, want: "found a root, expected none"},
	} {
		said := ""
		job := Job{Out: filepath.Join(dir, "o.csv"), Root: c.root, Sources: []Source{{Path: c.source,
			Read: datasets.ReadOptions{Format: c.format}}},
			Note: func(format string, args ...any) { said += fmt.Sprintf(format, args...) }}
		if c.source == there {
			write("p/k/a.jpg", "x")
		}
		err := job.Run(t.Context(), io.Discard, io.Discard)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) ||
			!strings.Contains(said, c.said) {
			t.Errorf("%+v: %v, said %q", c, err, said)
		}
	}
}
