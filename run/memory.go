package run

import (
	"fmt"
	"strconv"

	"winnow/features"
)

// NewData returns the data of a training from vectors in memory: a set to train on, with labels 0 … C-1 or
// [features.Unlabelled], and a set for validation, which may be empty. Images and classes are named by their numbers.
func NewData(training, validation features.Set) (Data, error) {
	n, most := training.Len(), features.Unlabelled
	if n == 0 || len(training.Labels) != n || len(validation.Labels) != validation.Len() {
		return Data{}, fmt.Errorf("run: found %d training vectors with %d labels, %d validation vectors with %d, "+
			"expected one label for each vector, and at least one training vector", n, len(training.Labels),
			validation.Len(), len(validation.Labels))
	}
	if validation.Len() > 0 && validation.Dim() != training.Dim() {
		return Data{}, fmt.Errorf("run: the validation vectors have %d values, expected %d as for training",
			validation.Dim(), training.Dim())
	}
	data := Data{Validation: validation}
	for i, label := range training.Labels {
		if label < features.Unlabelled {
			return Data{}, fmt.Errorf("run: row %d: label %d, expected 0 or more, or %d for no label", i, label,
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

// listNumbersFrom returns the n numbers from, from+1, ….
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
