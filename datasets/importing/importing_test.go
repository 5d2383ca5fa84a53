package importing

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/datasets"
	"winnow/datasets/location"
)

// A folder becomes shards, with each source's images read below its own root, and the shards become a manifest with
// the same labels.
func TestShardsAndBack(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"one/heron/1.jpg", "one/stork/1.jpg", "two/heron/1.jpg", "two/stork/2.jpg"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := location.At(dir).Join
	job := Job{Out: filepath.Join(dir, "s", "x-%d.tar"), ShardSize: 1 << 20, Note: t.Logf,
		Sources: []Source{{Path: at("one")},
			{Path: at("two"), Read: datasets.ReadOptions{Split: datasets.Test}}}}
	var out bytes.Buffer
	if err := job.Run(t.Context(), &out, io.Discard); err != nil ||
		!strings.HasSuffix(out.String(), "4 images in 1 tar files\n") {
		t.Fatalf("%v, printed %q", err, out.String())
	}
	shard, err := os.ReadFile(filepath.Join(dir, "s", "x-0.tar"))
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"one/heron/1.jpg", "two/heron/1.jpg", "two/stork/2.jpg"} { // contents
		if !bytes.Contains(shard, []byte(text)) {
			t.Errorf("%s is not in the shard", text)
		}
	}
	back := Job{Out: filepath.Join(dir, "m.csv"), Note: t.Logf,
		Sources: []Source{{Path: at("s/x-*.tar")}}}
	if err := back.Run(t.Context(), io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	list, err := os.ReadFile(back.Out)
	want := "path,label,split,other_path\n" +
		"x-0.tar/heron/1.jpg,heron,train,\nx-0.tar/stork/1.jpg,stork,train,\n" +
		"x-0.tar/heron/1-2.jpg,heron,test,heron/1.jpg\nx-0.tar/stork/2.jpg,stork,test,\n"
	if err != nil || string(list) != want {
		t.Errorf("found %s%v, expected %s", list, err, want)
	}
	if err := os.Mkdir(filepath.Join(dir, "t"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "t", "y.tar"), shard, 0o600); err != nil {
		t.Fatal(err)
	}
	back.Sources = append(back.Sources, Source{Path: at("t/y.tar")})
	if err := back.Run(t.Context(), io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "are shards in two folders, expected one") {
		t.Errorf("two folders: %v", err)
	}
}

// A list without a header is read only if its pictures are there or its form is named; of any list the paths that
// name no file below a root that was given are counted, and if none does that is an error.
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
