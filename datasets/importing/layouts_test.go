package importing

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
)

func listOf(lines ...string) *fstest.MapFile {
	return &fstest.MapFile{Data: []byte(strings.Join(lines, "\n") + "\n")}
}

// layout is a dataset's folder as unpacked, and the expected manifest.
type layout struct {
	preset, protocol string
	files            fstest.MapFS
	want             []string // the samples, as formatted by names
	notes            []string
}

func sopFiles() fstest.MapFS {
	return fstest.MapFS{
		"Ebay_train.txt": listOf("image_id class_id super_class_id path", "1 1 1 bicycle_final/111085122871_0.JPG",
			"2 1 1 bicycle_final/111085122871_1.JPG", "3 11318 12 toaster_final/2_4.JPG"),
		"Ebay_test.txt": listOf("image_id class_id super_class_id path", "59552 11319 1 bicycle_final/3_0.JPG", "59553 16977 1 sofa_final/4_0.JPG"),
	}
}

func inShopFiles() fstest.MapFS {
	return fstest.MapFS{
		"Eval/list_eval_partition.txt": listOf("4", "image_name item_id evaluation_status",
			"img/WOMEN/Dresses/id_00000002/02_1_front.jpg                              id_00000002 train ",
			"img/WOMEN/Dresses/id_00000002/02_2_side.jpg                               id_00000002 train ",
			"img/MEN/Denim/id_00000001/01_1_front.jpg                                  id_00000001 query ",
			"img/MEN/Denim/id_00000001/01_7_additional.jpg                             id_00000001 gallery "),
		"Img/img/MEN/Denim/id_00000001/01_1_front.jpg": {},
	}
}

func food101Files(below string) fstest.MapFS {
	return fstest.MapFS{
		below + "meta/classes.txt": listOf(dishes()...),
		below + "meta/train.txt":   listOf("d001/1005649", "d076/7"),
		below + "meta/test.txt":    listOf("d051/1011328", "d101/1", "d050/2"),
	}
}

// dishes returns 101 class names.
func dishes() []string {
	var list []string
	for i := range 101 {
		list = append(list, fmt.Sprintf("d%03d", i+1))
	}
	return list
}

func food101NFiles(below string) fstest.MapFS {
	return fstest.MapFS{
		below + "meta/classes.txt": listOf(append([]string{"class_name"}, dishes()...)...),
		below + "meta/imagelist.tsv": listOf("class_name/key", "d001/a1.jpg", "d050/b2.jpg", "d051/c3.jpg",
			"d002/d4.jpg"),
		below + "meta/verified_train.tsv": listOf("class_name/key\tverification_label", "d001/a1.jpg\t1",
			"d050/b2.jpg\t0"),
		below + "meta/verified_val.tsv": listOf("class_name/key\tverification_label", "d007/d4.jpg\t1"),
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
		"datalist/CARSN_train.csv": listOf("/data/cars_noise/img_v3/0/419.jpg,1",
			"/data/cars_noise/img_v3/39/ca84, used (1).jpg,34"),
		"datalist/CARSN_test.csv": listOf("/data/cars196/images/FIAT 500 Abarth 2012/07729.jpg,99",
			"/data/cars196/images/smart fortwo Convertible 2012/02054.jpg,196"),
		"img_v3/39/ca84, used (1).jpg": {},
	}
}

func petFiles() fstest.MapFS {
	return fstest.MapFS{
		"annotations/trainval.txt": listOf("Abyssinian_100 1 1 1",
			"american_bulldog_7 2 2 1"),
		"annotations/test.txt": listOf("Abyssinian_2 1 1 1"),
	}
}

func placesFiles() fstest.MapFS {
	return fstest.MapFS{
		placesClasses: listOf("/a/airfield 0", "/a/apartment_building/outdoor 8"),
		"places365_train_standard.txt": listOf("/a/airfield/00000001.jpg 0",
			"/a/apartment_building/outdoor/00000002.jpg 8"),
		"places365_val.txt":           listOf("Places365_val_00000001.jpg 8"),
		"data_large/a/airfield/x.jpg": {},
		"val_256/x.jpg":               {},
		"val_large/x.jpg":             {},
	}
}

func inatFiles() fstest.MapFS {
	return fstest.MapFS{
		"train2017.json": listOf(`{"info": {"year": 2017}, "licenses": [{"id": 1}],
			"annotations": [{"id": 9, "image_id": 5, "category_id": 3}, {"id": 8, "image_id": 4, "category_id": 0}],
			"images": [{"id": 4, "file_name": "train_val_images/Aves/Pica pica/a.jpg", "width": 800},
			{"id": 5, "file_name": "train_val_images/Plantae/Prunella/b.jpg"}],
			"categories": [{"id": 0, "name": "Pica pica", "supercategory": "Aves"},
			{"id": 2, "name": "Prunella", "supercategory": "Aves"},
			{"id": 3, "name": "Prunella", "supercategory": "Plantae"}]}`),
		"val2017.json": listOf(`{"images": [{"id": 4, "file_name": "train_val_images/Aves/Prunella/c.jpg"}],
			"categories": [{"id": 2, "name": "Prunella", "supercategory": "Aves"},
			{"id": 3, "name": "Prunella", "supercategory": "Plantae"}],
			"annotations": [{"image_id": 4, "category_id": 2}]}`),
	}
}

