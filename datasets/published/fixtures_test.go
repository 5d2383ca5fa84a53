package published

import (
	"archive/zip"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"winnow/datasets"
	"winnow/datasets/matfile"
	"winnow/internal/testing/mattest"
	"winnow/internal/testing/reference"
)

// tree returns a folder of files with the given texts.
func tree(files map[string]string) fstest.MapFS {
	fsys := make(fstest.MapFS)
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

// birds returns a CUB-200-2011 folder with two images of each of a few classes.
func birds() fstest.MapFS {
	files := map[string]string{}
	id := 0
	for _, class := range []int{1, 100, 101, 150, 151, 200} {
		files["classes.txt"] += fmt.Sprintf("%d %03d.Bird\n", class, class)
		for i := range 2 {
			id++
			path := fmt.Sprintf("%03d.Bird/Bird_%04d.jpg", class, id)
			files["images.txt"] += fmt.Sprintf("%d %s\n", id, path)
			files["image_class_labels.txt"] += fmt.Sprintf("%d %d\n", id, class)
			files["train_test_split.txt"] += fmt.Sprintf("%d %d\n", id, i)
			files["images/"+path] = ""
		}
	}
	return tree(files)
}

// cars are the devkit's names in its order (the third has a slash; in folder order the fourth precedes the second).
var cars = []string{firstCar, "Acura RL Sedan 2012", "Ram C/V Cargo Van Minivan 2012", "Acura Integra Type R 2001"}

// car returns an annotation: class by the devkit's number, file, and other fields.
func car(class int, file string, more ...*matfile.Array) []*matfile.Array {
	return append([]*matfile.Array{mattest.Numbers("", float64(class)), mattest.Text(file)}, more...)
}

func annotations(file string, list ...[]*matfile.Array) *matfile.Array {
	fields := []string{"class", file}
	if len(list[0]) > 2 {
		fields = append(fields, "test", "bbox_x1")
	}
	return mattest.Struct("annotations", fields, list...)
}

func mat(list ...*matfile.Array) *fstest.MapFile {
	return &fstest.MapFile{Data: mattest.File(mattest.Options{Compress: true}, list...)}
}

// carForms returns the same four images in the three forms of Stanford Cars.
func carForms() map[string]fstest.MapFS {
	names := mattest.Texts("class_names", cars...)
	zero, one, x := mattest.Numbers("", 0), mattest.Numbers("", 1), mattest.Numbers("", 30)
	devkit := fstest.MapFS{
		"devkit/cars_meta.mat":        mat(names),
		"devkit/cars_train_annos.mat": mat(annotations("fname", car(1, "00001.jpg"), car(2, "00002.jpg"))),
		"devkit/cars_test_annos_withlabels.mat": mat(annotations("fname", car(3, "00001.jpg"), car(4, "00002.jpg"),
			car(1, "00001.jpg"))),
		"cars_train/00001.jpg":                      {},
		"cars_train/00002.jpg":                      {},
		"cars_test/00001.jpg":                       {},
		"cars_test/00002.jpg":                       {},
		"devkit/eval_train.m":                       {},
		"devkit/cars_test_annos.mat":                {},
		"unrelated/deep/down/annotations/notes.txt": {},
	}
	return map[string]fstest.MapFS{
		"annos": {
			"cars_annos.mat": mat(annotations("relative_im_path", car(1, "car_ims/000001.jpg", zero, x),
				car(2, "car_ims/000002.jpg", zero, x),
				car(3, "car_ims/000003.jpg", one, x), car(4, "car_ims/000004.jpg", one, x),
				car(1, "car_ims/000005.jpg", one, x)), names),
			"car_ims/000001.jpg": {}, "car_ims/000002.jpg": {}, "car_ims/000003.jpg": {}, "car_ims/000004.jpg": {},
			"car_ims/000005.jpg": {},
		},
		"devkit": devkit,
		"folders": {
			"train/" + firstCar + "/00001.jpg": {}, "train/Acura RL Sedan 2012/00002.jpg": {},
			"test/Ram C-V Cargo Van Minivan 2012/00001.jpg": {}, "test/Acura Integra Type R 2001/00002.jpg": {},
			"test/" + firstCar + "/00001.jpg": {},
		},
	}
}

// flowers is Oxford's folder with the given classes, whose images are put into the three sets in turn.
func flowers(classes ...float64) fstest.MapFS {
	fsys := fstest.MapFS{"imagelabels.mat": mat(mattest.Numbers("labels", classes...))}
	var sets [3][]float64
	for i := range classes {
		fsys[fmt.Sprintf("jpg/image_%05d.jpg", i+1)] = &fstest.MapFile{}
		sets[i%3] = append(sets[i%3], float64(i+1))
	}
	fsys["setid.mat"] = mat(mattest.Numbers("trnid", sets[0]...), mattest.Numbers("valid", sets[1]...),
		mattest.Numbers("tstid", sets[2]...))
	return fsys
}

// show formats a dataset, one line per sample.
func show(d *datasets.Dataset) string {
	var b strings.Builder
	for _, s := range d.Samples {
		fmt.Fprintf(&b, "%s %s %s\n", s.Path, d.Classes[s.Label], s.Split)
	}
	return b.String()
}

// official opens a folder of the real metadata.
func official(t testing.TB, folder string) fs.FS {
	t.Helper()
	z, err := zip.OpenReader(reference.Asset(t, "data/official-metadata.zip"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { z.Close() })
	sub, err := fs.Sub(z, folder)
	if err != nil {
		t.Fatal(err)
	}
	return sub
}

// released opens one of PRISM's lists.
func released(t testing.TB, name string) *datasets.Dataset {
	t.Helper()
	z, err := zip.OpenReader(reference.Asset(t, "data/prism-lists.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	at := slices.IndexFunc(z.File, func(f *zip.File) bool {
		return strings.HasSuffix(f.Name, "/"+name) || f.Name == name
	})
	if at < 0 {
		t.Fatalf("no %s in prism-lists.zip", name)
	}
	f, err := z.File[at].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := readList(f, name)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
