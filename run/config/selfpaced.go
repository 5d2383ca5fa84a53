package config

import (
	"fmt"
	"slices"
	"strings"

	"winnow/filters/selfpaced"
	"winnow/losses"
)

// SelfPaced says how often and how the weights of all samples are computed. The run's weighted losses use them.
type SelfPaced struct {
	Every            Span `yaml:"every"` // between two rounds; 0: all weights are 1
	selfpaced.Config `yaml:",inline"`
}

func defaultSelfPaced() SelfPaced { return SelfPaced{Config: selfpaced.Default()} }

// On reports whether samples are weighed.
func (s SelfPaced) On() bool { return s.Every.N > 0 }

func isWeighted(e losses.Entry) bool { return e.Weighted }

// checkSelfPaced refuses weights that no loss uses, and settings of weights that are off.
func (c *Run) checkSelfPaced() error {
	s := c.SelfPaced
	switch {
	case !s.On() && s != defaultSelfPaced():
		return fmt.Errorf("selfpaced: found settings, but selfpaced.every is 0: expected for example \"1 epoch\", to " +
			"weigh samples")
	case !s.On():
		return nil
	case !slices.ContainsFunc(c.Losses, func(l Loss) bool { return slices.Contains(lossesThat(isWeighted), l.Name) }):
		return fmt.Errorf("selfpaced.every: found %s, but no loss of the run weighs its samples: expected the loss "+
			"%s, or 0", s.Every, strings.Join(lossesThat(isWeighted), ", "))
	}
	return s.Config.Check()
}
