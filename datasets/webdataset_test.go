package datasets

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets/location"
	"winnow/datasets/shards"
	"winnow/internal/testing/tarfile"
)

// tarOf returns a tar file with alternating names and contents.
func tarOf(t testing.TB, files ...string) string { return string(tarfile.Of(t, files...)) }

// written writes files into a new folder.
func written(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Samples of all kinds are read by a name pattern, by a single shard, and by the folder.
func TestWebDataset(t *testing.T) {
	for what, c := range map[string]struct {
		files  map[string]string
		source string // below the folder; "" for the folder itself
		names  Names
		want   string
		told   []string
	}{
		"classes": {map[string]string{
			"train-00.tar": tarOf(t, "./a.jpg", "1", "./a.cls", "7\n", "b/c.PNG", "2", "b/c.cls", "11"),
			"val-00.tar":   tarOf(t, "a.cls", "7", "a.jpg", "3", "a.npy", "…"),
			"notes.txt":    "not a shard",
		}, "", Names{}, "path,label,split\ntrain-00.tar/a.jpg,7,train\n" +
			"train-00.tar/b/c.PNG,11,train\nval-00.tar/a.jpg,7,validation\n",
			[]string{"read as shards of WebDataset: 3 images in 2 files"}},
		"json": {map[string]string{
			"x/0.tar": tarOf(t, "a.jpg", "1", "a.json", `{"label":"heron","split":"test","width":640}`, "a.cls", "0"),
			"x/1.tar": tarOf(t, "b.jpg", "1", "b.json", `{"true_label":"stork","label":"heron","note":null}`, "b.cls",
				"0"),
		}, "x/[01].tar", Names{},
			"path,label,split,true_label,width\n0.tar/a.jpg,heron,test,,640\n1.tar/b.jpg,heron,train,stork,\n",
			[]string{"2 images in 2 files"}},
		"a usual key": {map[string]string{"a.tar": tarOf(t, "a.jpg", "1", "a.json",
			`{"category":3,"path":"x/a.jpg"}`)}, "a.tar", Names{},
			"path,label,split,other_path\na.tar/a.jpg,3,train,x/a.jpg\n",
			[]string{`took the column "category" for the label`, "1 images in 1 files"}},
		"texts that are none": {map[string]string{"a.tar": tarOf(t, "a.jpg", "1", "a.txt", "a heron\nat sea", "b.jpg",
			"1", "b.txt", "a stork")}, "a.tar", Names{},
			"path,label,split,txt\na.tar/a.jpg,,train,\"a heron\nat sea\"\na.tar/b.jpg,,train,a stork\n",
			[]string{"read as", `2 of 2 images have no label, the first "a.tar/a.jpg"`}},
		"names": {map[string]string{"a.tar": tarOf(t, "a.left.jpg", "1", "a.right.jpg", "2", "a.kind", "heron",
			"a.json", `{"fold":"test"}`)}, "a.tar", Names{Path: "right.jpg", Label: "kind", Split: "fold"},
			"path,label,split\na.tar/a.right.jpg,heron,test\n", []string{"read as"}},
		"a mask beside": {map[string]string{"a.tar": tarOf(t, "a.jpg", "1", "a.mask.png", "2", "a.cls", "1")},
			"a.tar", Names{}, "path,label,split\na.tar/a.jpg,1,train\n", []string{"read as"}},
		"odd ones": {map[string]string{"a.tar": tarOf(t, "a.jpg", "1", "a.cls", "1", "b.cls", "2", "c.jpg", "1",
			"README", "x", ".hidden", "x", "e.cls", "1")}, "a.tar", Names{},
			"path,label,split\na.tar/a.jpg,1,train\na.tar/c.jpg,,train\n",
			[]string{"read as", `1 of 2 images have no label, the first "a.tar/c.jpg"`,
				`left out: 2 samples (without an image, such as a.tar/b.cls)`}},
	} {
		dir := written(t, c.files)
		opts, told := noted()
		opts.Names = c.names
		d, err := ReadFile(filepath.Join(dir, c.source), opts)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if diff := cmp.Diff(c.want, rowsOf(t, d)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
		if len(*told) != len(c.told) {
			t.Errorf("%s: told %q", what, *told)
			continue
		}
		for i, want := range c.told {
			if !strings.Contains((*told)[i], want) {
				t.Errorf("%s: told %q, expected %q", what, (*told)[i], want)
			}
		}
	}
}

func TestWrongWebDataset(t *testing.T) {
	cut := tarOf(t, "a.jpg", strings.Repeat("x", 2000), "a.cls", "1")
	for what, c := range map[string]struct {
		files map[string]string
		opts  ReadOptions
		want  string
	}{
		"no image": {map[string]string{"a.tar": tarOf(t, "a.npy", "1", "a.cls", "1")}, ReadOptions{},
			"found no image, expected files such as KEY.jpg next to KEY.cls or KEY.json; left out: 1 samples (without an image, such as a.tar/a.npy, .cls)"},
		"nothing": {map[string]string{"a.tar": tarOf(t, "README", "x")}, ReadOptions{}, "found no image"},
		"cut":     {map[string]string{"a.tar": cut[:1500]}, ReadOptions{}, `a.tar: "a.jpg": unexpected EOF`},
		"twice": {map[string]string{"a.tar": tarOf(t, "a.jpg", "1", "b.jpg", "1", "a.jpg", "1")}, ReadOptions{},
			`a.tar: holds two files called "a.jpg"`},
		"outside": {map[string]string{"a.tar": tarOf(t, "../../a.jpg", "1")}, ReadOptions{},
			`a.tar: contains the name "../../a.jpg"`},
		"JSON": {map[string]string{"a.tar": tarOf(t, "a.json", "[1]", "a.jpg", "1")}, ReadOptions{},
			"a.tar: a.json: is not a JSON object"},
		"long": {map[string]string{"a.tar": tarOf(t, "a.cls", strings.Repeat("1", mostText+1), "a.jpg", "1")},
			ReadOptions{}, "a.tar: a.cls: has 1048577 bytes, expected at most 1048576"},
		"two images": {map[string]string{"a.tar": tarOf(t, "a.png", "1", "a.jpg", "1")}, ReadOptions{},
			`sample "a" has the images png and jpg, expected one: choose an extension with winnow data import ` +
				`--path-column`},
		"a split": {map[string]string{"a.tar": tarOf(t, "a.json", `{"split":"later"}`, "a.jpg", "1")}, ReadOptions{},
			`a: split "later" is unknown`},
		"no such column": {map[string]string{"a.tar": tarOf(t, "a.cls", "1", "a.jpg", "1")},
			ReadOptions{Names: Names{Label: "kind"}},
			`header is "(image),cls", expected a separate column "kind" for the label`},
		"no such picture": {map[string]string{"a.tar": tarOf(t, "a.cls", "1", "a.jpg", "1")},
			ReadOptions{Names: Names{Path: "png"}}, `such as KEY.png next to`},
		"a prefix": {map[string]string{"a.tar": tarOf(t, "a.cls", "1", "a.jpg", "1")}, ReadOptions{StripPrefix: "x"},
			`found a prefix to strip`},
		"another format": {map[string]string{"a.tar": "path,label\na.jpg,1\n"}, ReadOptions{Format: WebDataset},
			"is neither a tar nor a Parquet file, expected a tar file"},
		"as a manifest": {map[string]string{"a.tar": tarOf(t, "a.cls", "1", "a.jpg", "1")}, ReadOptions{Format: CSV},
			"is not text"},
		"too many keys": {map[string]string{"a.tar": manyKeys(t)}, ReadOptions{}, "different keys give a table"},
	} {
		dir := written(t, c.files)
		_, err := ReadFile(filepath.Join(dir, "a.tar"), c.opts)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, expected %q", what, err, c.want)
		}
	}
	if _, err := ReadFile(filepath.Join(t.TempDir(), "a-{0..3}.tar"), ReadOptions{}); err == nil ||
		!strings.Contains(err.Error(), "expected a pattern with *") {
		t.Errorf("no files: %v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	dir := written(t, map[string]string{"a.tar": tarOf(t, "a.cls", "1", "a.jpg", "1")})
	if _, err := ReadFile(filepath.Join(dir, "a.tar"), ReadOptions{Once: stopped}); err != context.Canceled {
		t.Errorf("interrupted: %v", err)
	}
}

// manyKeys is a tar file whose samples have no key in common.
func manyKeys(t *testing.T) string {
	var files []string
	for i := range 2000 {
		files = append(files, fmt.Sprintf("%d.json", i), fmt.Sprintf(`{"k%d":1}`, i))
	}
	return tarOf(t, files...)
}

// FuzzWebDataset checks that any tar file is read or gives a one-line error, and that rows have paths into the shard.
func FuzzWebDataset(f *testing.F) {
	f.Add([]byte(tarOf(f, "a.jpg", "x", "a.cls", "1", "b/c.png", "y", "b/c.json",
		`{"label":"heron","split":"val","n":[1]}`)))
	f.Add([]byte(tarOf(f, "a.jpg", "x", "a.txt", "heron", "b.jpg", "x", "b.txt", "heron", "b.mask.png", "z")))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := &webShard{texts: map[string]bool{webClass: true, webText: true, webJSON: true}}
		if s.readTar(t.Context(), bytes.NewReader(data), int64(len(data))) != nil {
			return
		}
		d, err := ReadOptions{Split: Train}.webDataset(location.At("m"), &shards.List{Names: []string{"a.tar"}},
			[]*webShard{s})
		if err != nil {
			return
		}
		for _, sample := range d.Samples {
			if !strings.HasPrefix(sample.Path, "a.tar/") || len(sample.Extra) != len(d.Columns) {
				t.Fatalf("%+v with the columns %q", sample, d.Columns)
			}
		}
	})
}
