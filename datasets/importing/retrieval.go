package importing

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"winnow/datasets"
)

// cub200 is CUB-200-2011 as unpacked from its archive: lists of "id value" lines next to images/. Only the official
// split needs train_test_split.txt.
//
// Source: Wah et al., "The Caltech-UCSD Birds-200-2011 Dataset", 2011; PRISM's split: METHODS of Liu et al.,
// "Noise-resistant deep metric learning with ranking-based instance selection", CVPR 2021, and its released lists.
var cub200 = Preset{
	Name: "cub200", Title: "CUB-200-2011 (Wah et al. 2011)", Default: half, Read: readCUB,
	Files: []string{"images.txt", "image_class_labels.txt", "classes.txt", "train_test_split.txt", "images"},
	Protocols: map[string]Protocol{
		half: {
			Note:   "classes 1-100 train, 101-200 test",
			Ranges: []Range{{datasets.Train, 1, 100}, {datasets.Test, 101, 200}},
			Counts: []count{{datasets.Train, 5864, 100}, {datasets.Test, 5924, 100}},
		},
		prism: {
			Note:   "classes 1-100 train, 101-150 validate, 151-200 test",
			Ranges: []Range{{datasets.Train, 1, 100}, {datasets.Validation, 101, 150}, {datasets.Test, 151, 200}},
			Counts: []count{{datasets.Train, 5864, 100}, {datasets.Validation, 2958, 50}, {datasets.Test, 2966, 50}},
		},
		Official: {
			Note:   "training and test images of the same classes",
			Counts: []count{{datasets.Train, 5994, 200}, {datasets.Test, 5794, 200}},
		},
	},
}

func readCUB(fsys fs.FS, opts Options) ([]sample, error) {
	ids, images, err := readTable(fsys, "images.txt")
	if err != nil {
		return nil, err
	}
	_, classes, err := readTable(fsys, "image_class_labels.txt")
	if err != nil {
		return nil, err
	}
	_, names, err := readTable(fsys, "classes.txt")
	if err != nil {
		return nil, err
	}
	var training map[string]string
	if opts.Protocol == Official {
		if _, training, err = readTable(fsys, "train_test_split.txt"); err != nil {
			return nil, err
		}
	}
	samples := make([]sample, len(ids))
	for i, id := range ids {
		s := sample{Path: "images/" + images[id], Label: names[classes[id]],
			Split: map[string]string{"0": datasets.Test, "1": datasets.Train}[training[id]]}
		if s.Class, err = strconv.Atoi(classes[id]); err != nil || s.Label == "" {
			return nil, fmt.Errorf("image %s has the class %q, expected one of classes.txt", id, classes[id])
		}
		samples[i] = s
	}
	return samples, nil
}

// carProtocols returns the protocols of CARS196's classes for a dataset with this number of training images.
func carProtocols(images int) map[string]Protocol {
	train := count{datasets.Train, images, 98}
	return map[string]Protocol{
		half: {
			Note:   "classes 1-98 train, 99-196 of CARS196 test",
			Ranges: []Range{{datasets.Train, 1, 98}, {datasets.Test, 99, 196}},
			Counts: []count{train, {datasets.Test, 8131, 98}},
		},
		prism: {
			Note:   "classes 1-98 train, 99-147 of CARS196 validate, 148-196 test",
			Ranges: []Range{{datasets.Train, 1, 98}, {datasets.Validation, 99, 147}, {datasets.Test, 148, 196}},
			Counts: []count{train, {datasets.Validation, 4059, 49}, {datasets.Test, 4072, 49}},
		},
	}
}

