package published

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"winnow/datasets"
	"winnow/datasets/matfile"
	"winnow/internal/testing/mattest"
)

func petFiles() fstest.MapFS {
	return fstest.MapFS{
		"annotations/trainval.txt": text("#Image CLASS-ID SPECIES BREED ID", "Abyssinian_100 1 1 1",
			"american_bulldog_7 2 2 1"),
		"annotations/test.txt": text("Abyssinian_2 1 1 1"),
	}
}

func placesFiles() fstest.MapFS {
	return fstest.MapFS{
		placesClasses: text("/a/airfield 0", "/a/apartment_building/outdoor 8"),
		"places365_train_standard.txt": text("/a/airfield/00000001.jpg 0",
			"/a/apartment_building/outdoor/00000002.jpg 8"),
		"places365_val.txt":           text("Places365_val_00000001.jpg 8"),
		"data_large/a/airfield/x.jpg": {},
		"val_256/x.jpg":               {},
		"val_large/x.jpg":             {},
	}
}

func inatFiles() fstest.MapFS {
	return fstest.MapFS{
		"train2017.json": text(`{"info": {"year": 2017}, "licenses": [{"id": 1}],
			"annotations": [{"id": 9, "image_id": 5, "category_id": 3}, {"id": 8, "image_id": 4, "category_id": 0}],
			"images": [{"id": 4, "file_name": "train_val_images/Aves/Pica pica/a.jpg", "width": 800},
			{"id": 5, "file_name": "train_val_images/Plantae/Prunella/b.jpg"}],
			"categories": [{"id": 0, "name": "Pica pica", "supercategory": "Aves"},
			{"id": 2, "name": "Prunella", "supercategory": "Aves"},
			{"id": 3, "name": "Prunella", "supercategory": "Plantae"}]}`),
		"val2017.json": text(`{"images": [{"id": 4, "file_name": "train_val_images/Aves/Prunella/c.jpg"}],
			"categories": [{"id": 2, "name": "Prunella", "supercategory": "Aves"},
			{"id": 3, "name": "Prunella", "supercategory": "Plantae"}],
			"annotations": [{"image_id": 4, "category_id": 2}]}`),
	}
}

// synsets is the devkit's meta.mat; the last entry has children.
func synsets(list ...synset) *fstest.MapFile {
	var elements [][]*matfile.Array
	for i, s := range list {
		children := 0
		if i == len(list)-1 {
			children = 2
		}
		elements = append(elements, []*matfile.Array{mattest.Numbers("", float64(i+1)), mattest.Text(s.id),
			mattest.Text(s.words), mattest.Numbers("", float64(children))})
	}
	return mat(mattest.Struct("synsets", []string{"ILSVRC2012_ID", "WNID", "words", "num_children"}, elements...))
}

const devkitData = "ILSVRC2012_devkit_t12/data/"

func imageNetFiles() fstest.MapFS {
	return fstest.MapFS{
		"train/n02012849/n02012849_2.JPEG": {},
		"train/n02012849/n02012849_1.JPEG": {},
		"train/n01440764/n01440764_1.JPEG": {},
		"train/n01440764/readme.txt":       {},
		"train/unsorted/x.JPEG":            {},
		"val/ILSVRC2012_val_00000001.JPEG": {},
		"val/ILSVRC2012_val_00000002.JPEG": {},
		devkitData + metaFile: synsets(synset{"n02012849", "crane"},
			synset{"n01440764", "tench, Tinca tinca"}, synset{"n00001740", "entity"}),
		devkitData + truthFile: text("2", "1"),
	}
}

// sortedImageNet has the validation images in folders, and no devkit.
func sortedImageNet() fstest.MapFS {
	files := imageNetFiles()
	for _, name := range []string{devkitData + metaFile, devkitData + truthFile, "val/ILSVRC2012_val_00000001.JPEG",
		"val/ILSVRC2012_val_00000002.JPEG"} {
		delete(files, name)
	}
	files["val/n02012849/ILSVRC2012_val_00000001.JPEG"],
		files["val/n01440764/ILSVRC2012_val_00000002.JPEG"] = &fstest.MapFile{}, &fstest.MapFile{}
	return files
}

