package published

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"winnow/datasets"
)

// food101N is Food-101N: images of Food-101's dishes from the web, about a fifth of them wrongly labelled. It has
// no test images of its own: for half and prism the root is the folder that contains both Food-101N and Food-101,
// under any names.
//
// People verified some labels: the column verified holds 1 (right) or 0 (wrong). An image whose label is right has
// it as true_label too; what the others show is unknown.
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

// readFood101N reads Food-101N alone, or its classes 1 to 50 and the others of Food-101.
func readFood101N(fsys fs.FS, opts Options) ([]sample, error) {
	noisy := folderWith(fsys, foodNList, func(string) bool { return true })
	if opts.Protocol == Official {
		if noisy != "." {
			return nil, refuseMissingFiles(foodNList)
		}
		return readFoodNList(fsys, opts)
	}
	clean := folderWith(fsys, "meta/test.txt", func(folder string) bool { return folder != noisy })
	if noisy == "" || noisy == "." || clean == "" || clean == "." {
		return nil, fmt.Errorf("protocol %s trains on Food-101N and tests on Food-101, expected the folder that "+
			"holds the folders of both (with %s and meta/test.txt)", opts.Protocol, foodNList)
	}
	var samples []sample
	take := func(folder string, first, last int, read func(fs.FS) ([]sample, error)) error {
		sub, err := fs.Sub(fsys, folder)
		if err != nil {
			return err
		}
		list, err := read(sub)
		if err != nil {
			return fmt.Errorf("%s: %v", folder, err) // the root is right even if a file inside it is missing
		}
		for _, s := range list {
			if s.Class < first || s.Class > last {
				continue
			}
			if s.Path = path.Join(folder, s.Path); s.Extra == nil {
				s.Extra = []string{""}
			}
			samples = append(samples, s)
		}
		return nil
	}
	err := take(noisy, 1, 50, func(sub fs.FS) ([]sample, error) { return readFoodNList(sub, opts) })
	if err == nil {
		err = take(clean, 51, 101, readFood101)
	}
	return samples, err
}

// readFoodNList reads the images of Food-101N, and which labels people verified.
func readFoodNList(fsys fs.FS, opts Options) ([]sample, error) {
	names, err := readClasses(fsys, "meta/classes.txt")
	if err != nil {
		return nil, err
	}
	verified := make(map[string]string)
	for _, list := range []string{"meta/verified_train.tsv", "meta/verified_val.tsv"} {
		err := readVerified(fsys, list, verified)
		if errors.Is(err, fs.ErrNotExist) {
			opts.noteObservation("found no %s: the verified labels are unknown", list)
		} else if err != nil {
			return nil, err
		}
	}
	var samples []sample
	met := 0
	err = eachLine(fsys, func(number int, line string) error {
		if number == 1 && line == foodNHeader {
			return nil
		}
		s, err := foodSample(names, line)
		if err != nil {
			return err
		}
		mark, ok := verified[line]
		if ok {
			met++
		}
		if mark == "1" {
			s.True = s.Label
		}
		s.Split, s.Extra = datasets.Train, []string{mark}
		samples = append(samples, s)
		return nil
	}, foodNList)
	if n := len(verified) - met; err == nil && n > 0 {
		opts.noteObservation(
			"ignored %d of %d verified images that %s does not list under that class",
			n,
			len(verified),
			foodNList,
		)
	}
	return samples, err
}

const foodNHeader = "class_name/key"

// readVerified reads lines of apple_pie/0a1b.jpg, a tab, and 1 or 0.
func readVerified(fsys fs.FS, list string, into map[string]string) error {
	return eachLine(fsys, func(number int, line string) error {
		key, mark, ok := strings.Cut(line, "\t")
		if number == 1 && key == foodNHeader {
			return nil
		}
		if mark = strings.TrimSpace(mark); !ok || mark != "0" && mark != "1" {
			return fmt.Errorf("%.80q is not of the form class/image, a tab, 0 or 1", line)
		}
		into[key] = mark
		return nil
	}, list)
}
