package run_test

import (
	"slices"
	"strings"
	"testing"

	"winnow/features"
	"winnow/run"
)

func TestNewData(t *testing.T) {
	training, validation := features.NewSet(3, 2), features.NewSet(2, 2)
	copy(training.Labels, []int{2, features.Unlabelled, 0})
	data, err := run.NewData(training, validation)
	if err != nil {
		t.Fatal(err)
	}
	if data.Unlabelled != 1 || data.Views() != 1 || !slices.Equal(data.ClassIDs, []int{0, 1, 2}) ||
		!slices.Equal(data.Classes, []string{"0", "1", "2"}) ||
		!slices.Equal(data.Train.IDs, []int{0, 1, 2}) || !slices.Equal(data.Validation.IDs, []int{3, 4}) ||
		len(data.Paths) != 5 || data.Paths[4] != "4" {
		t.Errorf("%+v", data)
	}
	for want, sets := range map[string][2]features.Set{
		"0 training vectors with 0 labels":             {},
		"3 training vectors with 0 labels":             {{X: training.X}},
		"validation vectors have 5 values, expected 2": {training, features.NewSet(1, 5)},
		"row 1: label -2":                              {{X: training.X, Labels: []int{0, -2, 1}}},
	} {
		if _, err := run.NewData(sets[0], sets[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %s", err, want)
		}
	}
}
