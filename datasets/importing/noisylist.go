package importing

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"winnow/datasets"
	"winnow/internal/regular"
)

// ReadListFile reads a training list released with PRISM, with lines "/data/…/folder/file.jpg,label". It returns nil if
// name is "".
//
// Source: Liu et al., "Noise-resistant deep metric learning with ranking-based instance selection", CVPR 2021. The
// statements about the lists below were verified on the lists themselves.
func ReadListFile(name string) (*datasets.Dataset, error) {
	if name == "" {
		return nil, nil
	}
	f, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readList(f, name)
}

func readList(r io.Reader, name string) (*datasets.Dataset, error) {
	return datasets.ReadManifest(r, name, datasets.ReadOptions{Format: datasets.PRISM, StripPrefix: "/"})
}

// joinNoisyList gives the training samples the labels of a list; their old labels become the true labels. Images are
// identified by folder and file name, because the start of the lists' paths differs by machine. Training samples
// missing in the list are left out: the "cleaned" lists are shorter.
//
// Lists with symmetric noise use the publisher's class numbers, from 1. Lists with small-cluster noise number the
// classes again from 0, because whole classes were dissolved: see nameIntactClasses.
func joinNoisyList(samples []sample, list *datasets.Dataset) (listed []sample, warnings []string, err error) {
	given, err := indexLabelsByFile(list)
	if err != nil {
		return nil, nil, err
	}
	names := make(map[int]string)       // class names by number
	trained := make(map[int]bool)       // classes of training samples
	labels := make([]int, len(samples)) // labels from the list; -1 for samples that are not in the list
	held := make(map[string]bool, len(given))
	for i, s := range samples {
		names[s.Class] = s.Label
		labels[i] = -1
		key := identifyFile(s.Path, s.Known)
		label, ok := given[key]
		if ok && held[key] {
			return nil, nil, fmt.Errorf("found two images %s, expected one that matches the list", key)
		}
		if ok && s.Split != datasets.Train {
			return nil, nil, fmt.Errorf("the list contains %s, which is in the split %s of this protocol: expected a "+
				"list of training images", s.Path, s.Split)
		}
		if s.Split == datasets.Train {
			trained[s.Class] = true
		}
		if ok {
			labels[i], held[key] = label, true
		}
	}
	if len(held) == 0 {
		return nil, nil, fmt.Errorf("found none of the list's %d images (the first is %s), expected a list of this "+
			"dataset", len(list.Samples), list.Samples[0].Path)
	}
	if missing := len(given) - len(held); missing > 0 {
		warnings = append(warnings, fmt.Sprintf("%d of the list's %d images are not in the dataset", missing,
			len(given)))
	}
	if list.Classes[0] == "0" {
		names = nameIntactClasses(samples, labels, names)
	} else {
		untrained, err := findUntrained(labels, names, trained)
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, untrained...)
	}
	for i, s := range samples {
		if s.Split == datasets.Train {
			if labels[i] < 0 {
				continue
			}
			s.Label, s.True = names[labels[i]], s.Label
		}
		listed = append(listed, s)
	}
	return listed, warnings, nil
}

// indexLabelsByFile returns a list's labels by folder and file name.
func indexLabelsByFile(list *datasets.Dataset) (map[string]int, error) {
	given := make(map[string]int, len(list.Samples))
	for _, s := range list.Samples {
		key := identifyFile(s.Path, "")
		label, err := strconv.Atoi(list.Classes[s.Label])
		if err != nil || label < 0 {
			return nil, fmt.Errorf("the list gives %s the label %q, expected a number from 0", s.Path,
				list.Classes[s.Label])
		}
		if was, twice := given[key]; twice && was != label {
			return nil, fmt.Errorf("the list gives %s the labels %d and %d", key, was, label)
		}
		given[key] = label
	}
	return given, nil
}

// identifyFile returns the folder and file name that identify an image.
func identifyFile(path, name string) string {
	if name != "" {
		return name
	}
	parts := strings.Split(path, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

// findUntrained checks the labels of a list. A label that is not a class is an error. A label that is no training class
// gives a warning: PRISM's CUB lists give some images the label 101.
func findUntrained(labels []int, names map[int]string, trained map[int]bool) (warnings []string, err error) {
	count := make(map[int]int)
	for _, label := range labels {
		if label < 0 {
			continue
		}
		if names[label] == "" {
			return nil, fmt.Errorf("the list gives the label %d, which is not the number of a class", label)
		}
		if !trained[label] {
			count[label]++
		}
	}
	for _, label := range slices.Sorted(maps.Keys(count)) {
		warnings = append(warnings, fmt.Sprintf("%d training image(s) have the label %d (%s), which is the true label "+
			"of no training image", count[label], label, names[label]))
	}
	return warnings, nil
}

// nameIntactClasses finds class names for the labels of small-cluster noise. Such a label combines one intact class
// with clusters of dissolved classes. It gets the name of the class whose images all have this label; of several such
// classes, the largest, then the one with the lowest number. If there is no such class, it gets the name of the class
// with most images in it. On the released CUB and CARS lists, this agrees with the "cleaned" lists in every label. On
// SOP, whose classes have as few as two images, it disagrees in 156 of 8,511 labels (noise 0.25) and 218 of 5,674
// (0.5), which the list does not determine. If a name is already used, the label is named "label N".
func nameIntactClasses(samples []sample, labels []int, names map[int]string) map[int]string {
	size := make(map[int]int)
	holds := make(map[int]map[int]int) // label → class → images
	for i, s := range samples {
		if s.Split != datasets.Train {
			continue
		}
		size[s.Class]++
		if labels[i] >= 0 {
			if holds[labels[i]] == nil {
				holds[labels[i]] = make(map[int]int)
			}
			holds[labels[i]][s.Class]++
		}
	}
	whole := func(n, class int) int {
		if n == size[class] {
			return 1
		}
		return 0
	}
	out := make(map[int]string)
	taken := make(map[int]bool)
	for _, label := range slices.Sorted(maps.Keys(holds)) {
		best, most := 0, 0
		for class, n := range holds[label] {
			if most == 0 || cmp.Or(cmp.Compare(whole(n, class), whole(most, best)), cmp.Compare(n, most),
				cmp.Compare(best, class)) > 0 {
				best, most = class, n
			}
		}
		out[label] = names[best]
		if taken[best] {
			out[label] = fmt.Sprintf("label %d", label)
		}
		taken[best] = true
	}
	return out
}
