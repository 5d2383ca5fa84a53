package datasets

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

// folderOf makes a folder of files, which hold what follows a = in their names, or a picture's first bytes.
func folderOf(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, file := range files {
		name, text, ok := strings.Cut(file, "=")
		if !ok {
			text = "\xff\xd8\xff\xe0 " + name
		}
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Published folders are read as they are, and what was left out is counted, or they are called by their name.
func TestPublishedFolders(t *testing.T) {
	for _, c := range []struct {
		name  string
		files []string
		rows  string // path label split
		said  string
	}{
		{"Market-1501", []string{"m/bounding_box_train/0007_c1s1_000451_03.jpg", "m/query/0010_c2s1_000001_00.jpg",
			"m/bounding_box_test/0010_c3s1_000001_01.jpg", "m/bounding_box_test/-1_c1s1_000401_03.jpg",
			"m/bounding_box_test/0000_c2s2_000401_03.jpg", "m/gt_bbox/0010_c3s1_000001_00.jpg", "m/readme.txt=x",
			"m/bounding_box_test/Thumbs.db=x", "m/bounding_box_test/odd.jpg"},
			"m/bounding_box_test/0010_c3s1_000001_01.jpg 0010 gallery, m/bounding_box_train/0007_c1s1_000451_03.jpg " +
				"0007 train, m/query/0010_c2s1_000001_00.jpg 0010 query",
			"read as persons by the names of Market-1501 below m\nleft out: 1 picture in gt_bbox (in no split), " +
				"1 picture (named in another way), 1 picture (nobody: the number -1), 1 picture (nobody: the number 0000), " +
				"1 .db (no picture), 1 .txt (no picture)"},
		{"one folder of DukeMTMC", []string{"0001_c2_f0046182.jpg", "0005_c8_f0046310.jpg"},
			"0001_c2_f0046182.jpg 0001 train, 0005_c8_f0046310.jpg 0005 train", "read as persons"},
		{"CUB", []string{"images/001.Albatross/a.jpg", "images/002.Auk/b.jpg", "parts/parts.txt=x",
			"attributes/a.txt=x",
			"images.txt=1 001.Albatross/a.jpg\n"},
			"images/001.Albatross/a.jpg 001.Albatross train, images/002.Auk/b.jpg 002.Auk train",
			"read as class folders below images\nleft out: 3 .txt (no picture), 2 folders without pictures " +
				"(attributes, parts)"},
		{"LFW", []string{"lfw/Ann_Lee/Ann_Lee_0001.jpg", "lfw/Bo_Li/Bo_Li_0001.jpg", "pairs.txt=10\t300\n"},
			"lfw/Ann_Lee/Ann_Lee_0001.jpg Ann_Lee train, lfw/Bo_Li/Bo_Li_0001.jpg Bo_Li train",
			"left out: 1 .txt (no picture)"},
		{"Roboflow's classes", []string{"train/_classes.csv=filename, cat, dog\n1.jpg, 1, 0\n2.jpg, 0, 1\n",
			"train/1.jpg", "train/2.jpg", "valid/_classes.csv=filename, cat, dog\n3.jpg, 0, 1\n", "valid/3.jpg",
			"valid/4.jpg"},
			"train/1.jpg cat train, train/2.jpg dog train, valid/3.jpg dog validation",
			"read as labels of Roboflow, by its _classes.csv"},
		{"WIDER FACE", []string{"WIDER_train/images/0--Parade/a.jpg", "WIDER_val/images/0--Parade/b.jpg",
			"wider_face_split/x.txt=x"}, "found WIDER FACE, whose boxes are faces without names", ""},
		{"CelebA", []string{"img_align_celeba/000001.jpg", "identity_CelebA.txt=000001.jpg 2880\n"},
			"found CelebA, whose persons are in a list: give identity_CelebA.txt", ""},
		{"pictures and a table", []string{"train/1.jpg", "train/2.jpg", "train.csv=id,breed\n1,pug\n"},
			"or give the list that holds its labels, if that is train.csv", ""},
		{"other names in a folder of Market-1501", []string{"bounding_box_train/a.jpg"},
			"found bounding_box_train/a.jpg, expected the names of Market-1501", ""},
		{"nobody", []string{"-1_c1.jpg"}, "found only pictures of nobody", ""},
	} {
		opts, told := noted()
		d, err := ReadFile(folderOf(t, c.files...), opts)
		got := fmt.Sprint(err)
		if err == nil {
			var rows []string
			for _, s := range d.Samples {
				rows = append(rows, fmt.Sprintf("%s %s %s", s.Path, d.className(s.Label), s.Split))
			}
			got = strings.Join(rows, ", ")
		}
		said := strings.Join(*told, "\n")
		for _, line := range strings.Split(c.said, "\n") {
			if !strings.Contains(said, line) {
				t.Errorf("%s: said %q, expected %q", c.name, said, line)
			}
		}
		if !strings.Contains(got, c.rows) {
			t.Errorf("%s: found %q, expected %q", c.name, got, c.rows)
		}
	}
}

// FuzzFolders reads folders of any names: every picture is read or counted.
func FuzzFolders(f *testing.F) {
	for _, names := range []string{"a/1.jpg\nb/2.jpg\nb/x.txt", "train/a/1.jpg\ntest/a/2.jpg\nother/3.jpg",
		"bounding_box_train/0001_c1_2.jpg\nbounding_box_test/-1_c2.jpg\nquery/0003_c1.jpg", "0001_c1.jpg\n0002_c2.jpg",
		"images/a/1.jpg\nparts/x.txt\n1.jpg", "@eaDir/1.jpg\na/2.jpg\n.b/3.jpg", "WIDER_train/a/1.jpg", "x.arrow"} {
		f.Add(names)
	}
	f.Fuzz(func(t *testing.T, names string) {
		tree, pictures := fstest.MapFS{}, 0
		for name := range strings.SplitSeq(names, "\n") {
			if fs.ValidPath(name) && name != "." {
				tree[name] = &fstest.MapFile{Data: []byte("\xff\xd8\xff\xe0")}
			}
		}
		listed, err := listTree(t.Context(), tree)
		if err != nil {
			return // a file in place of a folder
		}
		pictures = len(listed.images)
		d, err := ReadFolders(tree, "f", ReadOptions{})
		if err != nil {
			return
		}
		found := len(d.Samples)
		for _, l := range d.Reading.Left {
			if strings.HasPrefix(l.Of, "picture") {
				found += l.Files
			}
		}
		if found != pictures {
			t.Errorf("%q: %d of %d pictures are read or counted: %+v", names, found, pictures, d.Reading)
		}
	})
}
