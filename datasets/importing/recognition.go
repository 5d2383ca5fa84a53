package importing

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets"
)

// newOfficial returns the protocols of a dataset that has only the publisher's split.
func newOfficial(note string, counts ...count) map[string]Protocol {
	return map[string]Protocol{Official: {Note: note, Counts: counts}}
}

// caltech256 is Caltech-256: one folder per class in 256_ObjectCategories, such as 001.ak47. 257.clutter is not a class
// and is left out. The publisher gives no split; here 60 images per class are for training, as at most in its report's
// curves, and [drawClassFiles] chooses them, the same on every machine. SCL-RHE (004) does not state its split.
//
// Source: Griffin, Holub, Perona, "Caltech-256 object category dataset", 2007: 30,607 images, 827 of them clutter.
var caltech256 = Preset{
	Name: "caltech256", Title: "Caltech-256 (Griffin et al. 2007)", Files: []string{"256_ObjectCategories", "001.ak47"},
	Default: usual, Read: func(fsys fs.FS, _ Options) ([]sample, error) { return readCaltech(fsys) },
	Protocols: map[string]Protocol{usual: {
		Note:   "60 images of each class train, drawn once, the others test",
		Counts: []count{{datasets.Train, 256 * 60, 256}, {datasets.Test, 30607 - 827 - 256*60, 256}},
	}},
}

// readCaltech reads the class folders and draws the training images of each class.
func readCaltech(fsys fs.FS) (samples []sample, err error) {
	below := "256_ObjectCategories"
	if hasFile(fsys, "001.ak47") {
		below = "."
	}
	entries, err := fs.ReadDir(fsys, below)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		digits, name, ok := strings.Cut(e.Name(), ".")
		class, err := strconv.Atoi(digits)
		if !ok || err != nil || name == "clutter" {
			continue
		}
		folder := path.Join(below, e.Name())
		images, err := imagesIn(fsys, folder)
		if err != nil {
			return nil, err
		}
		chosen := drawClassFiles(images, 60)
		for _, file := range images {
			s := sample{Path: path.Join(folder, file), Class: class, Label: name, Split: datasets.Test}
			if chosen[file] {
				s.Split = datasets.Train
			}
			samples = append(samples, s)
		}
	}
	return samples, nil
}

// drawClassFiles chooses the n files of a class whose names have the lowest SHA-256. An additional or missing file
// changes at most one of the other choices.
func drawClassFiles(names []string, n int) map[string]bool {
	order := slices.Clone(names)
	slices.SortFunc(order, func(a, b string) int {
		x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
		return cmp.Or(bytes.Compare(x[:], y[:]), strings.Compare(a, b))
	})
	chosen := make(map[string]bool, n)
	for _, name := range order[:min(n, len(order))] {
		chosen[name] = true
	}
	return chosen
}

// flowers102 is Oxford's 102 Category Flower Dataset: the folder jpg/ from its archive, imagelabels.mat next to it, and
// setid.mat for the official split. The classes have numbers but no names. No paper states the sizes of the halves; the
// counts here were computed from the published labels.
//
// Source: Nilsback and Zisserman, "Automated flower classification over a large number of classes", ICVGIP 2008.
var flowers102 = Preset{
	Name: "flowers102", Title: "Oxford 102 Flowers (Nilsback and Zisserman 2008)",
	Files: []string{"imagelabels.mat", "setid.mat", "jpg"}, Default: half, Read: readFlowers,
	Protocols: map[string]Protocol{
		half: {
			Note:   "classes 1-51 train, 52-102 test",
			Ranges: []Range{{datasets.Train, 1, 51}, {datasets.Test, 52, 102}},
			Counts: []count{{datasets.Train, 3493, 51}, {datasets.Test, 4696, 51}},
		},
		Official: {
			Note:   "training, validation and test images of the same classes (10, 10 and 20 or more of each)",
			Counts: []count{{datasets.Train, 1020, 102}, {datasets.Validation, 1020, 102}, {datasets.Test, 6149, 102}},
		},
	},
}

