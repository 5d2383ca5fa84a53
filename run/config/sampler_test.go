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
		{Variant: config.Groups, Classes: 3, Images: 2}: train.Groups{Classes: 3, Images: 2,
			Balance: new(0.0)},
		{Variant: config.Uniform, Classes: 3, Images: 2, Unlabelled: 4}: train.Uniform{Classes: 3, Images: 2,
			Unlabelled: 4,
			Balance:    new(0.0)},
		{Variant: config.Shuffle, Rows: 9, Balance: 0.5}: train.Shuffle{Rows: 9, Balance: new(0.5)},
		config.DefaultSampler(config.Shuffle):            train.Shuffle{Rows: 128, Balance: new(1.0)},
		config.DefaultSampler(config.Groups): train.Groups{Classes: 16, Images: 4,
			Balance: new(1.0)},
		config.DefaultSampler(config.Uniform): train.Uniform{Classes: 16, Images: 4,
			Balance: new(0.0)},
	} {
		if got, err := s.Sampling(); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%+v: %#v, %v", s, got, err)
		}
	}
}

// A balance survives --batch and YAML, belongs to its variant, and is part of the identity if it is not the default.
func TestBalance(t *testing.T) {
	for _, c := range []struct {
		set   []string
		want  float64
		usual bool
	}{
		{nil, 1, true},
		{[]string{"sampler.balance=0.5"}, 0.5, false},
		{[]string{"sampler.variant=uniform"}, 0, true},
		{[]string{"sampler.balance=0.25", "sampler.variant=uniform"}, 0.25, false},
		{[]string{"sampler.variant=shuffle"}, 1, true},
		{[]string{"method=co-teaching"}, 1, true},
	} {
		cfg, err := config.Parse("", nil, c.set)
		if err != nil {
			t.Fatal(err)
		}
		batch := "8x2"
		if cfg.Sampler.Variant == config.Shuffle {
			batch = "16"
		}
		if err := cfg.Sampler.SetBatch(batch); err != nil {
			t.Fatal(err)
		}
		if cfg.Sampler.Balance != c.want || cfg.Sampler.IsUsual() != c.usual {
			t.Errorf("%v: %+v, expected balance %v", c.set, cfg.Sampler, c.want)
		}
		text, err := config.Marshal(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if back, err := config.Parse("back", text, nil); err != nil || back.Sampler != cfg.Sampler {
			t.Errorf("%v: %+v, %v", c.set, back.Sampler, err)
		}
	}
}
