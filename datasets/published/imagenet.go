package published

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets"
	"winnow/datasets/matfile"
)

// imageNet is ImageNet's classification data of 2012: one folder per synset in train/, and the validation images in
// val/. These are sorted into such folders too, or as their archive unpacks, with the devkit that gives their
// labels (ILSVRC2012_devkit_t12/). The labels of the test images were never published, so the validation images are
// the test split, in the order of their numbers.
//
// Classes are numbered from 0 in the order of their synsets, as in most lists (the devkit's own numbers differ).
// They are named by synset, because two of them have the same word, crane. The column words holds the devkit's
// words for the published class.
// Source: Russakovsky et al., "ImageNet Large Scale Visual Recognition Challenge", IJCV 2015; the devkit's readme.
var imageNet = Preset{
	Name: "imagenet", Title: "ImageNet, ILSVRC 2012 (Russakovsky et al. 2015)",
	Files:   []string{"train/n01440764", "val", "ILSVRC2012_devkit_t12"},
	Default: Official, Columns: []string{"words"}, Corrects: true, FirstTest: 1, Read: readImageNet,
	Protocols: map[string]Protocol{
		Official: {
			Note:   "the training images train, the validation images test",
			Counts: []count{{datasets.Train, 1281167, 1000}, {datasets.Test, 50000, 1000}},
		},
	},
}

// Files of the devkit, in its folder data.
const (
	truthFile = "ILSVRC2012_validation_ground_truth.txt"
	metaFile  = "meta.mat"
)

var isSynset = regexp.MustCompile(`^n\d{8}$`).MatchString

// synset is a class in the devkit.
type synset struct{ id, words string }

func readImageNet(fsys fs.FS, _ Options) ([]sample, error) {
	devkit, err := readDevkit(fsys)
	if err != nil {
		return nil, err
	}
	if !isFolder(fsys, "train") || !isFolder(fsys, "val") {
		return nil, refuseMissingFiles("folders train and val")
	}
	samples, err := readSynsets(fsys, "train", datasets.Train)
	if err != nil {
		return nil, err
	}
	if len(samples) == 0 {
		return nil, fmt.Errorf("train: found no folder with images named as n01440764, expected one for each " +
			"synset: each holds what the archive of its name does, n01440764.tar")
	}
	tests, err := readSynsets(fsys, "val", datasets.Test)
	if err == nil && len(tests) == 0 {
		tests, err = readTruth(fsys, devkit)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(tests, func(a, b sample) int { return strings.Compare(path.Base(a.Path), path.Base(b.Path)) })
	samples = append(samples, tests...)
	words := make(map[string]string)
	for _, s := range devkit.synsets {
		words[s.id] = s.words
	}
	numberSynsets(samples, words)
	return samples, nil
}

// readSynsets reads the folders that have a synset's name.
func readSynsets(fsys fs.FS, below, split string) ([]sample, error) {
	entries, err := fs.ReadDir(fsys, below)
	if err != nil {
		return nil, err
	}
	var samples []sample
	for _, e := range entries {
		folder := path.Join(below, e.Name())
		if !isSynset(e.Name()) || !isFolder(fsys, folder) {
			continue
		}
		images, err := imagesIn(fsys, folder, ".jpeg", ".jpg")
		if err != nil {
			return nil, err
		}
		for _, file := range images {
			samples = append(samples, sample{Path: path.Join(folder, file), Label: e.Name(), Split: split})
		}
	}
	return samples, nil
}

// numberSynsets numbers the classes in the order of their names and records their words.
func numberSynsets(samples []sample, words map[string]string) {
	numbers := make(map[string]int)
	for _, s := range samples {
		numbers[s.Label] = 0
	}
	order := make([]string, 0, len(numbers))
	for id := range numbers {
		order = append(order, id)
	}
	slices.Sort(order)
	extra := make([][]string, len(order)) // shared by the samples of a class
	for i, id := range order {
		numbers[id], extra[i] = i, []string{words[id]}
	}
	for i := range samples {
		s := &samples[i]
		s.Class = numbers[s.Label]
		s.Extra = extra[s.Class]
	}
}

// devkit is the available part of ImageNet's devkit.
type devkit struct {
	folder  string         // of its files; "" if there is none
	synsets map[int]synset // by ILSVRC2012_ID
}

// readDevkit reads meta.mat if it exists.
func readDevkit(fsys fs.FS) (devkit, error) {
	for _, folder := range []string{"ILSVRC2012_devkit_t12/data", "data", "."} {
		name := path.Join(folder, metaFile)
		if !hasFile(fsys, name) {
			continue
		}
		list, err := matfile.ReadFile(fsys, name)
		if err != nil {
			return devkit{}, err
		}
		synsets, err := readMeta(matfile.Find(list, "synsets"))
		if err != nil {
			return devkit{}, fmt.Errorf("%s: %w", name, err)
		}
		return devkit{folder, synsets}, nil
	}
	return devkit{}, nil
}

// readMeta reads the synsets without children, which are the classes.
func readMeta(a *matfile.Array) (map[int]synset, error) {
	if a == nil || a.Class != matfile.Struct {
		return nil, fmt.Errorf("found no struct array synsets, expected ImageNet's meta.mat")
	}
	for _, field := range []string{"ILSVRC2012_ID", "WNID", "words", "num_children"} {
		if !slices.Contains(a.Fields, field) {
			return nil, fmt.Errorf("synsets have the fields %s, expected %s too", strings.Join(a.Fields, ", "), field)
		}
	}
	synsets := make(map[int]synset)
	for i := range a.Len() {
		children, err := readOnlyInteger(a.Field(i, "num_children"), 0, 1<<30)
		if err != nil {
			return nil, fmt.Errorf("synset %d: num_children: %w", i+1, err)
		}
		if children > 0 {
			continue
		}
		id, err := readOnlyInteger(a.Field(i, "ILSVRC2012_ID"), 1, 1<<30)
		if err != nil {
			return nil, fmt.Errorf("synset %d: ILSVRC2012_ID: %w", i+1, err)
		}
		s := synset{a.Field(i, "WNID").Text, a.Field(i, "words").Text}
		if _, twice := synsets[id]; twice || !isSynset(s.id) {
			return nil, fmt.Errorf("synset %d: ILSVRC2012_ID %d with WNID %.80q, expected a number of its own and "+
				"a name as n01440764", i+1, id, s.id)
		}
		synsets[id] = s
	}
	return synsets, nil
}

// readTruth reads the labels of the validation images that are in val/ as their archive unpacks: one synset number
// per line.
func readTruth(fsys fs.FS, d devkit) ([]sample, error) {
	if d.folder == "" {
		return nil, fmt.Errorf("val: found no folder named as n01440764 and no ILSVRC2012_devkit_t12/data/%s, "+
			"expected one of them: unpack the devkit next to val, or sort the images into a folder for each synset",
			metaFile)
	}
	var samples []sample
	err := eachLine(fsys, func(number int, line string) error {
		id, err := strconv.Atoi(line)
		s, ok := d.synsets[id]
		if err != nil || !ok {
			return fmt.Errorf("found %.80q, expected the ILSVRC2012_ID of one of the %d synsets without children "+
				"in %s", line, len(d.synsets), metaFile)
		}
		samples = append(samples, sample{Path: fmt.Sprintf("val/ILSVRC2012_val_%08d.JPEG", number), Label: s.id,
			Split: datasets.Test})
		return nil
	}, path.Join(d.folder, truthFile))
	return samples, err
}
