package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/run/config"
	"winnow/train"
)

// Every variant has its own type, and refuses settings of others.
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
	for _, c := range []struct {
		config.Sampler
		want string
	}{
		{config.Sampler{Variant: "random", Classes: 2, Images: 2},
			`found the variant "random", expected groups, uniform or shuffle`},
		{config.Sampler{Variant: config.Shuffle, Classes: 2, Images: 2, Rows: 4},
			"found 2 classes of 2 images, but shuffle draws rows: expected only rows"},
		{config.Sampler{Variant: config.Uniform, Classes: 2, Images: 2, Rows: 4},
			"found batches of 4 rows, but uniform draws classes: expected classes and images"},
	} {
		if _, err := c.New([]int{0}, 0); err == nil || err.Error() != "train: sampler: "+c.want {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