func transferLayouts() []layout {
	return []layout{
		{"pets", "", petFiles(), []string{"images/Abyssinian_100.jpg Abyssinian - train cat",
			"images/american_bulldog_7.jpg american_bulldog - train dog",
			"images/Abyssinian_2.jpg Abyssinian - test cat"}, nil},
		{"places365", "", placesFiles(), []string{"data_large/a/airfield/00000001.jpg airfield - train",
			"data_large/a/apartment_building/outdoor/00000002.jpg apartment_building/outdoor - train",
			"val_256/Places365_val_00000001.jpg apartment_building/outdoor - test"}, nil},
		{"inat2017", "", inatFiles(), []string{"train_val_images/Aves/Pica pica/a.jpg Pica pica - train Aves",
			"train_val_images/Plantae/Prunella/b.jpg Prunella (3) - train Plantae",
			"train_val_images/Aves/Prunella/c.jpg Prunella (2) - test Aves"}, nil},
		{"imagenet", "", imageNetFiles(), []string{"train/n01440764/n01440764_1.JPEG n01440764 - train tench, " +
			"Tinca tinca", "train/n02012849/n02012849_1.JPEG n02012849 - train crane",
			"train/n02012849/n02012849_2.JPEG n02012849 - train crane",
			"val/ILSVRC2012_val_00000001.JPEG n01440764 - test tench, Tinca tinca",
			"val/ILSVRC2012_val_00000002.JPEG n02012849 - test crane"}, nil},
		{"imagenet", "", sortedImageNet(), []string{"train/n01440764/n01440764_1.JPEG n01440764 - train",
			"train/n02012849/n02012849_1.JPEG n02012849 - train", "train/n02012849/n02012849_2.JPEG n02012849 - train",
			"val/n02012849/ILSVRC2012_val_00000001.JPEG n02012849 - test",
			"val/n01440764/ILSVRC2012_val_00000002.JPEG n01440764 - test"}, nil},
	}
}

