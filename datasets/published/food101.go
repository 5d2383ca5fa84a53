package published

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"winnow/datasets"
)

// food101 is Food-101: 1,000 images of each of 101 dishes. Classes are numbered in the order of their names.
// Source: Bossard, Guillaumin, Van Gool, "Food-101 – Mining Discriminative Components with Random Forests", ECCV 2014.
var food101 = Preset{
	Name: "food101", Title: "Food-101 (Bossard et al. 2014)", Files: []string{"meta/train.txt", "meta/test.txt"},
	Default: Official, Read: func(fsys fs.FS, _ Options) ([]sample, error) { return readFood101(fsys) },
	Protocols: map[string]Protocol{
		Official: {Note: "750 pictures of each class train, 250 test",
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
	var samples []sample
	for _, part := range []struct{ name, split string }{{"meta/train.txt", datasets.Train},
		{"meta/test.txt", datasets.Test}} {
		err := eachLine(fsys, func(_ int, line string) error {
			s, err := foodSample(names, line)
			if err != nil {
				return err
			}
			s.Path, s.Split = s.Path+".jpg", part.split
			samples = append(samples, s)
			return nil
		}, part.name)
		if err != nil {
			return nil, err
		}
	}
	return samples, nil
}

// foodSample returns the image of a key such as apple_pie/1005649, with the class before the slash.
func foodSample(names map[string]int, key string) (sample, error) {
	class, _, ok := strings.Cut(key, "/")
	if !ok {
		return sample{}, fmt.Errorf("%.80q is not of the form class/image", key)
	}
	if names[class] == 0 {
		return sample{}, fmt.Errorf("class %.80q is not in meta/classes.txt", class)
	}
	p := "images/" + key
	if err := inRoot(p); err != nil {
		return sample{}, err
	}
	return sample{Path: p, Class: names[class], Label: class}, nil
}

// readClasses numbers the names of a list from 1, in alphabetical order. Food-101N's list has a header.
func readClasses(fsys fs.FS, list string) (map[string]int, error) {
	var order []string
	err := eachLine(fsys, func(number int, line string) error {
		if number > 1 || line != "class_name" {
			order = append(order, line)
		}
		return nil
	}, list)
	if err != nil {
		return nil, err
	}
	slices.Sort(order)
	names := make(map[string]int, len(order))
	for i, name := range order {
		if names[name] != 0 {
			return nil, fmt.Errorf("%s: class %.80q appears twice", list, name)
		}
		names[name] = i + 1
	}
	return names, nil
}
