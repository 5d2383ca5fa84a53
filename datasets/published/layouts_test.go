package published

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
)

func text(lines ...string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
}

// layout is a folder in the form in which a dataset unpacks, and the expected manifest.
type layout struct {
	preset, protocol string
	files            fstest.MapFS
	want             []string // names of the samples
	notes            []string
}

func sopFiles() fstest.MapFS {
	return fstest.MapFS{
		"Ebay_train.txt": text(sopHeader, "1 1 1 bicycle_final/111085122871_0.JPG",
			"2 1 1 bicycle_final/111085122871_1.JPG", "3 11318 12 toaster_final/2_4.JPG"),
		"Ebay_test.txt": text(sopHeader, "59552 11319 1 bicycle_final/3_0.JPG", "59553 16977 1 sofa_final/4_0.JPG"),
	}
}

func inShopFiles() fstest.MapFS {
	return fstest.MapFS{
		"Eval/list_eval_partition.txt": text("4", "image_name item_id evaluation_status",
			"img/WOMEN/Dresses/id_00000002/02_1_front.jpg                              id_00000002 train ",
			"img/WOMEN/Dresses/id_00000002/02_2_side.jpg                               id_00000002 train ",
			"img/MEN/Denim/id_00000001/01_1_front.jpg                                  id_00000001 query ",
			"img/MEN/Denim/id_00000001/01_7_additional.jpg                             id_00000001 gallery "),
		"Img/img/MEN/Denim/id_00000001/01_1_front.jpg": {},
	}
}

func food101Files(below string) fstest.MapFS {
	return fstest.MapFS{
		below + "meta/classes.txt": text(dishes()...),
		below + "meta/train.txt":   text("d001/1005649", "d076/7"),
		below + "meta/test.txt":    text("d051/1011328", "d101/1", "d050/2"),
	}
}

// dishes are 101 names.
func dishes() []string {
	var list []string
	for i := range 101 {
		list = append(list, fmt.Sprintf("d%03d", i+1))
	}
	return list
}

func food101NFiles(below string) fstest.MapFS {
	return fstest.MapFS{
		below + "meta/classes.txt": text(append([]string{"class_name"}, dishes()...)...),
		below + "meta/imagelist.tsv": text("class_name/key", "d001/a1.jpg", "d050/b2.jpg", "d051/c3.jpg",
			"d002/d4.jpg"),
		below + "meta/verified_train.tsv": text("class_name/key\tverification_label", "d001/a1.jpg\t1",
			"d050/b2.jpg\t0"),
		below + "meta/verified_val.tsv": text("class_name/key\tverification_label", "d007/d4.jpg\t1"),
	}
}

func both(a, b fstest.MapFS) fstest.MapFS {
	for name, file := range b {
		a[name] = file
	}
	return a
}

func cars98NFiles() fstest.MapFS {
	return fstest.MapFS{
		"datalist/CARSN_train.csv": text("/data/cars_noise/img_v3/0/419.jpg,1",
			"/data/cars_noise/img_v3/39/ca84, used (1).jpg,34"),
		"datalist/CARSN_test.csv": text("/data/cars196/images/FIAT 500 Abarth 2012/07729.jpg,99",
			"/data/cars196/images/smart fortwo Convertible 2012/02054.jpg,196"),
		"img_v3/39/ca84, used (1).jpg": {},
	}
}