// cars196 is Stanford Cars in any of the three forms in which it is distributed:
//
//   - car_ims/ with cars_annos.mat;
//   - cars_train/ and cars_test/ with the devkit's cars_meta.mat, cars_train_annos.mat and
//     cars_test_annos_withlabels.mat in devkit/;
//   - a folder per class, perhaps below train/ and test/, or below images/.
//
// Classes are numbered in the order of their folder names ("/" becomes "-"), as in PRISM's released lists. The devkit's
// numbers differ: classes 1-98 are the same, but its classes 99-147 have 4,058 images instead of 4,059.
//
// Source: Krause et al., "3D object representations for fine-grained categorization", 3DRR 2013. PRISM mentions 98 + 48
// + 48 classes, which is 194 of 196; the protocol prism adds the other two to validation and test.
var cars196 = Preset{
	Name: "cars196", Title: "Stanford Cars (Krause et al. 2013)", Default: half,
	Files: []string{"cars_annos.mat", "devkit/cars_meta.mat", firstCar, "train/" + firstCar, "images/" + firstCar},
	Read:  func(fsys fs.FS, _ Options) ([]sample, error) { return readCars(fsys) },
	Protocols: withOfficial(carProtocols(8054), Protocol{
		Note:   "training and test images of the same classes",
		Counts: []count{{datasets.Train, 8144, 196}, {datasets.Test, 8041, 196}},
	}),
}

// withOfficial adds the publisher's split to the protocols.
func withOfficial(all map[string]Protocol, official Protocol) map[string]Protocol {
	all[Official] = official
	return all
}

// firstCar is the folder of class 1.
const firstCar = "AM General Hummer SUV 2000"

func readCars(fsys fs.FS) (samples []sample, err error) {
	for _, dir := range []string{".", "images"} {
		if hasFile(fsys, path.Join(dir, firstCar)) || hasFile(fsys, path.Join(dir, "train", firstCar)) {
			samples, err = readCarFolders(fsys, dir)
			knownCars(samples)
			return samples, err
		}
	}
	names, annos := "cars_annos.mat", []string{"cars_annos.mat"}
	if hasFile(fsys, "devkit/cars_meta.mat") {
		names = "devkit/cars_meta.mat"
		annos = []string{"devkit/cars_train_annos.mat", "devkit/cars_test_annos_withlabels.mat"}
	}
	classes, err := readMatVariable(fsys, names, "class_names")
	if err != nil {
		return nil, err
	}
	var folders []string
	for _, c := range classes.cells {
		folders = append(folders, strings.ReplaceAll(c.text, "/", "-"))
	}
	rank := rankNames(folders)
	for k, name := range annos {
		list, err := readMatVariable(fsys, name, "annotations")
		if err != nil {
			return nil, err
		}
		for i := range list.count {
			class := list.fieldOf(i, "class").toInteger() - 1
			if class < 0 || class >= len(folders) {
				return nil, fmt.Errorf("%s: annotation %d: the class is not among the %d names", name, i+1,
					len(folders))
			}
			file := list.fieldOf(i, "relative_im_path").text
			testing := list.fieldOf(i, "test").toInteger() == 1
			if len(annos) > 1 {
				file, testing = path.Join([]string{"cars_train", "cars_test"}[k], list.fieldOf(i, "fname").text), k == 1
			}
			s := sample{Path: file, Known: folders[class] + "/" + path.Base(file), Class: rank[folders[class]],
				Label: classes.cells[class].text, Split: datasets.Train}
			if testing {
				s.Split = datasets.Test
			}
			samples = append(samples, s)
		}
	}
	if len(annos) > 1 {
		knownCars(samples)
	}
	return samples, nil
}

// readCarFolders reads one folder per class. Below train/ and test/, the folders have the official split.
func readCarFolders(fsys fs.FS, dir string) ([]sample, error) {
	sub, err := fs.Sub(fsys, dir)
	if err != nil {
		return nil, err
	}
	d, err := datasets.ReadFolders(sub, dir, datasets.ReadOptions{})
	if err != nil {
		return nil, err
	}
	split := hasFile(sub, "train")
	samples := make([]sample, len(d.Samples))
	for i, s := range d.Samples {
		samples[i] = sample{Path: path.Join(dir, s.Path), Known: identifyFile(s.Path, ""), Class: s.Label + 1,
			Label: d.Classes[s.Label]}
		if split {
			samples[i].Split = s.Split
		}
	}
	return samples, nil
}

