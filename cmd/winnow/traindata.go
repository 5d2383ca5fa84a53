package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/features"
)

// trainData is what a training run sees of a dataset and its features. True labels are not in it.
type trainData struct {
	Train      features.Set // stored features, not normalised; classes numbered 0 … without gaps; IDs are positions in the dataset
	Validation features.Set // labels are the dataset's class ids; no rows where there is no such split
	Classes    []string     // name of each class of Train
	Paths      []string     // of the whole dataset, by position
	LeftOut    []leftOut    // images of the two splits that could not be read
	Unlabelled int          // rows of Train without a label: whitening uses them, training does not
	Sum        string       // sha256 of which images and labels these are
	Key        features.Key // of the store
	StoreSum   string       // sha256 of the features
}

type leftOut struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// joinTrainData finds the features of the train and validation splits by path.
func joinTrainData(d *datasets.Dataset, s *features.Store) (trainData, error) {
	t := trainData{Paths: d.Paths(), Key: s.Key, StoreSum: s.Sum}
	sum := sha256.New()
	bad := s.BadRows()
	read := func(split string) (features.Set, error) {
		var rows []int
		set := features.Set{Labels: []int{}, IDs: []int{}}
		at := d.Select(split)
		paths := make([]string, len(at))
		for i, id := range at {
			paths[i] = d.Samples[id].Path
		}
		found, missing := s.Lookup(paths)
		if len(missing) > 0 {
			err := fmt.Errorf("train: features %s: %d of the %d %s images are not in the store, the first is %q", s.Dir, len(missing), len(at), split, missing[0])
			return set, withHint(err, "make the features from this manifest: winnow extract")
		}
		for i, id := range at {
			if reason, ok := bad[found[i]]; ok {
				t.LeftOut = append(t.LeftOut, leftOut{paths[i], reason})
				continue
			}
			label := d.Samples[id].Label
			fmt.Fprintf(sum, "%s\t%q\t%d\n", split, paths[i], label)
			rows = append(rows, found[i])
			set.Labels, set.IDs = append(set.Labels, label), append(set.IDs, id)
		}
		if len(rows) == 0 {
			return set, nil
		}
		x, err := s.Read(rows)
		set.X = x
		return set, err
	}
	var err error
	if t.Train, err = read(datasets.Train); err != nil {
		return t, err
	}
	if t.Validation, err = read(datasets.Validation); err != nil {
		return t, err
	}
	t.Sum = hex.EncodeToString(sum.Sum(nil))
	t.number(d.Classes)
	return t, t.check()
}

// number gives the classes of the train split ids without gaps, in the order of the dataset's ids.
func (t *trainData) number(names []string) {
	present := slices.Clone(t.Train.Labels)
	slices.Sort(present)
	ids := map[int]int{}
	for _, label := range slices.Compact(present) {
		if label != datasets.Unlabelled {
			ids[label] = len(t.Classes)
			t.Classes = append(t.Classes, names[label])
		}
	}
	for i, label := range t.Train.Labels {
		if label == datasets.Unlabelled {
			t.Train.Labels[i] = features.Unlabelled
			t.Unlabelled++
			continue
		}
		t.Train.Labels[i] = ids[label]
	}
}

// check refuses data that nothing can be learned from.
func (t *trainData) check() error {
	switch n := t.Train.Len(); {
	case n == 0 && len(t.LeftOut) > 0:
		return fmt.Errorf("train: none of the images of the train split could be read, the first is %q: %s", t.LeftOut[0].Path, t.LeftOut[0].Reason)
	case n == 0:
		return fmt.Errorf("train: the manifest has no images in the split %q", datasets.Train)
	case len(t.Classes) == 0:
		return fmt.Errorf("train: none of the %d images of the train split has a label", n)
	case len(t.Classes) == 1:
		return fmt.Errorf("train: the train split has one class, %q: expected at least two, as there is nothing to tell apart", t.Classes[0])
	}
	if i, ok := nonFiniteRow(t.Train.X); ok {
		return fmt.Errorf("train: %s: its features are not finite numbers: extract them again", t.Paths[t.Train.IDs[i]])
	}
	if i, ok := nonFiniteRow(t.Validation.X); ok {
		return fmt.Errorf("train: %s: its features are not finite numbers: extract them again", t.Paths[t.Validation.IDs[i]])
	}
	return nil
}

// nonFiniteRow finds a row that holds NaN or an infinite number.
func nonFiniteRow(x blas32.General) (int, bool) {
	for i := range x.Rows {
		for _, v := range features.Row(x, i) {
			if v-v != 0 {
				return i, true
			}
		}
	}
	return 0, false
}