func layouts() []layout {
	return append(transferLayouts(), []layout{
		{"sop", "", sopFiles(), []string{
			"bicycle_final/111085122871_0.JPG 1 - train bicycle",
			"bicycle_final/111085122871_1.JPG 1 - train bicycle", "toaster_final/2_4.JPG 11318 - train toaster",
			"bicycle_final/3_0.JPG 11319 - test bicycle", "sofa_final/4_0.JPG 16977 - test sofa"}, nil},
		{"sop", prism, sopFiles(), []string{
			"bicycle_final/111085122871_0.JPG 1 - train bicycle",
			"bicycle_final/111085122871_1.JPG 1 - train bicycle", "toaster_final/2_4.JPG 11318 - train toaster",
			"bicycle_final/3_0.JPG 11319 - validation bicycle", "sofa_final/4_0.JPG 16977 - test sofa"}, nil},
		{"inshop", "", inShopFiles(), []string{
			"Img/img/WOMEN/Dresses/id_00000002/02_1_front.jpg id_00000002 - train",
			"Img/img/WOMEN/Dresses/id_00000002/02_2_side.jpg id_00000002 - train",
			"Img/img/MEN/Denim/id_00000001/01_1_front.jpg id_00000001 - query",
			"Img/img/MEN/Denim/id_00000001/01_7_additional.jpg id_00000001 - gallery"}, nil},
		{"food101", "", food101Files(""),
			[]string{"images/d001/1005649.jpg d001 - train", "images/d076/7.jpg d076 - train",
				"images/d051/1011328.jpg d051 - test", "images/d101/1.jpg d101 - test",
				"images/d050/2.jpg d050 - test"},
			nil},
		{"food101", half, food101Files(""),
			[]string{"images/d001/1005649.jpg d001 - train", "images/d076/7.jpg d076 - test",
				"images/d051/1011328.jpg d051 - test", "images/d101/1.jpg d101 - test",
				"images/d050/2.jpg d050 - train"},
			nil},
		{"food101n", "", food101NFiles(""),
			[]string{"images/d001/a1.jpg d001 d001 train 1", "images/d050/b2.jpg d050 - train 0",
				"images/d051/c3.jpg d051 - train", "images/d002/d4.jpg d002 - train"},
			[]string{"ignored 1 of 3 verified images that meta/imagelist.tsv does not list under that class"}},
		{"food101n", prism, both(food101NFiles("Food-101N_release/"), food101Files("food-101/")), []string{
			"Food-101N_release/images/d001/a1.jpg d001 d001 train 1",
			"Food-101N_release/images/d050/b2.jpg d050 - train 0",
			"Food-101N_release/images/d002/d4.jpg d002 - train",
			"food-101/images/d076/7.jpg d076 - test", "food-101/images/d051/1011328.jpg d051 - validation",
			"food-101/images/d101/1.jpg d101 - test"},
			[]string{"ignored 1 of 3 verified images that meta/imagelist.tsv does not list under that class"}},
		{"cars98n", "", cars98NFiles(),
			[]string{"img_v3/0/419.jpg 1 - train", "img_v3/39/ca84, used (1).jpg 34 - train"}, nil},
		{"cars98n", prism, cars98NFiles(),
			[]string{"img_v3/0/419.jpg 1 - train", "img_v3/39/ca84, used (1).jpg 34 - train",
				"cars196/images/FIAT 500 Abarth 2012/07729.jpg 99 - validation",
				"cars196/images/smart fortwo Convertible 2012/02054.jpg 196 - test"}, nil},
	}...)
}

func TestLayouts(t *testing.T) {
	for _, c := range layouts() {
		r := imported(t, c.preset, c.files, Options{Protocol: c.protocol})
		var got []string
		for i := range r.Dataset.Samples {
			got = append(got, names(r.Dataset, i))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %s:\n%s", c.preset, c.protocol, diff)
		}
		if strings.Join(r.Notes, "\n") != strings.Join(c.notes, "\n") {
			t.Errorf("%s %s: notes %q, expected %q", c.preset, c.protocol, r.Notes, c.notes)
		}
		if len(r.Warnings) == 0 {
			t.Errorf("%s %s: no warning of so few images", c.preset, c.protocol)
		}
	}
}

