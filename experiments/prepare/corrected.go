package main

import (
	"encoding/json"
	"fmt"
	"os"

	"winnow/datasets"
)

// readVotes reads the votes of people on suspects among the test images: by an image's number, the label that more than
// half of them chose, or datasets.Unlabelled if there is none. winnow data import does the same for whole test sets.
func readVotes(path string) (map[int]int, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var suspects []struct {
		ID      int            `json:"id"`
		Given   int            `json:"given_original_label"`
		Guessed int            `json:"our_guessed_label"`
		Votes   map[string]int `json:"mturk"`
	}
	if err := json.Unmarshal(data, &suspects); err != nil {
		return nil, fmt.Errorf("prepare: %s: %w", path, err)
	}
	right := map[int]int{}
	for _, s := range suspects {
		all := 0
		for _, n := range s.Votes {
			all += n
		}
		switch {
		case all == 0 || s.Given < 0 || s.Guessed < 0 || s.Given >= len(cifarClasses) || s.Guessed >= len(cifarClasses):
			return nil, fmt.Errorf("prepare: %s: image %d: found labels %d and %d and %d votes, expected labels 0 "+
				"to 9 and some votes", path, s.ID, s.Given, s.Guessed, all)
		case 2*s.Votes["given"] > all:
			right[s.ID] = s.Given
		case 2*s.Votes["guessed"] > all:
			right[s.ID] = s.Guessed
		default:
			right[s.ID] = datasets.Unlabelled
		}
	}
	return right, nil
}

// correctTest gives test images, which follow the others in their order, their corrected labels.
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
