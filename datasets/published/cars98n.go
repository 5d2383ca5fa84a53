package published

import (
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"winnow/datasets"
)

// cars98N is CARS-98N: images that a web search found for the 98 training classes of CARS196. The lists are
// PRISM's, CARSN_train.csv and, for the test classes, CARSN_test.csv, in the root or in datalist/. The labels are
// PRISM's too: the classes of CARS196, from 1 in the order of their names. The lists' paths
// are cut to what exists below the root: /data/cars_noise/img_v3/0/x.jpg is the first that exists of
// data/cars_noise/img_v3/0/x.jpg, cars_noise/img_v3/0/x.jpg, img_v3/0/x.jpg and 0/x.jpg.
//
// It has not been published which labels are wrong.
// Source: Liu et al., "Noise-resistant Deep Metric Learning with Ranking-based Instance Selection", CVPR 2021.
var cars98N = Preset{
	Name: "cars98n", Title: "CARS-98N with PRISM's lists (Liu et al. 2021)",
	Files:   []string{"datalist/" + carsNTrain, "datalist/" + carsNTest},
	Default: Official, Read: readCars98N,
	Protocols: map[string]Protocol{
		Official: {Note: "all images train", Counts: []count{{datasets.Train, 9558, 98}}},
		half: {Note: "CARS-98N trains, the other 98 classes of CARS196 test",
			Counts: []count{{datasets.Train, 9558, 98}, {datasets.Test, 8131, 98}}},
		prism: {Note: "CARS-98N trains; of CARS196 classes 99-147 validate and 148-196 test",
			Ranges: []Range{{datasets.Train, 1, 98}, {datasets.Validation, 99, 147}, {datasets.Test, 148, 196}},
			Counts: []count{{datasets.Train, 9558, 98}, {datasets.Validation, 4059, 49}, {datasets.Test, 4072, 49}}},
		"prism-literal": {Note: "as prism with 48 and 48 classes, as its paper says: two of the 196 are left out",
			Ranges: []Range{{datasets.Train, 1, 98}, {datasets.Validation, 99, 146}, {datasets.Test, 147, 194}},
			Counts: []count{{datasets.Train, 9558, 98}, {datasets.Validation, 3970, 48}, {datasets.Test, 3995, 48}}},
	},
}

const (
	carsNTrain = "CARSN_train.csv"
	carsNTest  = "CARSN_test.csv"
)

func cars98NLists(name string) []string { return []string{name, "datalist/" + name} }

// readCars98N reads the lists that the protocol needs.
func readCars98N(fsys fs.FS, opts Options) ([]sample, error) {
	samples, err := readPrismList(fsys, datasets.Train, cars98NLists(carsNTrain)...)
	if err != nil || opts.Protocol == Official {
		return samples, err
	}
	test, err := readPrismList(fsys, datasets.Test, cars98NLists(carsNTest)...)
	return append(samples, test...), err
}

// readPrismList reads a list of lines "absolute path,label", and finds which of the path's folders the root stands
// for.
func readPrismList(fsys fs.FS, split string, names ...string) ([]sample, error) {
	var samples []sample
	err := eachLine(fsys, func(_ int, line string) error {
		comma := strings.LastIndexByte(line, ',')
		if comma < 0 {
			return fmt.Errorf("%.80q holds no comma, expected path,label", line)
		}
		class, err := strconv.Atoi(line[comma+1:])
		if err != nil || class < 0 {
			return fmt.Errorf("label %.80q is not a number from 0", line[comma+1:])
		}
		p := strings.TrimPrefix(line[:comma], "/")
		if err := inRoot(p); err != nil {
			return err
		}
		samples = append(samples, sample{Path: p, Class: class, Label: strconv.Itoa(class), Split: split})
		return nil
	}, names...)
	if err != nil {
		return nil, err
	}
	skip := foldersAbove(fsys, samples)
	for i := range samples {
		for range skip {
			if _, rest, ok := strings.Cut(samples[i].Path, "/"); ok {
				samples[i].Path = rest
			}
		}
	}
	return samples, nil
}

// foldersAbove returns how many leading folders of the paths are above the root, by the first file that exists; 1
// (PRISM's /data) if none does.
func foldersAbove(fsys fs.FS, samples []sample) int {
	for _, s := range samples {
		rest, ok := s.Path, true
		for skip := 0; ok; skip++ {
			if _, err := fs.Stat(fsys, rest); err == nil {
				return skip
			}
			_, rest, ok = strings.Cut(rest, "/")
		}
	}
	return 1
}
