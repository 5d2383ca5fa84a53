package published

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"winnow/datasets"
)

// Join gives the training images of a clean manifest the labels of one of PRISM's training lists, as a preset does
// with Options.Given. If all class names are integers, they are the list's numbers; otherwise the classes are
// numbered from 1 in the order of their names, as PRISM numbered the folders of CUB and CARS196.
func Join(clean, list *datasets.Dataset) (*Result, error) {
	numbers, err := classNumbers(clean.Classes)
	if err != nil {
		return nil, err
	}
	name := func(id int) string {
		if id == datasets.Unlabelled {
			return ""
		}
		return clean.Classes[id]
	}
	samples := make([]sample, len(clean.Samples))
	for i, s := range clean.Samples {
		if s.Label == datasets.Unlabelled {
			if s.Split == datasets.Train {
				return nil, fmt.Errorf("training image %s has no label, expected one: it becomes the true one", s.Path)
			}
		} else {
			samples[i].Class = numbers[s.Label]
		}
		if s.Split == datasets.Train && s.True != datasets.Unlabelled && s.True != s.Label {
			return nil, fmt.Errorf("training image %s has the label %q and the true label %q, expected a clean "+
				"manifest", s.Path, name(s.Label), name(s.True))
		}
		samples[i].Path, samples[i].Label, samples[i].True, samples[i].Split, samples[i].Extra = s.Path,
			name(s.Label), name(s.True), s.Split, s.Extra
	}
	j, err := joinNoisyList(samples, list)
	if err != nil {
		return nil, err
	}
	if len(j.samples) == 0 {
		return nil, errors.New("no image is left")
	}
	return &Result{Dataset: assembleDataset(j.samples, clean.Columns), NotListed: len(samples) - len(j.samples),
		Warnings: j.warnings}, nil
}

// classNumbers numbers classes: by their names if these are integers, otherwise by their position among the names.
func classNumbers(names []string) ([]int, error) {
	numbers := make([]int, len(names))
	for i, name := range names {
		n, err := strconv.Atoi(name)
		if err != nil {
			return rankNames(names), nil
		}
		numbers[i] = n
	}
	sorted := slices.Sorted(slices.Values(numbers))
	if len(slices.Compact(sorted)) < len(names) {
		return nil, errors.New("several class names are the same number")
	}
	return numbers, nil
}

func rankNames(names []string) []int {
	sorted := slices.Sorted(slices.Values(names))
	numbers := make([]int, len(names))
	for i, name := range names {
		k, _ := slices.BinarySearch(sorted, name)
		numbers[i] = k + 1
	}
	return numbers
}
