package datasets

import (
	"bytes"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"winnow/datasets/location"
	"winnow/datasets/shards"
	"winnow/internal/regular"
)

// embedded is an image in the form in which Hugging Face's library embeds it.
type embedded struct {
	Bytes []byte  `parquet:"bytes,optional"`
	Path  *string `parquet:"path,optional"`
}

type imageRow struct {
	Image embedded `parquet:"image,optional"`
	Label *int64   `parquet:"label,optional"`
	Note  string   `parquet:"note,dict"`
}

const imageNotes = `{"info":{"features":{"image":{"_type":"Image"},"label":{"names":["heron","stork"],` +
	`"_type":"ClassLabel"},"boxes":[{"_type":"Value"}]}}}`

func parquetOf[R any](t testing.TB, rows []R) string {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[R](&out)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// imagesParquet makes a file of rows with images. Every fifth row has no image; every fourth has the label -1 or none.
func imagesParquet(t testing.TB, rows int, options ...parquet.WriterOption) (file string, images []string) {
	t.Helper()
	var list []imageRow
	for i := range rows {
		name := fmt.Sprintf("%d.JPG", i)
		r := imageRow{Image: embedded{[]byte(strings.Repeat(fmt.Sprintf("picture %d ", i), i%7)), &name},
			Label: new(int64(i % 2)), Note: fmt.Sprint(i / 3)}
		images = append(images, string(r.Image.Bytes))
		if i%5 == 4 {
			r.Image, images[i] = embedded{Path: &name}, "none"
		}
		if i%8 == 3 {
			r.Label = nil
		} else if i%8 == 7 {
			r.Label = new(int64(-1))
		}
		list = append(list, r)
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[imageRow](&out,
		append(options, parquet.KeyValueMetadata("huggingface", imageNotes))...)
	if _, err := w.Write(list); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String(), images
}

// Shards with all kinds of pages are read, with labels by class name and splits by file name. Each image is found by
// its row.
func TestParquetImages(t *testing.T) {
	files, images := map[string]string{}, map[string][]string{}
	for i, options := range [][]parquet.WriterOption{
		nil,
		{parquet.MaxRowsPerRowGroup(7), parquet.Compression(&parquet.Snappy)},
		{parquet.PageBufferSize(200), parquet.DataPageVersion(1), parquet.Compression(&parquet.Zstd)},
		{parquet.PageBufferSize(100), parquet.MaxRowsPerRowGroup(13), parquet.Compression(&parquet.Gzip)},
		{parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.DeltaLengthByteArray), parquet.PageBufferSize(300)},
		{parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.RLEDictionary), parquet.DataPageVersion(1)},
	} {
		name := fmt.Sprintf("data/%s-%05d-of-00006.parquet", []string{"train", "validation", "test"}[i%3], i)
		files[name], images[name] = imagesParquet(t, 40, options...)
	}
	dir := written(t, files)
	opts, told := noted()
	d, err := ReadFile(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Samples) != 240 || strings.Join(d.Classes, ",") != "heron,stork" ||
		strings.Join(d.Columns, ",") != "note,image.path" {
		t.Fatalf("%d samples, classes %v, columns %v", len(d.Samples), d.Classes, d.Columns)
	}
	if all := strings.Join(*told, "\n"); !strings.Contains(all, "240 images in 6 files") ||
		!strings.Contains(all, "60 of 240 images have no label") {
		t.Errorf("told %q", *told)
	}
	root := shards.FS(regular.Dir(dir))
	for k, s := range d.Samples {
		i := k % 40
		file := strings.Join(strings.Split(s.Path, "/")[:2], "/")
		if want := fmt.Sprintf("%s/image/%06d.JPG", file, i); s.Path != want || s.Extra[0] != fmt.Sprint(i/3) ||
			s.Extra[1] != fmt.Sprintf("%d.JPG", i) {
			t.Fatalf("found %+v, expected %s", s, want)
		}
		if label := d.className(s.Label); (i%4 == 3) != (label == "") || label != "" &&
			label != []string{"heron", "stork"}[i%2] {
			t.Errorf("%s: label %q", s.Path, label)
		}
		if !strings.HasPrefix(s.Path, "data/"+s.Split+"-") {
			t.Errorf("%s: split %s", s.Path, s.Split)
		}
		data, err := fs.ReadFile(root, s.Path)
		if images[file][i] == "none" {
			if err == nil || !strings.Contains(err.Error(), "has no image bytes, perhaps only a path") {
				t.Errorf("%s: %q, %v", s.Path, data, err)
			}
		} else if err != nil || string(data) != images[file][i] {
			t.Errorf("%s: %q, %v, expected %q", s.Path, data, err, images[file][i])
		}
	}
	for _, name := range []string{"/image/000040.jpg", "/image/0.jpg", "/note/000000", "/000000.jpg", "/image/-00001"} {
		if data, err := fs.ReadFile(root, "data/train-00000-of-00006.parquet"+name); err == nil {
			t.Errorf("%s: %q", name, data)
		}
	}
}