func readFlowers(fsys fs.FS, opts Options) ([]sample, error) {
	labels, err := readMatVariable(fsys, "imagelabels.mat", "labels")
	if err != nil {
		return nil, err
	}
	samples := make([]sample, len(labels.numbers))
	for i, class := range labels.numbers {
		samples[i] = sample{Path: fmt.Sprintf("jpg/image_%05d.jpg", i+1), Class: int(class),
			Label: strconv.Itoa(int(class))}
	}
	if opts.Protocol != Official {
		return samples, nil
	}
	for name, split := range map[string]string{"trnid": datasets.Train, "valid": datasets.Validation,
		"tstid": datasets.Test} {
		images, err := readMatVariable(fsys, "setid.mat", name)
		if err != nil {
			return nil, err
		}
		for _, n := range images.numbers {
			if n < 1 || int(n) > len(samples) {
				return nil, fmt.Errorf("setid.mat: %s: found image %v, expected 1 to %d", name, n, len(samples))
			}
			samples[int(n)-1].Split = split
		}
	}
	return samples, nil
}

// food101 is Food-101: 1,000 images of each of 101 dishes. Classes are numbered in the order of their names.
// Source: Bossard, Guillaumin, Van Gool, "Food-101 – Mining Discriminative Components with Random Forests", ECCV 2014.
var food101 = Preset{
	Name: "food101", Title: "Food-101 (Bossard et al. 2014)", Files: []string{"meta/train.txt", "meta/test.txt"},
	Default: Official, Read: func(fsys fs.FS, _ Options) ([]sample, error) { return readFood101(fsys) },
	Protocols: map[string]Protocol{
		Official: {Note: "750 images of each class train, 250 test",
			Counts: []count{{datasets.Train, 75750, 101}, {datasets.Test, 25250, 101}}},
		half: {Note: "the first 50 classes train, the other 51 test, as in PRISM's released list",
			Ranges: []Range{{datasets.Train, 1, 50}, {datasets.Test, 51, 101}},
			Counts: []count{{datasets.Train, 50000, 50}, {datasets.Test, 51000, 51}}},
	},
}

// readFood101 reads the lists meta/train.txt and meta/test.txt, with lines such as apple_pie/1005649.
func readFood101(fsys fs.FS) ([]sample, error) {
	names, err := readClasses(fsys, "meta/classes.txt")
	if err != nil {
		return nil, err
	}
	parse := func(line string) (sample, error) { return newFoodSample(names, line, ".jpg") }
	return readLists(fsys, list{names: []string{"meta/train.txt"}, split: datasets.Train, parse: parse},
		list{names: []string{"meta/test.txt"}, split: datasets.Test, parse: parse})
}

// newFoodSample returns the sample of a key such as apple_pie/1005649, in which the class precedes the slash.
func newFoodSample(names map[string]int, key, ending string) (sample, error) {
	class, _, _ := strings.Cut(key, "/")
	if names[class] == 0 {
		return sample{}, errors.New("expected class/image with a class of meta/classes.txt")
	}
	return sample{Path: "images/" + key + ending, Class: names[class], Label: class}, nil
}

