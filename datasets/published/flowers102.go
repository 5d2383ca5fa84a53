package published

import (
	"fmt"
	"io/fs"
	"math"
	"strconv"

	"winnow/datasets"
	"winnow/datasets/matfile"
)

// flowers102 is Oxford's 102 Category Flower Dataset: jpg/ as its archive unpacks, imagelabels.mat next to it, and
// setid.mat for the official split. The classes have numbers but no names. No paper states the halves; their counts
// are those of the published labels.
//
// Source: Nilsback and Zisserman, "Automated flower classification over a large number of classes", ICVGIP 2008.
var flowers102 = Preset{
	Name: "flowers102", Title: "Oxford 102 Flowers (Nilsback and Zisserman 2008)",
	Files:   []string{"imagelabels.mat", "setid.mat", "jpg"},
	Default: half, Read: readFlowers,
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
	labels, err := readIntegerRow(fsys, "imagelabels.mat", "labels", 102)
	if err != nil {
		return nil, err
	}
	list := make([]sample, len(labels))
	for i, class := range labels {
		list[i] = sample{Path: fmt.Sprintf("jpg/image_%05d.jpg", i+1), Class: class, Label: strconv.Itoa(class)}
	}
	if opts.Protocol != Official {
		return list, nil
	}
	for _, set := range []struct{ name, split string }{{"trnid", datasets.Train}, {"valid", datasets.Validation},
		{"tstid", datasets.Test}} {
		images, err := readIntegerRow(fsys, "setid.mat", set.name, len(list))
		if err != nil {
			return nil, err
		}
		for _, n := range images {
			if was := list[n-1].Split; was != "" {
				return nil, fmt.Errorf("setid.mat: image %d is in %s and %s", n, was, set.split)
			}
			list[n-1].Split = set.split
		}
	}
	return list, nil
}

// readIntegerRow reads a variable of integers from 1 to high.
func readIntegerRow(fsys fs.FS, file, name string, high int) ([]int, error) {
	if !hasFile(fsys, file) {
		return nil, refuseMissingFiles(file)
	}
	list, err := matfile.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	a := matfile.Find(list, name)
	if a == nil || len(a.Numbers) == 0 {
		return nil, fmt.Errorf("%s: found no numbers named %s", file, name)
	}
	row := make([]int, len(a.Numbers))
	for i, v := range a.Numbers {
		if v != math.Trunc(v) || v < 1 || v > float64(high) {
			return nil, fmt.Errorf("%s: %s: element %d is %v, expected an integer from 1 to %d", file, name, i+1, v,
				high)
		}
		row[i] = int(v)
	}
	return row, nil
}
