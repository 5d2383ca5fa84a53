package importing

import (
	"archive/zip"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"winnow/datasets"
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

// cars lists the devkit's names in its order. The third has a slash; in folder order, the fourth precedes the second.
var cars = []string{firstCar, "Acura RL Sedan 2012", "Ram C/V Cargo Van Minivan 2012", "Acura Integra Type R 2001"}

// matElementOf returns a padded element.
func matElementOf(kind int, data []byte) []byte {
	out := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(kind)), uint32(len(data)))
	out = append(out, data...)
	return append(out, make([]byte, -len(data)&7)...)
}

// matOf returns an array: numbers, a text, a row of cells, or a struct array with named fields.
func matOf(name string, v any) []byte {
	class, count, content := 0, 0, []byte(nil)
	switch v := v.(type) {
	case []float64:
		class, count = matDouble, len(v)
		for _, x := range v {
			content = binary.LittleEndian.AppendUint64(content, math.Float64bits(x))
		}
		content = matElementOf(9, content)
	case string:
		class, count, content = matChar, len(v), matElementOf(16, []byte(v))
	case []string:
		class, count = matCell, len(v)
		for _, text := range v {
			content = append(content, matOf("", text)...)
		}
	case []map[string]any:
		class, count = matStruct, len(v)
		var names []byte
		fields := slices.Sorted(maps.Keys(v[0]))
		for _, f := range fields {
			names = append(names, f+strings.Repeat("\x00", 32-len(f))...)
		}
		content = append(matElementOf(5, []byte{32, 0, 0, 0}), matElementOf(1, names)...)
		for _, element := range v {
			for _, f := range fields {
				content = append(content, matOf("", element[f])...)
			}
		}
	}
	sizes := binary.LittleEndian.AppendUint32([]byte{1, 0, 0, 0}, uint32(count))
	return matElementOf(matMatrix, slices.Concat(matElementOf(6, []byte{byte(class), 0, 0, 0, 0, 0, 0, 0}),
		matElementOf(5, sizes), matElementOf(1, []byte(name)), content))
}

// mat returns a file of compressed variables.
func mat(variables ...[]byte) *fstest.MapFile {
	out := append(bytes.Repeat([]byte(" "), 124), 0, 1, 'I', 'M')
	for _, v := range variables {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		w.Write(v)
		w.Close()
		out = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(out, matCompressed), uint32(z.Len()))
		out = append(out, z.Bytes()...)
	}
	return &fstest.MapFile{Data: out}
}

// car returns an annotation with a file and a class in the devkit's numbering.
func car(class int, field, file string, test float64) map[string]any {
	return map[string]any{"class": []float64{float64(class)}, field: file, "test": []float64{test}}
}

// carForms returns the same images in the three forms of Stanford Cars.
func carForms() map[string]fstest.MapFS {
	names, annos := matOf("class_names", cars), func(list ...map[string]any) []byte { return matOf("annotations", list) }
	return map[string]fstest.MapFS{
		"annos": {"cars_annos.mat": mat(annos(car(1, "relative_im_path", "car_ims/1.jpg", 0),
			car(2, "relative_im_path", "car_ims/2.jpg", 0), car(3, "relative_im_path", "car_ims/3.jpg", 1),
			car(4, "relative_im_path", "car_ims/4.jpg", 1), car(1, "relative_im_path", "car_ims/5.jpg", 1)), names)},
		"devkit": {
			"devkit/cars_meta.mat":        mat(names),
			"devkit/cars_train_annos.mat": mat(annos(car(1, "fname", "00001.jpg", 0), car(2, "fname", "00002.jpg", 0))),
			"devkit/cars_test_annos_withlabels.mat": mat(annos(car(3, "fname", "00001.jpg", 0),
				car(4, "fname", "00002.jpg", 0), car(1, "fname", "00001.jpg", 0))),
		},
		"folders": {
			"train/" + firstCar + "/00001.jpg": {}, "train/Acura RL Sedan 2012/00002.jpg": {},
			"test/Ram C-V Cargo Van Minivan 2012/00001.jpg": {}, "test/Acura Integra Type R 2001/00002.jpg": {},
			"test/" + firstCar + "/00001.jpg": {},
		},
	}
}

// flowers returns a folder like Oxford's with the given classes, whose images are assigned to the three sets in turn.
func flowers(classes ...float64) fstest.MapFS {
	fsys := fstest.MapFS{"imagelabels.mat": mat(matOf("labels", classes))}
	var sets [3][]float64
	for i := range classes {
		fsys[fmt.Sprintf("jpg/image_%05d.jpg", i+1)] = &fstest.MapFile{}
		sets[i%3] = append(sets[i%3], float64(i+1))
	}
	fsys["setid.mat"] = mat(matOf("trnid", sets[0]), matOf("valid", sets[1]), matOf("tstid", sets[2]))
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

// imported reads a folder with a preset.
func imported(t *testing.T, preset string, fsys fs.FS, opts Options) *Result {
	t.Helper()
	p, err := Find(preset)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Dataset(fsys, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// names formats a sample: path, given and true label, split, and other columns.
func names(d *datasets.Dataset, i int) string {
	name := func(id int) string {
		if id == datasets.Unlabelled {
			return "-"
		}
		return d.Classes[id]
	}
	s := d.Samples[i]
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", s.Path, name(s.Label), name(s.True), s.Split,
		strings.Join(s.Extra, " ")))
}

// official opens a folder of the publisher's real metadata.
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
