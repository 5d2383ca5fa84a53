package published

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// counted is a tree of small files, and of folders whose many file names are generated on request.
type counted struct {
	fstest.MapFS
	folders map[string][]string           // folder → the folders in it
	files   map[string]func(i int) string // folder → the i-th file in it
	count   map[string]int                // folder → how many files
}

type entry struct {
	name string
	dir  bool
}

func (e entry) Name() string               { return e.name }
func (e entry) IsDir() bool                { return e.dir }
func (e entry) Size() int64                { return 0 }
func (e entry) ModTime() time.Time         { return time.Time{} }
func (e entry) Sys() any                   { return nil }
func (e entry) Info() (fs.FileInfo, error) { return e, nil }
func (e entry) Type() fs.FileMode          { return e.Mode().Type() }
func (e entry) Mode() fs.FileMode {
	if e.dir {
		return fs.ModeDir
	}
	return 0
}

func (c counted) isFolder(name string) bool { return c.folders[name] != nil || c.files[name] != nil }

func (c counted) Stat(name string) (fs.FileInfo, error) {
	if c.isFolder(name) {
		return entry{path.Base(name), true}, nil
	}
	return c.MapFS.Stat(name)
}

func (c counted) ReadDir(name string) ([]fs.DirEntry, error) {
	if !c.isFolder(name) {
		return c.MapFS.ReadDir(name)
	}
	list := make([]fs.DirEntry, 0, len(c.folders[name])+c.count[name])
	for _, folder := range c.folders[name] {
		list = append(list, entry{folder, true})
	}
	for i := range c.count[name] {
		list = append(list, entry{c.files[name](i), false})
	}
	return list, nil
}

// shares splits n into parts as evenly as possible.
func shares(n, among int) []int {
	list := make([]int, among)
	for i := range list {
		list[i] = n / among
		if i < n%among {
			list[i]++
		}
	}
	return list
}

// withFolders adds folders with n files in total below a folder.
func (c counted) withFolders(below string, names []string, n int, file func(i int) string) {
	c.folders[below] = names
	for i, k := range shares(n, len(names)) {
		folder := path.Join(below, names[i])
		c.files[folder], c.count[folder] = file, k
	}
}

func newCounted() counted {
	return counted{fstest.MapFS{}, map[string][]string{}, map[string]func(int) string{}, map[string]int{}}
}

// counts fails if the warnings about file counts differ from the expected ones.
func counts(t *testing.T, preset string, files fs.FS, want string) {
	t.Helper()
	if w := unlike(imported(t, preset, files, Options{})); w != want {
		t.Errorf("%s: %q, expected %q", preset, w, want)
	}
}

func numbered(format string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i+1)
	}
	return list
}