// TestTransferRefuse: each error is one line that says where it is.
func TestTransferRefuse(t *testing.T) {
	json := func(text string) []string { return []string{text} }
	flat := imageNetFiles()
	delete(flat, devkitData+metaFile)
	unpacked := fstest.MapFS{"train/n01440764.tar": {}, "val/x.JPEG": {}}
	for want, c := range map[string]struct {
		preset, file string
		lines        []string
		files        fstest.MapFS
	}{
		`annotations/test.txt:1: found 3 fields, expected 4: image, class`: {"pets", "annotations/test.txt",
			[]string{"Abyssinian_2 1 1"}, petFiles()},
		`annotations/test.txt:1: class "0" is not a number from 1`: {"pets",
			"annotations/test.txt", []string{"Abyssinian_2 0 1 1"}, petFiles()},
		`annotations/test.txt:1: species is "3", expected 1 (cat) or 2 (dog)`: {"pets",
			"annotations/test.txt", []string{"Abyssinian_2 1 3 1"}, petFiles()},
		`annotations/test.txt:1: image "Abyssinian" is not of the form`: {"pets",
			"annotations/test.txt", []string{"Abyssinian 1 1 1"}, petFiles()},
		`annotations/test.txt:1: class 1 is named "Bengal", expected one name`: {"pets",
			"annotations/test.txt", []string{"Bengal_2 1 1 1"}, petFiles()},
		`annotations/test.txt:1: class 3 is named "Abyssinian", expected one name`: {"pets",
			"annotations/test.txt", []string{"Abyssinian_2 3 1 1"}, petFiles()},
		`annotations/test.txt:1: path "images/../../x_1.jpg" is not relative`: {"pets",
			"annotations/test.txt", []string{"../../x_1 3 1 1"}, petFiles()},
		`found no annotations/trainval.txt, expected the folder of Oxford-IIIT Pets`: {"pets",
			"annotations/trainval.txt", nil, petFiles()},
		`categories_places365.txt:1: category "airfield" is not of the form /a/airfield`: {"places365",
			placesClasses, []string{"airfield 0"}, placesFiles()},
		`categories_places365.txt:2: category "/b/x" or its number 1 appears twice`: {"places365",
			placesClasses, []string{"/a/x 0", "/b/x 1"}, placesFiles()},
		`categories_places365.txt:2: category "/b/y" or its number 0 appears twice`: {"places365",
			placesClasses, []string{"/a/x 0", "/b/y 0"}, placesFiles()},
		`places365_val.txt:1: class 7 is not in categories_places365.txt`: {"places365", "places365_val.txt",
			[]string{"a.jpg 7"}, placesFiles()},
		`places365_val.txt:1: class "x" is not a number from 0`: {"places365",
			"places365_val.txt", []string{"a.jpg x"}, placesFiles()},
		`places365_val.txt:1: found "a.jpg", expected a path, a blank and the number`: {"places365",
			"places365_val.txt", []string{"a.jpg"}, placesFiles()},
		`places365_val.txt:1: path "../a.jpg" is not relative`: {"places365",
			"places365_val.txt", []string{"../a.jpg 0"}, placesFiles()},
		`found no places365_train_standard.txt, expected the folder of Places365`: {"places365",
			"places365_train_standard.txt", nil, placesFiles()},
		`found no val2017.json, expected the folder of iNaturalist 2017`: {"inat2017", "val2017.json", nil,
			inatFiles()},
		`val2017.json: is not JSON; expected an object with the lists images`: {"inat2017", "val2017.json",
			json(`path,label`), inatFiles()},
		`val2017.json: images[0]: found no id or no file_name, expected both`: {"inat2017", "val2017.json",
			json(`{"images": [{"id": 1}]}`), inatFiles()},
		`val2017.json: images[1]: id 1 appears twice`: {"inat2017", "val2017.json",
			json(`{"images": [{"id": 1, "file_name": "a"}, {"id": 1, "file_name": "b"}]}`), inatFiles()},
		`val2017.json: images[0]: path "../a" is not relative`: {"inat2017",
			"val2017.json", json(`{"images": [{"id": 1, "file_name": "../a"}]}`), inatFiles()},
		`val2017.json: annotations[0]: found no image_id or no category_id`: {"inat2017", "val2017.json",
			json(`{"annotations": [{"id": 1}]}`), inatFiles()},
		`val2017.json: annotations[0]: image_id 1 is not among the 0 images`: {"inat2017", "val2017.json",
			json(`{"annotations": [{"image_id": 1, "category_id": 1}]}`), inatFiles()},
		`val2017.json: annotations[0]: category_id 1 is not among the 0 categories`: {"inat2017", "val2017.json",
			json(`{"annotations": [{"image_id": 1, "category_id": 1}], "images": [{"id": 1, "file_name": "a"}]}`),
			inatFiles()},
		`val2017.json: annotations[1]: image_id 1 is annotated twice`: {"inat2017", "val2017.json",
			json(`{"annotations": [{"image_id": 1, "category_id": 1}, {"image_id": 1, "category_id": 1}], ` +
				`"images": [{"id": 1, "file_name": "a"}], "categories": [{"id": 1, "name": "x"}]}`), inatFiles()},
		`val2017.json: categories[0]: found no id or no name, expected both`: {"inat2017", "val2017.json",
			json(`{"categories": [{"id": 1}]}`), inatFiles()},
		`val2017.json: categories[1]: id 1 appears twice`: {"inat2017", "val2017.json",
			json(`{"categories": [{"id": 1, "name": "x"}, {"id": 1, "name": "y"}]}`), inatFiles()},
		`val2017.json: found no annotation of the image a, expected one: lists of test`: {"inat2017", "val2017.json",
			json(`{"images": [{"id": 1, "file_name": "a"}]}`), inatFiles()},
		`found no folders train and val, expected the folder of ImageNet`: {"imagenet", "x", []string{""},
			fstest.MapFS{"train/x": {}}},
		`train: found no folder with images named as n01440764, expected one for each`: {"imagenet", "x",
			[]string{""}, unpacked},
		`val: found no folder named as n01440764 and no ILSVRC2012_devkit_t12/data/meta`: {"imagenet", "x",
			[]string{""}, flat},
		`found no ILSVRC2012_devkit_t12/data/ILSVRC2012_validation_ground_truth.txt, exp`: {"imagenet", devkitData +
			truthFile, nil, imageNetFiles()},
		`ground_truth.txt:2: found "3", expected the ILSVRC2012_ID of one of the 2 synse`: {"imagenet", devkitData +
			truthFile, []string{"1", "3"}, imageNetFiles()},
		`data/meta.mat: found 5 bytes, expected a MAT-file`: {"imagenet", devkitData + metaFile, []string{"MATL"},
			imageNetFiles()},
		`found no folder 101_ObjectCategories or folder accordion, expected the folder of`: {"caltech101", "x",
			[]string{""}, fstest.MapFS{}},
		`folder "ak47" is not of the form 001.ak47`: {"caltech256",
			"256_ObjectCategories/ak47/1.jpg", []string{""}, fstest.MapFS{}},
		`found the class "ak47" in 001.ak47 and 002.ak47, expected one folder a class`: {"caltech256",
			"256_ObjectCategories/002.ak47/1.jpg", []string{""},
			fstest.MapFS{"256_ObjectCategories/001.ak47/1.jpg": {}}},
	} {
		if c.files[c.file] = text(c.lines...); c.lines == nil {
			delete(c.files, c.file)
		}
		p, err := Find(c.preset)
		if err != nil {
			t.Fatal(err)
		}
		_, err = p.Dataset(c.files, Options{Root: "here"})
		if err == nil || !strings.Contains(err.Error(), want) ||
			!strings.HasPrefix(err.Error(), "published: "+c.preset+": here: ") ||
			strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), "as the root") {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// TestMetaRefuses: what meta.mat must hold.
func TestMetaRefuses(t *testing.T) {
	fields := []string{"ILSVRC2012_ID", "WNID", "words", "num_children"}
	one := func(id float64, wnid string, children float64) []*matfile.Array {
		return []*matfile.Array{mattest.Numbers("", id), mattest.Text(wnid), mattest.Text("tench"),
			mattest.Numbers("", children)}
	}
	for want, a := range map[string]*matfile.Array{
		"found no struct array synsets": nil,
		"synsets have the fields ILSVRC2012_ID, WNID, words, exp": mattest.Struct("synsets", fields[:3],
			one(1, "n01440764", 0)[:3]),
		"synset 1: num_children: found 0.5": mattest.Struct("synsets", fields, one(1, "n01440764", 0.5)),
		"synset 1: ILSVRC2012_ID: found 0":  mattest.Struct("synsets", fields, one(0, "n01440764", 0)),
		`synset 1: ILSVRC2012_ID 1 with WNID "tench", expected a`: mattest.Struct("synsets", fields,
			one(1, "tench", 0)),
		`synset 2: ILSVRC2012_ID 1 with WNID "n01440765", expect`: mattest.Struct("synsets", fields,
			one(1, "n01440764", 0), one(1, "n01440765", 0)),
	} {
		if _, err := readMeta(a); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// TestCaltech: clutter and files that are not images are left out, and the training images do not depend on other
// files.
func TestCaltech(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 40 {
		files[fmt.Sprintf("101_ObjectCategories/accordion/image_%04d.jpg", i+1)] = &fstest.MapFile{}
		files[fmt.Sprintf("101_ObjectCategories/BACKGROUND_Google/image_%04d.jpg", i+1)] = &fstest.MapFile{}
		files[fmt.Sprintf("101_ObjectCategories/Faces/image_%04d.JPG", i+1)] = &fstest.MapFile{}
	}
	files["101_ObjectCategories/accordion/tmp"],
		files["101_ObjectCategories/accordion/deep.jpg/x.jpg"] = &fstest.MapFile{}, &fstest.MapFile{}
	split := func(r *Result) map[string]string {
		of := map[string]string{}
		for _, s := range r.Dataset.Samples {
			of[s.Path] = s.Split
		}
		return of
	}
	r := imported(t, "caltech101", files, Options{})
	all := split(r)
	if diff := cmp.Diff([]string{"Faces", "accordion"}, r.Dataset.Classes); diff != "" || len(all) != 80 ||
		len(r.Dataset.Select(datasets.Train)) != 60 {
		t.Errorf("found %d images, %d of them train: %s", len(all), len(r.Dataset.Select(datasets.Train)), diff)
	}
	inOrder := true // drawing the first or last files would select images taken in sequence
	for i := range 30 {
		inOrder = inOrder && all[fmt.Sprintf("101_ObjectCategories/accordion/image_%04d.jpg", i+1)] == datasets.Train
	}
	if inOrder {
		t.Error("the first 30 images train, expected 30 of all")
	}
	gone := "101_ObjectCategories/accordion/image_0001.jpg"
	delete(files, gone)
	moved := 0
	for name, s := range split(imported(t, "caltech101", files, Options{})) {
		if all[name] != s {
			moved++
		}
	}
	if want := map[string]int{datasets.Train: 1, datasets.Test: 0}[all[gone]]; moved != want {
		t.Errorf("without %s, which was %s, %d images changed their split, expected %d", gone, all[gone], moved, want)
	}
	inside, err := fs.Sub(files, "101_ObjectCategories")
	if err != nil {
		t.Fatal(err)
	}
	if n := len(imported(t, "caltech101", inside, Options{}).Dataset.Samples); n != 79 {
		t.Errorf("the folder itself: found %d images, expected 79", n)
	}
	r = imported(t, "caltech256", fstest.MapFS{"256_ObjectCategories/001.ak47/001_0001.jpg": {},
		"256_ObjectCategories/257.clutter/257_0001.jpg": {}, "256_ObjectCategories/056.dog/greg/x.jpg": {},
		"256_ObjectCategories/198.spider/RENAME2": {}}, Options{})
	if len(r.Dataset.Samples) != 1 || names(r.Dataset, 0) != "256_ObjectCategories/001.ak47/001_0001.jpg ak47 - train" {
		t.Errorf("found %v", r.Dataset.Samples)
	}
}

// TestCIFAR100Coarse: superclasses as labels with the fine classes in a column, and the other way round.
func TestCIFAR100Coarse(t *testing.T) {
	record := func(coarse, fine byte) string { return string([]byte{coarse, fine}) + strings.Repeat("\x00", 3072) }
	coarse := make([]string, 20)
	for i := range coarse {
		coarse[i] = fmt.Sprintf("super%02d", i)
	}
	files := fstest.MapFS{
		"train.bin": {Data: []byte(record(19, 5) + record(0, 99))}, "test.bin": {Data: []byte(record(0, 1))},
		"coarse_label_names.txt": text(coarse...),
	}
	show := func(o Options) (list []string) {
		r := imported(t, "cifar100", files, o)
		for i := range r.Dataset.Samples {
			list = append(list, names(r.Dataset, i))
		}
		return append(list, r.Dataset.Columns...)
	}
	if diff := cmp.Diff([]string{"train/00000.bmp super19 - train 5", "train/00001.bmp super00 - train 99",
		"test/00000.bmp super00 - test 1", "fine"}, show(Options{Protocol: Coarse})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"train/00000.bmp 5 - train 19", "train/00001.bmp 99 - train 0",
		"test/00000.bmp 1 - test 0", "coarse"}, show(Options{})); diff != "" {
		t.Error(diff)
	}
	for want, c := range map[string]struct {
		train string
		o     Options
	}{
		"train/00000.bmp has the coarse label 20, expected 0 to 19": {record(20, 0), Options{Protocol: Coarse}},
		"c.json: found corrected labels with the protocol coarse": {record(0, 0),
			Options{Protocol: Coarse, Corrected: &File{Name: "c.json", Data: []byte("[]")}}},
	} {
		files["train.bin"].Data = []byte(c.train)
		if _, err := cifar100.Dataset(files, c.o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
}

// TestImageNetCorrected: votes refer to validation images by file number, and to classes by the order of the
// synsets.
func TestImageNetCorrected(t *testing.T) {
	for form, files := range map[string]fstest.MapFS{"devkit": imageNetFiles(), "sorted": sortedImageNet()} {
		given := map[string]int{"devkit": 1, "sorted": 0}[form] // of the second image
		votes := fmt.Sprintf(`[{"id": 2, "given_original_label": %d, "our_guessed_label": %d, "mturk": {"given": 1,`+
			` "guessed": 4}}]`, given, 1-given)
		r := imported(t, "imagenet", files, Options{Corrected: &File{Name: "v.json", Data: []byte(votes)}})
		last := r.Dataset.Samples[len(r.Dataset.Samples)-1]
		want := []string{"n01440764", "n02012849"}
		if got := r.Dataset.Classes[last.Label]; !strings.HasSuffix(last.Path, "00000002.JPEG") ||
			got != want[1-given] || last.Extra[len(last.Extra)-1] != want[given] {
			t.Errorf("%s: %s is %s, was %s; expected %s, %s", form, last.Path, got, last.Extra[len(last.Extra)-1],
				want[1-given], want[given])
		}
		for _, id := range []string{"0", "3"} {
			_, err := imageNet.Dataset(files,
				Options{Corrected: &File{Name: "v.json",
					Data: []byte(strings.Replace(votes, `"id": 2`, `"id": `+id, 1))}})
			if err == nil || !strings.Contains(err.Error(), "id "+id+", expected 1 to 2") {
				t.Errorf("%s: id %s: %v", form, id, err)
			}
		}
	}
	_, err := imageNet.Dataset(imageNetFiles(), Options{Corrected: &File{Name: "v.npy", Data: []byte(npyMagic)}})
	if err == nil || !strings.Contains(err.Error(), "v.npy: found npy, which has the images in another order") {
		t.Errorf("found %v", err)
	}
}