// TestLayoutsRefuse: an error in a list names the list and the line.
func TestLayoutsRefuse(t *testing.T) {
	for want, c := range map[string]struct {
		preset, protocol, file string
		lines                  []string
		files                  fstest.MapFS
	}{
		`Ebay_train.txt:1: header is "a b", expected "image_id class_id super_class_id path"`: {"sop", "",
			"Ebay_train.txt", []string{"a b"}, sopFiles()},
		`Ebay_test.txt:2: found 3 fields, expected 4: image_id`: {"sop", "", "Ebay_test.txt",
			[]string{sopHeader, "1 1 1"}, sopFiles()},
		`Ebay_test.txt:2: class_id "x" is not a number from 1`: {"sop", "",
			"Ebay_test.txt", []string{sopHeader, "1 x 1 a.jpg"}, sopFiles()},
		`Ebay_test.txt:2: path "../a.jpg" is not relative to the dataset's folder, or leaves`: {"sop", "",
			"Ebay_test.txt", []string{sopHeader, "1 1 1 ../a.jpg"}, sopFiles()},
		`found no Ebay_test.txt, expected the folder of Stanford Online`: {"sop", "", "Ebay_test.txt", nil, sopFiles()},
		`found 4 images, its first line says 5`: {"inshop", "", "Eval/list_eval_partition.txt",
			append([]string{"5"}, strings.Split(string(inShopFiles()["Eval/list_eval_partition.txt"].Data),
				"\n")[1:]...), inShopFiles()},
		`partition.txt:1: found "image_name", expected the number of images`: {"inshop", "",
			"Eval/list_eval_partition.txt", []string{"image_name"}, inShopFiles()},
		`partition.txt:3: item_id "12" is not of the form id_00000002`: {"inshop", "",
			"Eval/list_eval_partition.txt", []string{"1", "image_name item_id evaluation_status", "a 12 train"},
			inShopFiles()},
		`partition.txt:3: evaluation_status "test" is unknown, expected train, query or`: {"inshop", "",
			"Eval/list_eval_partition.txt", []string{"1", "image_name item_id evaluation_status", "a id_1 test"},
			inShopFiles()},
		`meta/train.txt:1: class "pizza" is not in meta/classes.txt`: {"food101", "",
			"meta/train.txt", []string{"pizza/1"}, food101Files("")},
		`meta/train.txt:1: "pizza" is not of the form class/image`: {"food101", "",
			"meta/train.txt", []string{"pizza"}, food101Files("")},
		`meta/classes.txt: class "a" appears twice`: {"food101", "",
			"meta/classes.txt", []string{"a", "a"}, food101Files("")},
		`protocol prism trains on Food-101N and tests on Food-101, expected the folder that`: {"food101n", prism, "x",
			[]string{""}, food101NFiles("")},
		`Food-101N_release: found no meta/classes.txt`: {"food101n", prism, "Food-101N_release/meta/classes.txt", nil,
			both(food101NFiles("Food-101N_release/"), food101Files("food-101/"))},
		`meta/verified_val.tsv:1: "d001/a.jpg\t2" is not of the form class/image, a tab, 0`: {"food101n", "",
			"meta/verified_val.tsv", []string{"d001/a.jpg\t2"}, food101NFiles("")},
		`CARSN_train.csv:1: "a" holds no comma, expected path,label`: {"cars98n", "",
			"CARSN_train.csv", []string{"a"}, cars98NFiles()},
		`CARSN_train.csv:1: label "b" is not a number from 0`: {"cars98n", "",
			"CARSN_train.csv", []string{"a,b"}, cars98NFiles()},
		`found no CARSN_test.csv or datalist/CARSN_test.csv`: {"cars98n", half, "datalist/CARSN_test.csv", nil,
			cars98NFiles()},
	} {
		if c.files[c.file] = text(c.lines...); c.lines == nil {
			delete(c.files, c.file)
		}
		p, _ := Find(c.preset)
		_, err := p.Dataset(c.files, Options{Root: "here", Protocol: c.protocol})
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "published: "+c.preset+": here: ") ||
			strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "as the root") {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// FuzzLists feeds every reader of lists: each returns an error, or paths inside the folder.
func FuzzLists(f *testing.F) {
	for _, c := range layouts() {
		for name, file := range c.files {
			f.Add(name, file.Data)
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		for _, c := range layouts() {
			if c.files[name] == nil {
				continue
			}
			c.files[name] = &fstest.MapFile{Data: data}
			p, _ := Find(c.preset)
			r, err := p.Dataset(c.files, Options{Protocol: c.protocol})
			if err != nil {
				continue
			}
			for _, s := range r.Dataset.Samples {
				if inRoot(s.Path) != nil || s.Label == datasets.Unlabelled {
					t.Errorf("%s: %+v", name, s)
				}
			}
		}
	})
}
