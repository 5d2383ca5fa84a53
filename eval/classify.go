package eval

import (
	"errors"
	"fmt"
	"slices"

	"winnow/features"
)

// ErrNoSharedClass reports that a classifier cannot be measured, because no test row has a class that the classifier
// was fitted on. This is normal if train and test have different classes by design.
var ErrNoSharedClass = errors.New("no class is in both sets")

// Accuracy measures how often a classifier fitted on one set predicts the class of another set's rows. A row whose
// class is not in the first set cannot be predicted correctly. Such a row is left out and counted in Unseen or, on
// request, counted as wrong.
type Accuracy struct {
	Accuracy float64 `json:"accuracy"`
	N        int     `json:"n"` // number of test rows used
	Unseen   int     `json:"unseen"`
	Fitted   int     `json:"fitted_on"` // number of fitted rows
	Classes  int     `json:"classes"`   // number of classes in the fitted rows
}

// scorePredicted compares predicted classes with the labels of test. Both sets have labelled rows only.
func scorePredicted(predicted []int, train, test features.Set, classes []int, countUnseen bool) Accuracy {
	a := Accuracy{Fitted: train.Len(), Classes: len(classes)}
	right := 0.0
	for i, label := range test.Labels {
		if _, seen := slices.BinarySearch(classes, label); !seen {
			a.Unseen++
			if !countUnseen {
				continue
			}
		}
		a.N++
		if predicted[i] == label {
			right++
		}
	}
	a.Accuracy = shareOfWhole(right, a.N)
	return a
}

func notFinite(v float32) bool { return v-v != 0 }

// classesOf lists the distinct labels in ascending order and returns the index of each row's label in that list.
func classesOf(labels []int) (classes, of []int) {
	classes = slices.Clone(labels)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	of = make([]int, len(labels))
	for i, label := range labels {
		of[i], _ = slices.BinarySearch(classes, label)
	}
	return classes, of
}

// fittableRows returns the labelled rows of both sets, or an error if no classifier can be measured with them.
func fittableRows(what string, train, test features.Set) (features.Set, features.Set, error) {
	train, test = keepLabelled(train), keepLabelled(test)
	if train.Len() == 0 || test.Len() == 0 {
		return train, test, fmt.Errorf("eval: %s: found %d labelled rows to fit on and %d to test on, expected at "+
			"least one of each", what, train.Len(), test.Len())
	}
	if train.Dim() != test.Dim() {
		return train, test, fmt.Errorf("eval: %s: rows to test on have %d dimensions, expected %d as in fitting",
			what, test.Dim(), train.Dim())
	}
	for _, of := range []struct {
		name string
		features.Set
	}{{"fit", train}, {"test", test}} {
		for i := range of.Len() {
			if slices.ContainsFunc(of.Row(i), notFinite) {
				return train, test, fmt.Errorf("eval: %s: row %d of the rows to %s on contains NaN or infinity",
					what, i, of.name)
			}
		}
	}
	classes, _ := classesOf(train.Labels)
	for _, label := range test.Labels {
		if _, seen := slices.BinarySearch(classes, label); seen {
			return train, test, nil
		}
	}
	return train, test, fmt.Errorf("eval: %s: %d rows to fit on, %d to test on: %w", what, train.Len(), test.Len(),
		ErrNoSharedClass)
}
