package published

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
	"winnow/internal/testing/mattest"
)

// TestCatalog: the fields of each preset are consistent.
func TestCatalog(t *testing.T) {
	names := map[string]bool{}
	for _, p := range Catalog() {
		if _, ok := p.Protocols[p.Default]; !ok || names[p.Name] || p.Title == "" || len(p.Files) == 0 {
			t.Errorf("%s: default protocol %q of %v, title %q, files %v", p.Name, p.Default, p.ProtocolNames(),
				p.Title, p.Files)
		}
		names[p.Name] = true
		for name, protocol := range p.Protocols {
			classes := map[string]int{}
			last := 0
			for _, r := range protocol.Ranges {
				if r.First <= last || r.Last < r.First {
					t.Errorf("%s, %s: classes %d to %d behind %d", p.Name, name, r.First, r.Last, last)
				}
				last = r.Last
				classes[r.Split] += r.Last - r.First + 1
			}
			for _, c := range protocol.Counts {
				if n, ok := classes[c.Split]; ok && c.Classes != 0 && n != c.Classes {
					t.Errorf("%s, %s: %s has %d classes, its count says %d", p.Name, name, c.Split, n, c.Classes)
				}
			}
			if protocol.Note == "" {
				t.Errorf("%s, %s: no note", p.Name, name)
			}
		}
	}
}

// TestFixtures reads small folders in exactly the published form.
func TestFixtures(t *testing.T) {
	bird := func(splits ...string) string {
		text := ""
		for i, line := range strings.Fields("001/1 001/2 100/3 100/4 101/5 101/6 150/7 150/8 151/9 151/10 200/11 " +
			"200/12") {
			class, id, _ := strings.Cut(line, "/")
			text += "images/" + class + ".Bird/Bird_" + ("000" + id)[len(id)-1:] + ".jpg " + class + ".Bird " +
				splits[i%len(splits)] + "\n"
		}
		return text
	}
	four := func(word string) []string { return []string{word, word, word, word} }
	forms := carForms()
	for _, c := range []struct {
		preset, protocol string
		fsys             fs.FS
		want             string
	}{
		{"cub200", "", birds(), bird(append(four("train"), append(four("test"), four("test")...)...)...)},
		{"cub200", prism, birds(), bird(append(four("train"), append(four("validation"), four("test")...)...)...)},
		{"cub200", Official, birds(), bird("test", "train")},
		{"cars196", Official, forms["annos"],
			"car_ims/000001.jpg AM General Hummer SUV 2000 train\ncar_ims/000002.jpg Acura RL Sedan 2012 train\n" +
				"car_ims/000003.jpg Ram C/V Cargo Van Minivan 2012 test\ncar_ims/000004.jpg Acura Integra Type R " +
				"2001 " +
				"test\ncar_ims/000005.jpg AM General Hummer SUV 2000 test\n"},
		{"cars196", Official, forms["devkit"], "cars_train/00001.jpg AM General Hummer SUV 2000 " +
			"train\ncars_train/00002.jpg Acura RL Sedan 2012 train\n" +
			"cars_test/00001.jpg Ram C/V Cargo Van Minivan 2012 test\ncars_test/00002.jpg Acura Integra Type R " +
			"2001 test\ncars_test/00001.jpg AM General Hummer SUV 2000 test\n"},
		{"cars196", Official, forms["folders"],
			"test/AM General Hummer SUV 2000/00001.jpg AM General Hummer SUV 2000 test\n" +
				"test/Acura Integra Type R 2001/00002.jpg Acura Integra Type R 2001 test\ntest/Ram C-V Cargo Van " +
				"Minivan 2012/00001.jpg Ram C-V Cargo Van Minivan 2012 test\n" +
				"train/AM General Hummer SUV 2000/00001.jpg AM General Hummer SUV 2000 train\ntrain/Acura RL Sedan " +
				"2012/00002.jpg Acura RL Sedan 2012 train\n"},
		{"flowers102", "", flowers(1, 51, 52, 102), "jpg/image_00001.jpg 1 train\njpg/image_00002.jpg 51 " +
			"train\njpg/image_00003.jpg 52 test\njpg/image_00004.jpg 102 test\n"},
		{"flowers102", Official, flowers(7, 8, 9),
			"jpg/image_00001.jpg 7 train\njpg/image_00002.jpg 8 validation\njpg/image_00003.jpg 9 test\n"},
	} {
		p, _ := Find(c.preset)
		r, err := p.Dataset(c.fsys, Options{Root: "root", Protocol: c.protocol})
		if err != nil {
			t.Errorf("%s: %v", c.preset, err)
			continue
		}
		if d := cmp.Diff(c.want, show(r.Dataset)); d != "" {
			t.Errorf("%s, %s: %s", c.preset, c.protocol, d)
		}
		for _, w := range r.Warnings {
			if strings.Contains(w, "not there") || !strings.Contains(w, "as published") {
				t.Errorf("%s: warning %q", c.preset, w)
			}
		}
	}
}