// food101N is Food-101N: web images of Food-101's dishes, about a fifth of them mislabelled. It has no test images of
// its own. For half and prism, the root is therefore the folder that contains the folders of Food-101N and Food-101,
// which may have any names.
//
// People verified some labels: the column verified is 1 (right) or 0 (wrong). A right label is also the true_label; the
// true labels of all other images are unknown.
// Source: Lee et al., "CleanNet: Transfer Learning for Scalable Image Classifier Training with Label Noise", CVPR 2018.
var food101N = Preset{
	Name: "food101n", Title: "Food-101N (Lee et al. 2018)", Files: []string{foodNList, "meta/verified_train.tsv"},
	Default: Official, Columns: []string{"verified"}, Read: readFood101N,
	Protocols: map[string]Protocol{
		Official: {Note: "all images train", Counts: []count{{datasets.Train, 310009, 101}}},
		half: {Note: "Food-101N's first 50 classes train, Food-101's other 51 test, as in PRISM's released list",
			Ranges: []Range{{datasets.Train, 1, 50}, {datasets.Test, 51, 101}},
			Counts: []count{{datasets.Train, 144086, 50}, {datasets.Test, 51000, 51}}},
		prism: {Note: "Food-101N's first 50 classes train; of Food-101 the next 25 validate and the last 26 test",
			Ranges: []Range{{datasets.Train, 1, 50}, {datasets.Validation, 51, 75}, {datasets.Test, 76, 101}},
			Counts: []count{{datasets.Train, 144086, 50}, {datasets.Validation, 25000, 25},
				{datasets.Test, 26000, 26}}},
	},
}

const foodNList = "meta/imagelist.tsv"

// readFood101N reads all of Food-101N, or its classes 1 to 50 and the other classes of Food-101.
func readFood101N(fsys fs.FS, opts Options) ([]sample, error) {
	noisy := findFolder(fsys, foodNList, "")
	if opts.Protocol == Official {
		return readFoodNList(fsys)
	}
	clean := findFolder(fsys, "meta/test.txt", noisy)
	if noisy == "" || noisy == "." || clean == "" {
		return nil, fmt.Errorf("protocol %s trains on Food-101N and tests on Food-101, expected the folder that "+
			"holds the folders of both (with %s and meta/test.txt)", opts.Protocol, foodNList)
	}
	var samples []sample
	for _, part := range []struct {
		folder      string
		first, last int
		read        func(fs.FS) ([]sample, error)
	}{{noisy, 1, 50, readFoodNList}, {clean, 51, 101, readFood101}} {
		sub, err := fs.Sub(fsys, part.folder)
		if err != nil {
			return nil, err
		}
		list, err := part.read(sub)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", part.folder, err)
		}
		for _, s := range list {
			if s.Class >= part.first && s.Class <= part.last {
				s.Path = path.Join(part.folder, s.Path)
				s.Extra = append(s.Extra, "")[:1]
				samples = append(samples, s)
			}
		}
	}
	return samples, nil
}

