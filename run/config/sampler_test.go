package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/run/config"
	"winnow/train"
)

// Every variant has its own type and refuses settings of other variants.
func TestSampling(t *testing.T) {
	for s, want := range map[config.Sampler]train.Sampling{
		{Variant: config.Groups, Classes: 3, Images: 2}: train.Groups{Classes: 3, Images: 2},
		{Variant: config.Uniform, Classes: 3, Images: 2, Unlabelled: 4}: train.Uniform{Classes: 3, Images: 2,
			Unlabelled: 4},
		config.DefaultSampler(config.Shuffle): train.Shuffle{Rows: 128},
		config.DefaultSampler(config.Groups):  train.Groups{Classes: 16, Images: 4},
		config.DefaultSampler(config.Uniform): train.Uniform{Classes: 16, Images: 4},
	} {
		if got, err := s.Sampling(); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%+v: %#v, %v", s, got, err)
		}
	}
}