// TestCountsTransfer builds lists and folders of the published sizes: there are no warnings, and one image less is
// reported. The more than a million training images of ImageNet and Places365 would take 5 seconds each, and
// iNaturalist's half of that, so only a twentieth of these is built.
func TestCountsTransfer(t *testing.T) {
	t.Run("pets", func(t *testing.T) {
		list := func(n int) *fstest.MapFile {
			var lines []string
			for class, k := range shares(n, 37) {
				for i := range k {
					lines = append(lines, fmt.Sprintf("breed%02d_%d %d 1 1", class+1, i+1, class+1))
				}
			}
			return text(lines...)
		}
		whole := fstest.MapFS{"annotations/trainval.txt": list(3680), "annotations/test.txt": list(3669)}
		less := fstest.MapFS{"annotations/trainval.txt": list(3680), "annotations/test.txt": list(3668)}
		counts(t, "pets", whole, "")
		counts(t, "pets", less, "test: found 3668 images, expected 3669 as published")
	})
	t.Run("caltech", func(t *testing.T) {
		image := func(i int) string { return fmt.Sprintf("image_%04d.jpg", i+1) }
		classes := func(n int) counted {
			c := newCounted()
			c.withFolders("101_ObjectCategories",
				slices.Concat([]string{"BACKGROUND_Google"}, numbered("class%03d", 101)), n*102/101+1, image)
			background := "101_ObjectCategories/BACKGROUND_Google"
			rest := 0
			for folder, k := range c.count {
				if folder != background {
					rest += k
				}
			}
			c.count["101_ObjectCategories/class101"] += n - rest
			return c
		}
		counts(t, "caltech101", classes(8677), "")
		counts(t, "caltech101", classes(8676), "test: found 5646 images, expected 5647 as published")
		c := newCounted()
		c.withFolders("256_ObjectCategories", numbered("%03[1]d.thing%[1]d", 256), 30607-827, image)
		c.folders["256_ObjectCategories"] = append(c.folders["256_ObjectCategories"], "257.clutter")
		c.files["256_ObjectCategories/257.clutter"], c.count["256_ObjectCategories/257.clutter"] = image, 827
		counts(t, "caltech256", c, "")
	})
	t.Run("imagenet", func(t *testing.T) {
		c := newCounted()
		var all []synset
		for i, id := range numbered("n%08d", 1000) {
			all = append(all, synset{id, fmt.Sprint("words ", i)})
		}
		c.withFolders("train", numbered("n%08d", 1000), 1281167/20, func(i int) string {
			return fmt.Sprintf("x_%d.JPEG", i)
		})
		c.files["val"], c.count["val"] = func(i int) string { return fmt.Sprintf("ILSVRC2012_val_%08d.JPEG", i+1) },
			50000
		var truth []string
		for i := range 50000 {
			truth = append(truth, fmt.Sprint(i%1000+1))
		}
		c.MapFS[devkitData+metaFile],
			c.MapFS[devkitData+truthFile] = synsets(append(all, synset{"n00001740", "entity"})...), text(truth...)
		counts(t, "imagenet", c, "train: found 64058 images, expected 1281167 as published")
	})
	t.Run("places365", func(t *testing.T) {
		var classes, val []string
		var train strings.Builder
		for class, k := range shares(1803460/20, 365) {
			classes = append(classes, fmt.Sprintf("/s/scene%03d %d", class, class))
			for i := range k {
				fmt.Fprintf(&train, "/s/scene%03d/%08d.jpg %d\n", class, i+1, class)
			}
			for i := range 100 {
				val = append(val, fmt.Sprintf("Places365_val_%08d.jpg %d", 100*class+i+1, class))
			}
		}
		files := fstest.MapFS{placesClasses: text(classes...),
			"places365_train_standard.txt": {Data: []byte(train.String())}, "places365_val.txt": text(val...)}
		counts(t, "places365", files, "train: found 90173 images, expected 1803460 as published")
	})
	for _, c := range []struct {
		year                string
		train, val, classes int
		want                string
	}{
		{"2017", 579184 / 20, 95986, 5089, "train: found 28959 images, expected 579184 as published"},
		{"2018", 437513 / 20, 24426, 8142, "train: found 21875 images, expected 437513 as published"},
	} {
		t.Run("inat"+c.year, func(t *testing.T) {
			list := func(n int) *fstest.MapFile {
				element := func(n int, format string) string {
					var b strings.Builder
					for i := range n {
						fmt.Fprintf(&b, format, i, i%c.classes)
					}
					return strings.TrimSuffix(b.String(), ",")
				}
				return text(`{"categories": [`+element(c.classes, `{"id":%d,"name":"%d","supercategory":"Aves"},`)+`],`,
					`"images": [`+element(n, `{"id":%d,"file_name":"t/%[1]d.jpg"},`)+`],`,
					`"annotations": [`+element(n, `{"image_id":%d,"category_id":%d},`)+`]}`)
			}
			counts(t, "inat"+c.year, fstest.MapFS{"train" + c.year + ".json": list(c.train), "val" + c.year +
				".json": list(c.val)}, c.want)
		})
	}
}
