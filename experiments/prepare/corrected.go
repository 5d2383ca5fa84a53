package main

import (
	"fmt"
	"os"

	"winnow/datasets"
	"winnow/datasets/importing"
)

// readVotes reads people's votes on suspects among the test images. It maps an image's number to the label that more
// than half of the people chose, or to datasets.Unlabelled without a majority.
func readVotes(path string) (map[int]int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	right, err := importing.Votes(data)
	if err != nil {
		return nil, fmt.Errorf("prepare: %s: %w", path, err)
	}
	for image, label := range right {
		if label != datasets.Unlabelled && (label < 0 || label >= len(cifarClasses)) {
			return nil, fmt.Errorf("prepare: %s: image %d: found the label %d, expected 0 to %d", path, image, label,
				len(cifarClasses)-1)
		}
	}
	return right, nil
}

// correctTest replaces the labels of test images by their corrected labels. The test images come last, in their order.
func correctTest(d *datasets.Dataset, right map[int]int) {
	n := 0
	for i := range d.Samples {
		s := &d.Samples[i]
		if s.Split != datasets.Test {
			continue
		}
		if label, suspect := right[n]; suspect {
			s.Label, s.True = label, label
		}
		n++
	}
}
