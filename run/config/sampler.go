package config

import (
	"fmt"
	"strconv"
	"strings"

	"winnow/train"
)

// Names of the sampler's variants.
const (
	Groups  = "groups"
	Uniform = "uniform"
	Shuffle = "shuffle"
)

// Sampler is a [train.Sampling] as it is written: P classes with K images each, or any rows.
type Sampler struct {
	Variant string `yaml:"variant"` // groups, uniform or shuffle
	Classes int    `yaml:"classes"` // groups, uniform: P
	Images  int    `yaml:"images"`  // groups, uniform: K
	Rows    int    `yaml:"rows"`    // shuffle: of a batch

	// Balance is the power of its size by which a class is drawn: 0 as often as any other, 1 by size. groups and shuffle
	// have every image at any balance, those of small classes more than once, in a longer epoch.
	Balance float64 `yaml:"balance"`

	// Views is how many views of each image a batch shows, which are positives of each other: 1, or 2 as SupCon has them. Where
	// images do not vary there is one.
	Views int `yaml:"views"`

	Unlabelled int `yaml:"unlabelled"` // rows without a label that every batch gets besides
}

// DefaultSampler returns a variant with its usual size; an unknown one is left for [Sampler.Sampling] to complain about.
func DefaultSampler(variant string) Sampler {
	if variant == Shuffle {
		return Sampler{Variant: variant, Rows: 128, Balance: 1, Views: 1}
	}
	s := Sampler{Variant: variant, Classes: 16, Images: 4, Views: 1}
	if variant == Groups {
		s.Balance = 1
	}
	return s
}

// mostViews bounds the views of an image in a batch.
const mostViews = 16

// IsUsual reports whether classes are drawn as the variant draws them where no balance is given.
func (s Sampler) IsUsual() bool { return s.Balance == DefaultSampler(s.Variant).Balance }

// Sampling returns the sampling that is meant, and refuses numbers that belong to another.
func (s Sampler) Sampling() (train.Sampling, error) {
	switch {
	case s.Views < 0 || s.Views > mostViews:
		return nil, fmt.Errorf("train: sampler: %d views of an image, expected 1 to %d", s.Views, mostViews)
	case s.Variant != Groups && s.Variant != Uniform && s.Variant != Shuffle:
		return nil, fmt.Errorf("train: sampler: variant is %q, expected %s, %s or %s", s.Variant, Groups, Uniform, Shuffle)
	case s.Variant == Shuffle && (s.Classes != 0 || s.Images != 0):
		return nil, fmt.Errorf("train: sampler: %d classes of %d images, and %s draws rows: expected only how many rows", s.Classes, s.Images, Shuffle)
	case s.Variant == Shuffle && s.Rows < 1:
		return nil, fmt.Errorf("train: sampler: batches of %d rows, expected at least 1", s.Rows)
	case s.Variant == Shuffle:
		return train.Shuffle{Rows: s.Rows, Unlabelled: s.Unlabelled, Balance: &s.Balance}, nil
	case s.Rows != 0:
		return nil, fmt.Errorf("train: sampler: batches of %d rows, and %s draws classes: expected how many, and images of each", s.Rows, s.Variant)
	case s.Classes < 1 || s.Images < 1:
		return nil, fmt.Errorf("train: sampler: %d classes of %d images, expected at least 1 of 1", s.Classes, s.Images)
	case s.Variant == Uniform:
		return train.Uniform{Classes: s.Classes, Images: s.Images, Unlabelled: s.Unlabelled, Balance: &s.Balance}, nil
	}
	return train.Groups{Classes: s.Classes, Images: s.Images, Unlabelled: s.Unlabelled, Balance: &s.Balance}, nil
}

// New prepares the draws from the rows 0 … len(labels)-1.
func (s Sampler) New(labels []int, seed uint64) (*train.Sampler, error) {
	how, err := s.Sampling()
	if err != nil {
		return nil, err
	}
	made, err := train.NewSampler(how, labels, seed)
	if err == nil {
		made.ShowViews(max(s.Views, 1))
	}
	return made, err
}

// SetBatch reads PxK, or N rows where the variant draws rows.
func (s *Sampler) SetBatch(text string) (err error) {
	of := Sampler{Variant: s.Variant, Unlabelled: s.Unlabelled, Balance: s.Balance, Views: s.Views}
	if s.Variant == Shuffle {
		if of.Rows, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("found %q, expected a number of images, as the sampler is %s", text, s.Variant)
		}
		*s = of
		return nil
	}
	p, k, ok := strings.Cut(strings.ReplaceAll(text, "×", "x"), "x")
	var err1, err2 error
	of.Classes, err1 = strconv.Atoi(p)
	of.Images, err2 = strconv.Atoi(k)
	if !ok || err1 != nil || err2 != nil {
		return fmt.Errorf("found %q, expected classes x images, for example 16x4", text)
	}
	*s = of
	return nil
}