// TestCarNumbers: classes are numbered in folder order in every form.
func TestCarNumbers(t *testing.T) {
	want := map[string]int{firstCar: 1, "Acura Integra Type R 2001": 2, "Acura RL Sedan 2012": 3,
		"Ram C-V Cargo Van Minivan 2012": 4}
	for form, fsys := range carForms() {
		list, err := readCars(fsys, Options{})
		if err != nil || len(list) != 5 {
			t.Fatalf("%s: %d samples, %v", form, len(list), err)
		}
		known := map[string]bool{}
		for _, s := range list {
			if want[strings.ReplaceAll(s.Label, "/", "-")] != s.Class {
				t.Errorf("%s: %s has number %d", form, s.Label, s.Class)
			}
			known[s.Known] = true
		}
		if form != "annos" && (!known[firstCar+"/00001.jpg"] || !known[firstCar+"/00001_2.jpg"]) {
			t.Errorf("%s: images are known as %v", form, known)
		}
	}
}

// TestBoxes: bounding boxes become columns if they are present.
func TestBoxes(t *testing.T) {
	fsys := birds()
	r, err := cub200.Dataset(fsys, Options{})
	if err != nil || r.Dataset.Columns != nil || r.Dataset.Samples[0].Extra != nil {
		t.Errorf("without boxes: columns %v, %v", r.Dataset.Columns, err)
	}
	fsys["bounding_boxes.txt"] = &fstest.MapFile{Data: []byte("1 60.0 27.0 325.0 304.0\n3 1.0 2.0 3.0 4.0\n")}
	r, err = cub200.Dataset(fsys, Options{})
	if err != nil || !slices.Equal(r.Dataset.Samples[0].Extra, []string{"60.0", "27.0", "325.0", "304.0"}) ||
		r.Dataset.Samples[1].Extra[0] != "" {
		t.Errorf("with boxes: %+v, %v", r.Dataset.Samples[:2], err)
	}
	r, err = cars196.Dataset(carForms()["annos"], Options{Protocol: Official})
	if err != nil || !slices.Equal(r.Dataset.Columns, []string{"bbox_x1"}) || r.Dataset.Samples[0].Extra[0] != "30" {
		t.Errorf("cars: columns %v, %v", r.Dataset.Columns, err)
	}
}

// TestElsewhere: the error about a wrong root says what was expected, and what the root holds or where the dataset
// is.
func TestElsewhere(t *testing.T) {
	below := fstest.MapFS{"attributes.txt": {}}
	for name, f := range birds() {
		below["CUB_200_2011/"+name] = f
	}
	noLabels := carForms()["devkit"]
	delete(noLabels, "devkit/cars_test_annos_withlabels.mat")
	noMeta := carForms()["devkit"]
	delete(noMeta, "devkit/cars_meta.mat")
	noSplit := birds()
	delete(noSplit, "train_test_split.txt")
	many := fstest.MapFS{}
	for _, c := range "abcdefghijkl" {
		many[string(c)+".txt"] = &fstest.MapFile{}
	}
	for _, c := range []struct {
		preset Preset
		fsys   fs.FS
		want   []string
	}{
		{cub200, below, []string{"found no images.txt, expected the folder of CUB-200-2011",
			"images.txt lies in CUB_200_2011/: give that folder"}},
		{cub200, many, []string{"there is a.txt, b.txt,", "h.txt and 4 more"}},
		{cub200, noSplit, []string{"found no train_test_split.txt"}},
		{cars196, fstest.MapFS{}, []string{"found no cars_annos.mat or devkit/cars_train_annos.mat or folder AM " +
			"General", "there is nothing"}},
		{cars196, noLabels, []string{"found no devkit/cars_test_annos_withlabels.mat (cars_test_annos.mat holds no " +
			"labels)"}},
		{cars196, noMeta, []string{"found no devkit/cars_meta.mat"}},
		{mnistDigits, fstest.MapFS{"mnist/train-images-idx3-ubyte.gz": {}},
			[]string{"mnist: found no train-images", "lies in mnist/: give that folder"}},
		{cifar10, fstest.MapFS{"x.bin": {}}, []string{"cifar: found neither", "expected the folder of CIFAR-10",
			"there is x.bin"}},
		{flowers102, fstest.MapFS{"jpg/x.jpg": {}}, []string{"found no imagelabels.mat", "there is jpg/"}},
	} {
		_, err := c.preset.Dataset(c.fsys, Options{Root: "here", Protocol: Official})
		if err == nil {
			t.Errorf("%s: was read, expected %q", c.preset.Name, c.want)
			continue
		}
		for _, want := range append(c.want, "published: "+c.preset.Name+": here: ") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: found error %v, expected %q", c.preset.Name, err, want)
			}
		}
	}
}

