package config

import (
	"testing"

	"winnow/train"
)

// Every variant becomes a type of its own, and numbers that belong to another are refused.
func TestSampling(t *testing.T) {
	for s, want := range map[Sampler]train.Sampling{
		{Variant: Groups, Classes: 3, Images: 2}:                 train.Groups{Classes: 3, Images: 2},
		{Variant: Uniform, Classes: 3, Images: 2, Unlabelled: 4}: train.Uniform{Classes: 3, Images: 2, Unlabelled: 4},
		{Variant: Shuffle, Rows: 9}:                              train.Shuffle{Rows: 9},
		DefaultSampler(Shuffle):                                  train.Shuffle{Rows: 128},
	} {
		if got, err := s.Sampling(); err != nil || got != want {
			t.Errorf("%+v: %#v, %v", s, got, err)
		}
	}
	for s, want := range map[Sampler]string{
		{Variant: "random", Classes: 2, Images: 2}:         `train: sampler: variant is "random", expected groups, uniform or shuffle`,
		{Variant: Shuffle, Classes: 2, Images: 2, Rows: 4}: "train: sampler: 2 classes of 2 images, and shuffle draws rows: expected only how many rows",
		{Variant: Uniform, Classes: 2, Images: 2, Rows: 4}: "train: sampler: batches of 4 rows, and uniform draws classes: expected how many, and images of each",
	} {
		if _, err := s.New([]int{0}, 0); err == nil || err.Error() != want {
			t.Errorf("%+v: %v, expected %s", s, err, want)
		}
	}
}