// knownCars distinguishes images of a class with the same name in the official training and test sets. PRISM's lists
// have both images in the class folder, the test image with "_2" after its number.
func knownCars(samples []sample) {
	training := make(map[string]bool)
	for _, s := range samples {
		if s.Split != datasets.Test {
			training[s.Known] = true
		}
	}
	for i := range samples {
		if s := &samples[i]; s.Split == datasets.Test && training[s.Known] {
			end := path.Ext(s.Known)
			s.Known = strings.TrimSuffix(s.Known, end) + "_2" + end
		}
	}
}

// cars98N is CARS-98N: images found by a web search for the 98 training classes of CARS196. The lists are PRISM's, in
// the root or in datalist/: CARSN_train.csv and, for the test classes, CARSN_test.csv. The labels are also PRISM's: the
// classes of CARS196, numbered from 1 in the order of their names. The lists have absolute paths, whose leading folders
// are removed until a file exists below the root: /data/cars_noise/img_v3/0/x.jpg is tried as
// data/cars_noise/img_v3/0/x.jpg, cars_noise/img_v3/0/x.jpg, img_v3/0/x.jpg and 0/x.jpg.
//
// Which labels are wrong has not been published.
// Source: Liu et al., "Noise-resistant Deep Metric Learning with Ranking-based Instance Selection", CVPR 2021.
var cars98N = Preset{
	Name: "cars98n", Title: "CARS-98N with PRISM's lists (Liu et al. 2021)", Default: Official, Read: readCars98N,
	Files: []string{"datalist/CARSN_train.csv", "datalist/CARSN_test.csv"},
	Protocols: withOfficial(carProtocols(9558),
		Protocol{Note: "all images train", Counts: []count{{datasets.Train, 9558, 98}}}),
}

// readCars98N reads the lists that the protocol needs.
func readCars98N(fsys fs.FS, opts Options) ([]sample, error) {
	samples, err := readPrismList(fsys, datasets.Train, "CARSN_train.csv")
	if err != nil || opts.Protocol == Official {
		return samples, err
	}
	test, err := readPrismList(fsys, datasets.Test, "CARSN_test.csv")
	return append(samples, test...), err
}

// readPrismList reads lines "absolute path,label" and removes the leading folders of each path that are above the root.
func readPrismList(fsys fs.FS, split, name string) ([]sample, error) {
	samples, err := readLists(fsys, list{names: []string{name, "datalist/" + name}, split: split,
		parse: func(line string) (s sample, err error) {
			comma := max(strings.LastIndexByte(line, ','), 0)
			s.Path, s.Label = strings.TrimPrefix(line[:comma], "/"), line[min(comma+1, len(line)):]
			s.Class, err = strconv.Atoi(s.Label)
			return s, err
		}})
	skip := countFoldersAbove(fsys, samples)
	for i := range samples {
		for range skip {
			if _, rest, ok := strings.Cut(samples[i].Path, "/"); ok {
				samples[i].Path = rest
			}
		}
	}
	return samples, err
}

// countFoldersAbove returns the number of leading folders that are above the root, determined by the first file that
// exists. If no file exists, it returns 1 (PRISM's /data).
func countFoldersAbove(fsys fs.FS, samples []sample) int {
	for _, s := range samples {
		rest, ok := s.Path, true
		for skip := 0; ok; skip++ {
			if hasFile(fsys, rest) {
				return skip
			}
			_, rest, ok = strings.Cut(rest, "/")
		}
	}
	return 1
}