// Other column names, text labels and missing columns are handled.
func TestParquetColumns(t *testing.T) {
	type plain struct {
		Img   []byte `parquet:"img"`
		Mask  []byte `parquet:"mask"`
		Kind  string `parquet:"kind"`
		Fold  string `parquet:"fold"`
		Width int32  `parquet:"width"`
	}
	type text struct {
		Path  string `parquet:"path"`
		Label string `parquet:"label"`
	}
	two := parquetOf(t, []plain{{[]byte("a"), []byte("b"), "heron", "test", 3}})
	for what, c := range map[string]struct {
		data string
		opts ReadOptions
		want string
	}{
		"named": {two, ReadOptions{Names: Names{Path: "mask", Label: "kind", Split: "fold"}},
			"path,label,split,width\nx.parquet/mask/000000,heron,test,3\n"},
		"guessed": {two, ReadOptions{}, "path,label,split,kind,fold,width\nx.parquet/img/000000,,train,heron,test,3\n"},
		"no such one": {two, ReadOptions{Names: Names{Path: "photo"}},
			`found the image columns ["img" "mask"]`},
		"no " +
			"label": {two, ReadOptions{Names: Names{Label: "class"}},
			`expected a separate column "class" for the label`},
		"no image": {parquetOf(t, []text{{"a.jpg", "x"}}), ReadOptions{},
			"expected one image column with the fields bytes and path"},
		"cut":          {two[:len(two)-20], ReadOptions{}, "is not a Parquet file"},
		"cut in front": {two[:4] + two[60:], ReadOptions{}, ""},
		"empty":        {parquetOf(t, []plain{}), ReadOptions{}, "no row found"},
	} {
		dir := written(t, map[string]string{"x.parquet": c.data})
		d, err := ReadFile(filepath.Join(dir, "x.parquet"), c.opts)
		switch {
		case err != nil && (c.want == "" || strings.Contains(err.Error(), c.want)) &&
			!strings.Contains(err.Error(), "\n"):
		case err != nil:
			t.Errorf("%s: %v, expected %q", what, err, c.want)
		default:
			if diff := cmp.Diff(c.want, rowsOf(t, d)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
	}
	if _, err := className("2", []string{"a", "b"}); err == nil {
		t.Error("a number of no class is taken")
	}
}

// FuzzParquetImages checks that any file, and each of its images, is read or gives a one-line error.
func FuzzParquetImages(f *testing.F) {
	for _, options := range [][]parquet.WriterOption{nil,
		{parquet.DataPageVersion(1), parquet.Compression(&parquet.Snappy)},
		{parquet.DefaultEncodingFor(parquet.ByteArray, &parquet.RLEDictionary)}} {
		file, _ := imagesParquet(f, 6, options...)
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		src := bytes.NewReader(data)
		s, err := ReadOptions{
			Split: Train,
		}.readParquetColumns(
			t.Context(),
			"x",
			location.At("x"),
			src,
			int64(len(data)),
		)
		if err != nil {
			return
		}
		file, err := shards.OpenParquet(src, int64(len(data)))
		if err != nil {
			t.Fatal(err)
		}
		var cache shards.PageCache
		for _, r := range s.rows[:min(len(s.rows), 20)] {
			_, _ = file.Image(src, &cache, strings.TrimPrefix(r.path, "x/")) // broken pages are rejected
		}
	})
}
