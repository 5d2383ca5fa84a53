package importing

import (
	"encoding/json"
	"fmt"

	"winnow/datasets"
)

// correctedColumn is the column with the published label of a test image.
const correctedColumn = "published_label"

// noLabel marks an image that has no single right label.
const noLabel = -1

// correctLabels replaces the published labels of test images by corrected labels and keeps the published labels in a
// column. An image without a single right label becomes unlabelled and is not evaluated.
//
// The file comes from the label-errors project. It holds people's votes on suspects as JSON: the image's number in the
// test set (the first image has the number first), its given and guessed label, and the votes for given, guessed, both
// and neither.
// Source: Northcutt, Athalye, Mueller, "Pervasive Label Errors in Test Sets Destabilize Machine Learning Benchmarks",
// NeurIPS Datasets and Benchmarks 2021.
func correctLabels(samples []sample, file File, first int, opts Options) error {
	names := make(map[int]string)
	var test []int
	for i := range samples {
		s := &samples[i]
		if s.Split == datasets.Test {
			test, names[s.Class] = append(test, i), s.Label
			s.Extra = append(s.Extra[:len(s.Extra):len(s.Extra)], s.Label)
		} else {
			s.Extra = append(s.Extra[:len(s.Extra):len(s.Extra)], "")
		}
	}
	published := make([]int, len(test))
	for k, i := range test {
		published[k] = samples[i].Class
	}
	right, note, err := readVotes(file.Data, published, first)
	if err != nil {
		return fmt.Errorf("%s: %w", file.Name, err)
	}
	for k, class := range right {
		s := &samples[test[k]]
		name, ok := names[class]
		if !ok && class != noLabel {
			return fmt.Errorf("%s: image %d: label %d is not in the test set", file.Name, k, class)
		}
		if s.Label = name; class != noLabel {
			s.Class = class
		}
	}
	opts.noteObservation("test: %s", note)
	return nil
}

// suspect is a test image whose label was doubted by a model, with people's votes on it.
type suspect struct {
	ID      *int           `json:"id"`
	Given   *int           `json:"given_original_label"`
	Guessed *int           `json:"our_guessed_label"`
	Votes   map[string]int `json:"mturk"`
}

// findMajorityLabel returns the label with more than half of the votes, or noLabel. If the guess equals the given
// label, as for some MNIST images, the votes for both are added.
func (s suspect) findMajorityLabel() int {
	given, guessed, total := s.Votes["given"], s.Votes["guessed"], 0
	for _, n := range s.Votes {
		total += n
	}
	if *s.Given == *s.Guessed {
		given, guessed = given+guessed, 0
	}
	switch {
	case 2*given > total:
		return *s.Given
	case 2*guessed > total:
		return *s.Guessed
	}
	return noLabel
}

// readVotes reads the votes on suspects and returns the right labels by position in the test set.
func readVotes(data []byte, published []int, first int) (map[int]int, string, error) {
	var list []suspect
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, "", fmt.Errorf("expected the label-errors project's JSON: %w", err)
	}
	right := make(map[int]int, len(list))
	kept, changed, without := 0, 0, 0
	for i, s := range list {
		if s.ID == nil || s.Given == nil || s.Guessed == nil || len(s.Votes) == 0 {
			return nil, "", fmt.Errorf("element %d: expected id, given_original_label, our_guessed_label and mturk", i)
		}
		at := *s.ID - first
		if at < 0 || at >= len(published) || published[at] != *s.Given {
			return nil, "", fmt.Errorf("element %d: image %d does not have the label %d here: the file is for another "+
				"dataset or another order", i, *s.ID, *s.Given)
		}
		label := s.findMajorityLabel()
		right[at] = label
		switch label {
		case *s.Given:
			kept++
		case noLabel:
			without++
		default:
			changed++
		}
	}
	return right, fmt.Sprintf("of %d suspects %d keep their label, %d get another label, %d have no single right "+
		"label and are not evaluated", len(list), kept, changed, without), nil
}
