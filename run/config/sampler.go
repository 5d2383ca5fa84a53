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

// Sampler holds the settings of a [train.Sampling]: batches of P classes with K images each, or of any rows.
type Sampler struct {
	Variant string `yaml:"variant"` // groups, uniform or shuffle
	Classes int    `yaml:"classes"` // groups, uniform: P
	Images  int    `yaml:"images"`  // groups, uniform: K
	Rows    int    `yaml:"rows"`    // shuffle: number of rows of a batch

	// Views is the number of views of each image in a batch, which are positives of each other: 1, or 2 as in SupCon.
	// Without augmentation or stored views, the run uses 1.
	Views int `yaml:"views"`

	Unlabelled int `yaml:"unlabelled"` // additional rows without a label in every batch
}

// DefaultSampler returns a variant with its default size. [Sampler.Sampling] refuses unknown variants.
func DefaultSampler(variant string) Sampler {
	if variant == Shuffle {
		return Sampler{Variant: variant, Rows: 128, Views: 1}
	}
	return Sampler{Variant: variant, Classes: 16, Images: 4, Views: 1}
}

// mostViews is the largest number of views of an image in a batch.
const mostViews = 16

// Sampling returns the sampling, or an error for settings of another variant.
func (s Sampler) Sampling() (train.Sampling, error) {
	switch {
	case s.Views < 0 || s.Views > mostViews:
		return nil, fmt.Errorf("train: sampler: %d views of an image, expected 1 to %d", s.Views, mostViews)
	case s.Variant != Groups && s.Variant != Uniform && s.Variant != Shuffle:
		return nil, fmt.Errorf("train: sampler: found the variant %q, expected %s, %s or %s", s.Variant, Groups,
			Uniform, Shuffle)
	case s.Variant == Shuffle && (s.Classes != 0 || s.Images != 0):
		return nil, fmt.Errorf("train: sampler: found %d classes of %d images, but %s draws rows: expected only rows",
			s.Classes, s.Images, Shuffle)
	case s.Variant == Shuffle && s.Rows < 1:
		return nil, fmt.Errorf("train: sampler: batches of %d rows, expected at least 1", s.Rows)
	case s.Variant == Shuffle:
		return train.Shuffle{Rows: s.Rows, Unlabelled: s.Unlabelled}, nil
	case s.Rows != 0:
		return nil, fmt.Errorf("train: sampler: found batches of %d rows, but %s draws classes: expected classes and "+
			"images", s.Rows, s.Variant)
	case s.Classes < 1 || s.Images < 1:
		return nil, fmt.Errorf("train: sampler: %d classes of %d images, expected at least 1×1", s.Classes, s.Images)
	case s.Variant == Uniform:
		return train.Uniform{Classes: s.Classes, Images: s.Images, Unlabelled: s.Unlabelled}, nil
	}
	return train.Groups{Classes: s.Classes, Images: s.Images, Unlabelled: s.Unlabelled}, nil
}

// New returns a sampler of the rows 0 … len(labels)-1.
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

// SetBatch parses a batch size: PxK, or a number of rows if the variant is shuffle.
func (s *Sampler) SetBatch(text string) (err error) {
	of := *s
	of.Classes, of.Images, of.Rows = 0, 0, 0
	if s.Variant == Shuffle {
		if of.Rows, err = strconv.Atoi(text); err != nil {
			return fmt.Errorf("found %q, expected a number of images, because the sampler is %s", text, s.Variant)
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
