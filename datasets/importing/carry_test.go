package importing

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/datasets/location"
)

// A list that was imported and mended is carried back into the source's own files: one label changes, one sample goes.
func TestCarry(t *testing.T) {
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 200, 100))); err != nil {
		t.Fatal(err)
	}
	const coco = `{"images":[{"id":1,"file_name":"1.png"}],"annotations":[{"id":1,"image_id":1,"category_id":1,` +
		`"bbox":[1,2,30,40]},{"id":2,"image_id":1,"category_id":2,"bbox":[1,2,30,40]},` +
		`{"id":3,"image_id":1,"category_id":2,"bbox":[1,2,30,40]}],` +
		`"categories":[{"id":1,"name":"a"},{"id":2,"name":"b"}]}`
	mendedCOCO := strings.Replace(strings.Replace(coco, `"category_id":1`, `"category_id":2`, 1),
		`,{"id":3,"image_id":1,"category_id":2,"bbox":[1,2,30,40]}`, "", 1)
	for name, c := range map[string]struct{ source, text, to, want string }{
		"YOLO": {"1.txt", "0 .5 .5  .4 .4\n1 .5 .5 .1 .1\r\n1 .2 .2 .1 .1\n", "y/1.txt", "1 .5 .5  .4 .4\n1 .5 .5 .1 .1\r\n"},
		"COCO": {"1.json", coco, "y/1.json", mendedCOCO},
		"a table": {"t.csv", "n;class;file\n1;a;x.png\n2;\"b\";y.png\n3;b;z.png\n", "t.csv",
			"n;class;file\n1;b;x.png\n2;\"b\";y.png\n"},
		"a column for each class": {"t.tsv", "file\ta\tb\nx\t1\t0\ny\t0\t1\nz\t0\t1\n", "t.tsv",
			"file\ta\tb\nx\t0\t1\ny\t0\t1\n"},
		"a list": {"l.txt", "x.png 0\ny.png 1\nz.png 1\n", "l.txt", "x.png 1\ny.png 1\n"},
		"JSON lines": {"l.jsonl", `{"path": "x", "label": "a"}` + "\n" + `{"path": "y", "label": "b"}` + "\n" +
			`{"path": "z", "label": "b"}`, "l.jsonl", `{"path": "x", "label": "b"}` + "\n" +
			`{"path": "y", "label": "b"}` + "\n"},
		"the file of COCO": {"f.json", coco, "f.json", mendedCOCO},
	} {
		t.Run(name, func(t *testing.T) {
			dir, out := t.TempDir(), t.TempDir()
			source := filepath.Join(dir, c.source)
			write := func(to, text string) {
				if err := os.WriteFile(to, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(source, c.text)
			if strings.HasPrefix(c.to, "y/") {
				source = dir
				write(filepath.Join(dir, "1.png"), picture.String())
				if name == "YOLO" {
					write(filepath.Join(dir, "classes.txt"), "a\nb\n")
				}
			}
			list, mended := filepath.Join(out, "m.csv"), filepath.Join(out, "mended.csv")
			from := Source{Path: location.At(source)}
			if strings.HasPrefix(name, "a list") { // its pictures are not there
				from.Read.Format = datasets.PRISM
			}
			job := Job{Out: list, Sources: []Source{from}, Note: t.Logf}
			if err := job.Run(t.Context(), io.Discard, io.Discard); err != nil {
				t.Fatal(err)
			}
			d, err := datasets.ReadFile(list, datasets.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			other := d.LabelName(d.Samples[1])
			if _, err := datasets.MendTo(t.Context(), mended, location.At(list), d,
				map[int]datasets.Decision{0: {Label: other}, 2: {Drop: true}}); err != nil {
				t.Fatal(err)
			}
			top, _, _ := strings.Cut(c.to, "/")
			job.Out, job.Mended = filepath.Join(out, top), location.At(mended)
			var said bytes.Buffer
			if err := job.Run(t.Context(), &said, io.Discard); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(out, filepath.FromSlash(c.to)))
			plain := strings.NewReplacer(": ", ":", ", ", ",").Replace // white space of JSON may change
			if err != nil || plain(string(got)) != plain(c.want) {
				t.Errorf("got %q, %v, expected %q", got, err, c.want)
			}
			if !strings.HasSuffix(said.String(), ": 2 rows, 1 relabelled, 1 dropped\n") {
				t.Errorf("said %q", &said)
			}
			write(mended, "path,label\nelsewhere/x.png,a\n")
			if err := job.Run(t.Context(), io.Discard, io.Discard); err == nil || !strings.Contains(err.Error(),
				`1 of its 1 paths are not those of the source, the first "elsewhere/x.png"`) {
				t.Errorf("another list: %v", err)
			}
		})
	}
}
