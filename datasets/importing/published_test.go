package importing

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
	"winnow/internal/testing/memory"
)

// TestCatalog checks that the fields of each preset are consistent.
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

// TestFixtures reads small folders in exactly the published format.
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
			"car_ims/1.jpg AM General Hummer SUV 2000 train\ncar_ims/2.jpg Acura RL Sedan 2012 train\n" +
				"car_ims/3.jpg Ram C/V Cargo Van Minivan 2012 test\ncar_ims/4.jpg Acura Integra Type R 2001 " +
				"test\ncar_ims/5.jpg AM General Hummer SUV 2000 test\n"},
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
	}
}

// TestCarNumbers checks that classes are numbered in folder order in every form.
func TestCarNumbers(t *testing.T) {
	want := map[string]int{firstCar: 1, "Acura Integra Type R 2001": 2, "Acura RL Sedan 2012": 3,
		"Ram C-V Cargo Van Minivan 2012": 4}
	for form, fsys := range carForms() {
		list, err := readCars(fsys)
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

// The error about a wrong root or about inconsistent files names the file.
func TestRefused(t *testing.T) {
	spoil := func(name, old, text string) fs.FS {
		fsys := birds()
		fsys[name] = &fstest.MapFile{Data: []byte(strings.Replace(string(fsys[name].Data), old, text, 1))}
		return fsys
	}
	devkit, cut := carForms()["devkit"], carForms()["devkit"]
	devkit["devkit/cars_train_annos.mat"] = mat(matOf("annotations", []map[string]any{car(5, "fname", "1.jpg", 0)}))
	cut["devkit/cars_meta.mat"] = &fstest.MapFile{Data: cut["devkit/cars_meta.mat"].Data[:150]}
	for _, c := range []struct {
		preset Preset
		fsys   fs.FS
		want   string
	}{
		{cub200, fstest.MapFS{}, "images.txt: file does not exist: expected the folder of CUB-200-2011"},
		{mnistDigits, fstest.MapFS{}, "expected the folder of MNIST"},
		{cifar10, fstest.MapFS{"x.bin": {}}, "expected the folder of CIFAR-10"},
		{cub200, spoil("images.txt", "2 001", "1 001"), "images.txt:2: found"},
		{cub200, spoil("images.txt", "001.Bird/", "../../"), "leaves the dataset's folder"},
		{cub200, spoil("image_class_labels.txt", "1 1\n", ""), `image 1 has the class ""`},
		{cub200, spoil("classes.txt", "1 001.Bird\n", ""), `image 1 has the class "1"`},
		{cub200, spoil("train_test_split.txt", "x", ""), ""},
		{sop, tree(map[string]string{"Ebay_train.txt": "\n", "Ebay_test.txt": "\n1 1\n"}), "Ebay_test.txt:2: found"},
		{cars196, devkit, "devkit/cars_train_annos.mat: annotation 1: the class"},
		{cars196, cut, "devkit/cars_meta.mat: is cut short"},
		{flowers102, fstest.MapFS{"imagelabels.mat": mat(matOf("labels", []float64{1})),
			"setid.mat": mat(matOf("trnid", []float64{2}), matOf("valid", []float64{2}), matOf("tstid", []float64{2}))},
			"found image 2, expected 1 to 1"},
		{cars196, fstest.MapFS{firstCar + "/1.jpg": {}}, "found 1 images, but none in a split"},
	} {
		_, err := c.preset.Dataset(c.fsys, Options{Root: "here", Protocol: Official})
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%s: found error %v, expected %q", c.preset.Name, err, c.want)
		}
	}
	if _, err := flowers102.Dataset(flowers(1), Options{Protocol: prism}); err == nil {
		t.Error("an unknown protocol was taken")
	}
}

// A difference from a published number is reported even if it is a single image or class, and so is a missing image.
func TestWarnings(t *testing.T) {
	d := assembleDataset([]sample{{Label: "a", Split: datasets.Train}, {Label: "b", Split: datasets.Train},
		{Label: "c", Split: datasets.Test}}, nil)
	wrong := Protocol{Counts: []count{{datasets.Train, 2, 1}, {datasets.Validation, 5, 1}, {datasets.Test, 1, 1}}}
	want := []string{"train: found 2 images of 2 classes, expected the published 2 images of 1 classes",
		"validation: found 0 images of 0 classes, expected the published 5 images of 1 classes"}
	if d := cmp.Diff(want, wrong.compareSplitSizes(d)); d != "" {
		t.Error(d)
	}
	fsys := birds()
	delete(fsys, "images/001.Bird/Bird_0001.jpg")
	if r := imported(t, "cub200", fsys, Options{}); !strings.Contains(fmt.Sprint(r.Warnings), "train: the first "+
		"image") {
		t.Errorf("found %v", r.Warnings)
	}
}

// FuzzMatlab checks that any file is read or gives an error.
func FuzzMatlab(f *testing.F) {
	for _, name := range []string{"devkit/cars_train_annos.mat", "devkit/cars_meta.mat"} {
		f.Add(carForms()["devkit"][name].Data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		memory.Check(t, 4*maxMatlab, func() {
			_, _ = readMatVariable(fstest.MapFS{"x": {Data: data}}, "x", "annotations")
		})
	})
}
