package run

import (
	"fmt"
	"strconv"

	"winnow/features"
)

// NewData returns the data of a program with its vectors in memory: a set to train on, with labels 0 … C-1 or
// [features.Unlabelled], and a set for validation, which may have no rows. The names of images and classes are their
// numbers.
func NewData(training, validation features.Set) (Data, error) {
	n, most := training.Len(), features.Unlabelled
	if n == 0 || len(training.Labels) != n || len(validation.Labels) != validation.Len() {
		return Data{}, fmt.Errorf("run: found %d vectors with %d labels, and %d with %d for validation, expected a "+
			"label for each and some to train on", n, len(training.Labels), validation.Len(), len(validation.Labels))
	}
	if validation.Len() > 0 && validation.Dim() != training.Dim() {
		return Data{}, fmt.Errorf("run: found vectors of %d values for validation, expected %d", validation.Dim(),
			training.Dim())
	}
	data := Data{Validation: validation}
	for i, label := range training.Labels {
		if label < features.Unlabelled {
			return Data{}, fmt.Errorf("run: row %d: found label %d, expected 0 or more, or %d for none", i, label,
				features.Unlabelled)
		}
		if label == features.Unlabelled {
			data.Unlabelled++
		}
		most = max(most, label)
	}
	training.IDs = listNumbersFrom(0, n)
	if validation.Len() > 0 {
		data.Validation.IDs = listNumbersFrom(n, validation.Len())
	}
	data.Train, data.Stored = training, training
	data.ClassIDs = listNumbersFrom(0, most+1)
	data.Classes, data.Paths = formatInts(data.ClassIDs), formatInts(listNumbersFrom(0, n+validation.Len()))
	return data, nil
}

// listNumbersFrom returns n numbers from the first: from, from+1, ….
func listNumbersFrom(from, n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = from + i
	}
	return list
}

func formatInts(list []int) []string {
	var out []string
	for _, i := range list {
		out = append(out, strconv.Itoa(i))
	}
	return out
}