// readFoodNList reads the images of Food-101N and, if the lists exist, which labels people verified.
func readFoodNList(fsys fs.FS) ([]sample, error) {
	names, err := readClasses(fsys, "meta/classes.txt")
	if err != nil {
		return nil, err
	}
	verified := make(map[string]string)
	for _, name := range []string{"meta/verified_train.tsv", "meta/verified_val.tsv"} {
		err := eachLine(fsys, 1, func(line string) error {
			key, mark, _ := strings.Cut(line, "\t")
			verified[key] = mark
			return nil
		}, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return readLists(fsys, list{names: []string{foodNList}, skip: 1, split: datasets.Train,
		parse: func(line string) (sample, error) {
			s, err := newFoodSample(names, line, "")
			if s.Extra = []string{verified[line]}; s.Extra[0] == "1" {
				s.True = s.Label
			}
			return s, err
		}})
}

// pets is the Oxford-IIIT Pet Dataset: images/ and annotations/ from its two archives. trainval.txt lists the training
// split and test.txt the test split. The class name is part of the file name: Abyssinian_100.jpg shows an Abyssinian.
//
// Source: Parkhi et al., "Cats and Dogs", CVPR 2012; counts are those of the published lists.
var pets = Preset{
	Name: "pets", Title: "Oxford-IIIT Pets (Parkhi et al. 2012)",
	Files:   []string{"annotations/trainval.txt", "annotations/test.txt", "images"},
	Default: Official, Read: func(fsys fs.FS, _ Options) ([]sample, error) {
		return readLists(fsys,
			list{names: []string{"annotations/trainval.txt"}, split: datasets.Train, parse: parsePet},
			list{names: []string{"annotations/test.txt"}, split: datasets.Test, parse: parsePet})
	},
	Protocols: newOfficial("training and test images of the same classes, about 100 and 100 of each",
		count{datasets.Train, 3680, 37}, count{datasets.Test, 3669, 37}),
}

// parsePet parses a line such as "Abyssinian_100 1 1 1": image, class, species and breed.
func parsePet(line string) (s sample, err error) {
	fields := strings.Fields(line)
	at := strings.LastIndexByte(fields[0], '_')
	if len(fields) != 4 || at < 1 {
		return s, errors.New("expected an image such as Abyssinian_100, class, species and breed")
	}
	s.Path, s.Label = "images/"+fields[0]+".jpg", fields[0][:at]
	s.Class, err = strconv.Atoi(fields[1])
	return s, err
}

// places365 is Places365-Standard: the lists of its file list archive and its images as unpacked, small (data_256,
// val_256) or large (data_large, val_large). If both sizes exist, the small images are used. The labels of the test
// images were never published, so the validation images are the test split.
//
// Source: Zhou et al., "Places: a 10 million image database for scene recognition", TPAMI 2018.
var places365 = Preset{
	Name: "places365", Title: "Places365-Standard (Zhou et al. 2018)",
	Files:   []string{"places365_train_standard.txt", "places365_val.txt", placesClasses},
	Default: Official, Read: func(fsys fs.FS, _ Options) ([]sample, error) { return readPlaces(fsys) },
	Protocols: newOfficial("the training images train, the validation images test",
		count{datasets.Train, 1803460, 365}, count{datasets.Test, 36500, 365}),
}

// placesClasses is the list of scenes, with lines such as "/a/apartment_building/outdoor 8".
const placesClasses = "categories_places365.txt"

// readPlaces reads the lists, with lines such as "/a/airfield/00000001.jpg 0" and "Places365_val_00000001.jpg 165".
func readPlaces(fsys fs.FS) ([]sample, error) {
	names := map[string]string{}
	err := eachLine(fsys, 0, func(line string) error {
		name, class, _ := strings.Cut(line, " ")
		names[class] = name[min(3, len(name)):] // without the folder named after the first letter
		return nil
	}, placesClasses)
	if err != nil {
		return nil, err
	}
	parseBelow := func(folders ...string) func(line string) (sample, error) {
		folder := folders[0]
		if !hasFile(fsys, folder) && hasFile(fsys, folders[1]) {
			folder = folders[1]
		}
		return func(line string) (s sample, err error) {
			image, class, _ := strings.Cut(line, " ")
			if s.Path, s.Label = path.Join(folder, image), names[class]; s.Label == "" {
				return s, errors.New("expected an image and a class number from " + placesClasses)
			}
			s.Class, err = strconv.Atoi(class)
			return s, err
		}
	}
	return readLists(fsys, list{names: []string{"places365_train_standard.txt"}, split: datasets.Train,
		parse: parseBelow("data_256", "data_large")},
		list{names: []string{"places365_val.txt"}, split: datasets.Test, parse: parseBelow("val_256", "val_large")})
}

// imageNet is ImageNet's classification dataset of 2012: one folder per synset in train/ and in val/, into which the
// user must have sorted the validation images. The labels of the test images were never published, so the validation
// images are the test split, in the order of their numbers.
//
// Classes are numbered from 0 in the order of their synsets, as in most lists. They are named by synset, because two
// classes have the same word, crane.
// Source: Russakovsky et al., "ImageNet Large Scale Visual Recognition Challenge", IJCV 2015.
var imageNet = Preset{
	Name: "imagenet", Title: "ImageNet, ILSVRC 2012 (Russakovsky et al. 2015)",
	Files: []string{"train/n01440764", "val/n01440764"}, Default: Official, Corrects: true, FirstTest: 1,
	Read: func(fsys fs.FS, _ Options) ([]sample, error) { return readImageNet(fsys) },
	Protocols: newOfficial("the training images train, the validation images test",
		count{datasets.Train, 1281167, 1000}, count{datasets.Test, 50000, 1000}),
}

var isSynset = regexp.MustCompile(`^n\d{8}$`).MatchString

func readImageNet(fsys fs.FS) (samples []sample, err error) {
	var synsets []string
	for below, split := range map[string]string{"train": datasets.Train, "val": datasets.Test} {
		entries, err := fs.ReadDir(fsys, below)
		if err != nil {
			return nil, err
		}
		before := len(synsets)
		for _, e := range entries {
			if !isSynset(e.Name()) {
				continue
			}
			synsets = append(synsets, e.Name())
			images, err := imagesIn(fsys, path.Join(below, e.Name()))
			if err != nil {
				return nil, err
			}
			for _, file := range images {
				samples = append(samples, sample{Path: path.Join(below, e.Name(), file), Label: e.Name(), Split: split})
			}
		}
		if len(synsets) == before {
			return nil, fmt.Errorf("%s: found no folder such as n01440764, expected one for each synset", below)
		}
	}
	slices.Sort(synsets)
	rank := rankNames(slices.Compact(synsets))
	for i := range samples {
		samples[i].Class = rank[samples[i].Label] - 1
	}
	slices.SortStableFunc(samples, func(a, b sample) int {
		of := func(s sample) string { // validation images last, ordered by number
			if s.Split == datasets.Test {
				return "val/" + path.Base(s.Path)
			}
			return s.Path
		}
		return strings.Compare(of(a), of(b))
	})
	return samples, nil
}

// iNat2017 is the dataset of the iNaturalist competition of 2017: train2017.json, val2017.json, and the images in
// train_val_images/, as in the lists. The labels of the test images were never published, so the validation images are
// the test split. A class is named after its category, followed by the category's number if two categories share a
// name.
//
// Source: Van Horn et al., "The iNaturalist species classification and detection dataset", CVPR 2018, and the
// competition's page.
var iNat2017 = Preset{
	Name: "inat2017", Title: "iNaturalist 2017 (Van Horn et al. 2018)",
	Files: []string{"train2017.json", "val2017.json"}, Default: Official,
	Read: func(fsys fs.FS, _ Options) ([]sample, error) {
		samples, err := readINat(fsys, "train2017.json", datasets.Train)
		if err != nil {
			return nil, err
		}
		more, err := readINat(fsys, "val2017.json", datasets.Test)
		return append(samples, more...), err
	},
	Protocols: newOfficial("the training images train, the validation images test",
		count{datasets.Train, 579184, 5089}, count{datasets.Test, 95986, 5089}),
}

func readINat(fsys fs.FS, name, split string) ([]sample, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all struct {
		Images []struct {
			ID   int    `json:"id"`
			File string `json:"file_name"`
		} `json:"images"`
		Annotations []struct {
			Image    int `json:"image_id"`
			Category int `json:"category_id"`
		} `json:"annotations"`
		Categories []struct {
			ID   int    `json:"id"`
			Name string `json:"name"`
		} `json:"categories"`
	}
	if err := json.NewDecoder(f).Decode(&all); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	category, uses, names := map[int]int{}, map[string]int{}, map[int]string{}
	for _, a := range all.Annotations {
		category[a.Image] = a.Category
	}
	for _, c := range all.Categories {
		names[c.ID] = c.Name
		uses[c.Name]++
	}
	samples := make([]sample, len(all.Images))
	for i, m := range all.Images {
		class, ok := category[m.ID]
		if !ok || names[class] == "" {
			return nil, fmt.Errorf("%s: image %s has no category, expected one (lists of test images have none)",
				name, m.File)
		}
		samples[i] = sample{Path: m.File, Class: class, Label: names[class], Split: split}
		if uses[names[class]] > 1 {
			samples[i].Label = fmt.Sprintf("%s (%d)", names[class], class)
		}
	}
	return samples, nil
}