// TestElsewhereLinked: dataset folders are often links.
func TestElsewhereLinked(t *testing.T) {
	far, near := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(far, "images.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(far, filepath.Join(near, "birds")); err != nil {
		t.Skip(err)
	}
	_, err := cub200.Dataset(os.DirFS(near), Options{Root: near})
	if err == nil || !strings.Contains(err.Error(), "images.txt lies in birds/: give that folder as the root") {
		t.Errorf("found error %v", err)
	}
}

// TestDamaged: the error about contradicting files names the file.
func TestDamaged(t *testing.T) {
	spoil := func(name, old, text string) fs.FS {
		fsys := birds()
		fsys[name] = &fstest.MapFile{Data: []byte(strings.Replace(string(fsys[name].Data), old, text, 1))}
		return fsys
	}
	devkit := carForms()["devkit"]
	devkit["devkit/cars_train_annos.mat"] = mat(annotations("fname", car(5, "00001.jpg")))
	escape := carForms()["devkit"]
	escape["devkit/cars_train_annos.mat"] = mat(annotations("fname", car(1, "../../x.jpg")))
	field := carForms()["devkit"]
	field["devkit/cars_train_annos.mat"] = mat(annotations("file", car(1, "00001.jpg")))
	cut := carForms()["devkit"]
	cut["devkit/cars_meta.mat"] = &fstest.MapFile{Data: cut["devkit/cars_meta.mat"].Data[:150]}
	twice := flowers(1, 2, 3)
	twice["setid.mat"] = mat(mattest.Numbers("trnid", 1), mattest.Numbers("valid", 1), mattest.Numbers("tstid", 2))
	for _, c := range []struct {
		preset Preset
		fsys   fs.FS
		want   string
	}{
		{cub200, spoil("images.txt", "1 001", "one 001"),
			`images.txt:1: found "one 001.Bird/Bird_0001.jpg", expected a number and 1 value(s)`},
		{cub200, tree(map[string]string{"images.txt": ""}), "images.txt: is empty, expected a list"},
		{cub200, tree(map[string]string{"images.txt": strings.Repeat("x", 70000)}),
			"images.txt:1: found more than 65536 bytes in a line"},
		{cub200, tree(map[string]string{"images.txt": strings.Repeat("x", 60000)}), `images.txt:1: found "` +
			strings.Repeat("x", 80) + `", expected`},
		{sop, tree(map[string]string{"Ebay_train.txt": sopHeader + "\n", "Ebay_test.txt": "\n"}), "found 0 images"},
		{sop, tree(map[string]string{"Ebay_train.txt": "", "Ebay_test.txt": ""}), "Ebay_train.txt: is empty"},
		{cub200, spoil("images.txt", "2 001", "1 001"), "images.txt:2: number 1 appears twice"},
		{cub200, spoil("images.txt", "001.Bird/", "../../"), "expected one below images/"},
		{cub200, spoil("image_class_labels.txt", "1 1\n", ""), "image_class_labels.txt: found no line for number 1"},
		{cub200, spoil("image_class_labels.txt", "1 1\n", "1 x\n"), `number 1 has "x", expected an integer`},
		{cub200, spoil("classes.txt", "1 001.Bird\n", ""), "classes.txt: found no line for number 1"},
		{cub200, spoil("train_test_split.txt", "1 0", "1 2"), `number 1 has "2", expected an integer from 0 to 1`},
		{cars196, devkit, "devkit/cars_train_annos.mat: annotation 1: class: found 5, expected an integer from 1 to 4"},
		{cars196, escape, `fname is "../../x.jpg", expected the name of a file`},
		{cars196, field, "annotations have the fields class, file, expected fname too"},
		{cars196, cut, "matfile: devkit/cars_meta.mat: byte 128: element states"},
		{flowers102, flowers(1, 103, 2),
			"imagelabels.mat: labels: element 2 is 103, expected an integer from 1 to 102"},
		{flowers102, flowers(1, 1.5, 2), "element 2 is 1.5"},
		{flowers102, twice, "setid.mat: image 1 is in train and validation"},
	} {
		_, err := c.preset.Dataset(c.fsys, Options{Root: "here", Protocol: Official})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: found error %v, expected %q", c.preset.Name, err, c.want)
		}
	}
}