// sop is Stanford Online Products: images of articles on sale, one class per article, 2 to 12 images each.
// Ebay_train.txt contains the classes 1 to 11,318, Ebay_test.txt the others; PRISM's lists use the same numbers.
//
// PRISM mentions 50 %, 25 % and 25 % of the classes, and its released training lists contain the 11,318 classes of the
// usual half. Here, validation and test are the two halves of the other 11,316 classes, in the order of their numbers.
// The counts are from PRISM's SOP_test.csv, divided in the same way.
// Source: Song et al., "Deep Metric Learning via Lifted Structured Feature Embedding", CVPR 2016.
var sop = Preset{
	Name: "sop", Title: "Stanford Online Products (Song et al. 2016)", Default: Official,
	Files: []string{"Ebay_train.txt", "Ebay_test.txt"},
	Read: func(fsys fs.FS, _ Options) ([]sample, error) {
		return readLists(fsys,
			list{names: []string{"Ebay_train.txt"}, skip: 1, split: datasets.Train, parse: parseSOP},
			list{names: []string{"Ebay_test.txt"}, skip: 1, split: datasets.Test, parse: parseSOP})
	},
	Protocols: map[string]Protocol{
		Official: {Note: "the publisher's halves", Counts: sopHalves},
		half: {Note: "the first 11,318 classes train, the other 11,316 test",
			Ranges: []Range{{datasets.Train, 1, 11318}, {datasets.Test, 11319, 22634}}, Counts: sopHalves},
		prism: {Note: "the first 11,318 classes train; 5,658 validate and 5,658 test, in the order of their numbers",
			Ranges: []Range{{datasets.Train, 1, 11318}, {datasets.Validation, 11319, 16976},
				{datasets.Test, 16977, 22634}},
			Counts: []count{{datasets.Train, 59551, 11318}, {datasets.Validation, 32736, 5658},
				{datasets.Test, 27766, 5658}}},
	},
}

var sopHalves = []count{{datasets.Train, 59551, 11318}, {datasets.Test, 60502, 11316}}

// parseSOP parses a line with image_id, class_id, super_class_id and path.
func parseSOP(line string) (s sample, err error) {
	fields := strings.Fields(line)
	if len(fields) != 4 {
		return s, errors.New("expected image_id class_id super_class_id path")
	}
	s.Path, s.Label = fields[3], fields[1]
	s.Class, err = strconv.Atoi(s.Label)
	return s, err
}

// inShop is DeepFashion's In-Shop Clothes Retrieval benchmark. Its test images are queries and a gallery: for each
// query, images of the same article are searched in the gallery only.
//
// The list is next to the images or in Eval/; the images are in img/ or, as unpacked from the archive, in Img/img/. A
// class is an item: id_00000002 is class 2.
//
// Source: Liu et al., "DeepFashion", CVPR 2016. The counts of queries and gallery are those usually cited.
var inShop = Preset{
	Name: "inshop", Title: "In-Shop Clothes Retrieval of DeepFashion (Liu et al. 2016)", Default: Official,
	Files: []string{"list_eval_partition.txt", "Eval/list_eval_partition.txt"},
	Read: func(fsys fs.FS, _ Options) ([]sample, error) {
		below := ""
		if !hasFile(fsys, "img") && hasFile(fsys, "Img/img") {
			below = "Img"
		}
		return readLists(fsys, list{names: []string{"list_eval_partition.txt", "Eval/list_eval_partition.txt"}, skip: 2,
			parse: func(line string) (s sample, err error) {
				fields := strings.Fields(line)
				if len(fields) != 3 {
					return s, errors.New("expected image_name item_id evaluation_status")
				}
				s = sample{Path: path.Join(below, fields[0]), Label: fields[1], Split: fields[2]}
				if s.Split != datasets.Train && s.Split != datasets.Query && s.Split != datasets.Gallery {
					return s, errors.New("expected train, query or gallery")
				}
				s.Class, err = strconv.Atoi(strings.TrimPrefix(s.Label, "id_"))
				return s, err
			}})
	},
	Protocols: map[string]Protocol{
		Official: {Note: "the publisher's: half the classes train, the others are queries and gallery",
			Counts: inShopCounts},
		half: {Note: "the same as official", Counts: inShopCounts},
	},
}

var inShopCounts = []count{{datasets.Train, 25882, 3997}, {datasets.Query, 14218, 3985},
	{datasets.Gallery, 12612, 3985}}
