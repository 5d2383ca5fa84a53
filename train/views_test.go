package train_test

import (
	"slices"
	"testing"

	"winnow/train"
)

// Batches with several views have the same rows as batches without views, repeated once per view. All labelled rows
// come before the unlabelled rows.
func TestSamplerShowsViews(t *testing.T) {
	labels := []int{0, 0, 0, 1, 1, 1, 2, 2, 2, -1, -1, -1}
	for _, how := range []train.Sampling{train.Groups{Classes: 2, Images: 2, Unlabelled: 2},
		train.Uniform{Classes: 3, Images: 1},
		train.Shuffle{Rows: 4, Unlabelled: 1}} {
		one, err := train.NewSampler(how, labels, 5)
		if err != nil {
			t.Fatal(err)
		}
		two, err := train.NewSampler(how, labels, 5)
		if err != nil {
			t.Fatal(err)
		}
		two.ShowViews(2)
		if two.Batches() != one.Batches() || two.Size() != 2*one.Size() || two.Labelled() != 2*one.Labelled() ||
			two.Images() != one.Size() {
			t.Errorf("%T: %d batches of %d rows, %d with a label, of %d images", how, two.Batches(), two.Size(),
				two.Labelled(), two.Images())
		}
		for e := range 2 {
			for b, batch := range two.Epoch(e) {
				once := one.Epoch(e)[b]
				known := one.Labelled()
				want := slices.Concat(once[:known], once[:known], once[known:], once[known:])
				if !slices.Equal(batch, want) {
					t.Errorf("%T: batch %v, expected %v", how, batch, want)
				}
			}
		}
	}
}