// TestCountsWarn: a difference of one image or class from a published number is reported.
func TestCountsWarn(t *testing.T) {
	d := assembleDataset([]sample{{Label: "a", Split: datasets.Train}, {Label: "b", Split: datasets.Train},
		{Label: "c", Split: datasets.Test}}, nil)
	right := Protocol{Counts: []count{{datasets.Train, 2, 2}, {datasets.Test, 1, 0}}}
	if w := right.compareSplitSizes(d); len(w) != 0 {
		t.Errorf("found %v", w)
	}
	wrong := Protocol{Counts: []count{{datasets.Train, 3, 1}, {datasets.Validation, 5, 0}, {datasets.Test, 1, 1}}}
	want := []string{"train: found 2 images, expected 3 as published",
		"train: found 2 classes, expected 1 as published", "validation: found 0 images, expected 5 as published"}
	if d := cmp.Diff(want, wrong.compareSplitSizes(d)); d != "" {
		t.Error(d)
	}
}

// TestAbsent: images that are in the lists but do not exist are reported.
func TestAbsent(t *testing.T) {
	fsys := birds()
	delete(fsys, "images/001.Bird/Bird_0002.jpg")
	delete(fsys, "images/200.Bird/Bird_0011.jpg")
	r, err := cub200.Dataset(fsys, Options{})
	want := "2 of 12 images are not there, the first is images/001.Bird/Bird_0002.jpg"
	if err != nil || !slices.Contains(r.Warnings, want) {
		t.Errorf("found %v, %v, expected %q", r.Warnings, err, want)
	}
}

func TestProtocolUnknown(t *testing.T) {
	_, err := flowers102.Dataset(flowers(1), Options{Protocol: prism})
	if err == nil || !strings.Contains(err.Error(), `protocol "prism" is unknown: known are half, official`) {
		t.Errorf("found error %v", err)
	}
	_, err = cars196.Dataset(fstest.MapFS{firstCar + "/1.jpg": {}}, Options{Protocol: Official})
	if err == nil || !strings.Contains(err.Error(),
		"found 1 images, none of them in a split of the protocol official") {
		t.Errorf("found error %v", err)
	}
}

// FuzzCUB: for any lists, reading returns an error or samples below the root.
func FuzzCUB(f *testing.F) {
	whole := birds()
	f.Add(whole["images.txt"].Data, whole["image_class_labels.txt"].Data, whole["train_test_split.txt"].Data)
	f.Add([]byte("1 ../x.jpg\n"), []byte("1 1\n"), []byte("1 1"))
	f.Fuzz(func(t *testing.T, images, classes, splits []byte) {
		fsys := birds()
		fsys["images.txt"], fsys["image_class_labels.txt"],
			fsys["train_test_split.txt"] = &fstest.MapFile{Data: images}, &fstest.MapFile{Data: classes},
			&fstest.MapFile{Data: splits}
		r, err := cub200.Dataset(fsys, Options{Protocol: Official})
		if err != nil {
			return
		}
		for _, s := range r.Dataset.Samples {
			if !fs.ValidPath(s.Path) || s.Label < 0 || s.Split != datasets.Train && s.Split != datasets.Test {
				t.Fatalf("found %+v", s)
			}
		}
	})
}