func imageNetFiles() fstest.MapFS {
	return fstest.MapFS{
		"train/n02012849/n02012849_2.JPEG": {}, "train/n02012849/n02012849_1.JPEG": {},
		"train/n01440764/n01440764_1.JPEG": {}, "train/n01440764/readme.txt": {}, "train/unsorted/x.JPEG": {},
		"val/n02012849/ILSVRC2012_val_00000001.JPEG": {}, "val/n01440764/ILSVRC2012_val_00000002.JPEG": {},
	}
}

func transferLayouts() []layout {
	return []layout{
		{"pets", "", petFiles(), []string{"images/Abyssinian_100.jpg Abyssinian - train",
			"images/american_bulldog_7.jpg american_bulldog - train", "images/Abyssinian_2.jpg Abyssinian - test"}, nil},
		{"places365", "", placesFiles(), []string{"data_large/a/airfield/00000001.jpg airfield - train",
			"data_large/a/apartment_building/outdoor/00000002.jpg apartment_building/outdoor - train",
			"val_256/Places365_val_00000001.jpg apartment_building/outdoor - test"}, nil},
		{"inat2017", "", inatFiles(), []string{"train_val_images/Aves/Pica pica/a.jpg Pica pica - train",
			"train_val_images/Plantae/Prunella/b.jpg Prunella (3) - train",
			"train_val_images/Aves/Prunella/c.jpg Prunella (2) - test"}, nil},
		{"imagenet", "", imageNetFiles(), []string{"train/n01440764/n01440764_1.JPEG n01440764 - train",
			"train/n02012849/n02012849_1.JPEG n02012849 - train", "train/n02012849/n02012849_2.JPEG n02012849 - train",
			"val/n02012849/ILSVRC2012_val_00000001.JPEG n02012849 - test",
			"val/n01440764/ILSVRC2012_val_00000002.JPEG n01440764 - test"}, nil},
	}
}

// Clutter and files other than images are left out, and the choice of training images does not depend on other files.
func TestCaltech(t *testing.T) {
	files := fstest.MapFS{"256_ObjectCategories/257.clutter/1.jpg": {}, "256_ObjectCategories/001.ak47/RENAME2": {},
		"256_ObjectCategories/001.ak47/deep.jpg/x.jpg": {}}
	for i := range 80 {
		files[fmt.Sprintf("256_ObjectCategories/001.ak47/%04d.jpg", i+1)] = &fstest.MapFile{}
	}
	split := func() (list string, training map[string]bool) {
		training = map[string]bool{}
		d := imported(t, "caltech256", files, Options{}).Dataset
		for _, s := range d.Samples {
			training[s.Path] = s.Split == datasets.Train
		}
		return fmt.Sprint(d.Classes, len(d.Samples), len(d.Select(datasets.Train))), training
	}
	found, all := split()
	inOrder := true // whether the training images are just the first files
	for i := range 60 {
		inOrder = inOrder && all[fmt.Sprintf("256_ObjectCategories/001.ak47/%04d.jpg", i+1)]
	}
	if found != "[ak47]80 60" && found != "[ak47] 80 60" || inOrder {
		t.Errorf("found %s, in order %v", found, inOrder)
	}
	delete(files, "256_ObjectCategories/001.ak47/0001.jpg")
	_, left := split()
	moved := 0
	for name, train := range left {
		if all[name] != train {
			moved++
		}
	}
	if moved > 1 {
		t.Errorf("without an image %d others changed their split", moved)
	}
}

func layouts() []layout {
	return append(transferLayouts(), []layout{
		{"sop", "", sopFiles(), []string{
			"bicycle_final/111085122871_0.JPG 1 - train",
			"bicycle_final/111085122871_1.JPG 1 - train", "toaster_final/2_4.JPG 11318 - train",
			"bicycle_final/3_0.JPG 11319 - test", "sofa_final/4_0.JPG 16977 - test"}, nil},
		{"sop", prism, sopFiles(), []string{
			"bicycle_final/111085122871_0.JPG 1 - train",
			"bicycle_final/111085122871_1.JPG 1 - train", "toaster_final/2_4.JPG 11318 - train",
			"bicycle_final/3_0.JPG 11319 - validation", "sofa_final/4_0.JPG 16977 - test"}, nil},
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
			nil},
		{"food101n", prism, both(food101NFiles("Food-101N_release/"), food101Files("food-101/")), []string{
			"Food-101N_release/images/d001/a1.jpg d001 d001 train 1",
			"Food-101N_release/images/d050/b2.jpg d050 - train 0",
			"Food-101N_release/images/d002/d4.jpg d002 - train",
			"food-101/images/d076/7.jpg d076 - test", "food-101/images/d051/1011328.jpg d051 - validation",
			"food-101/images/d101/1.jpg d101 - test"},
			nil},
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

// FuzzLists feeds every list reader: each returns an error or paths inside the folder.
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
				if !fs.ValidPath(s.Path) || s.Label == datasets.Unlabelled {
					t.Errorf("%s: %+v", name, s)
				}
			}
		}
	})
}
