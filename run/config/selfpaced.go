package config

import (
	"fmt"
	"slices"
	"strings"

	"winnow/filters/selfpaced"
	"winnow/losses"
)

// SelfPaced holds the settings of self-paced weights of samples, which the run's weighted losses use.
type SelfPaced struct {
	Every            Span `yaml:"every"` // span between two computations of the weights; 0: all weights are 1
	selfpaced.Config `yaml:",inline"`
}

func defaultSelfPaced() SelfPaced { return SelfPaced{Config: selfpaced.Default()} }

// On reports whether samples have weights.
func (s SelfPaced) On() bool { return s.Every.N > 0 }

func isWeighted(e losses.Entry) bool { return e.Weighted }

// checkSelfPaced returns an error for weights that no loss uses, and for settings of weights that are not computed.
func (c *Run) checkSelfPaced() error {
	s := c.SelfPaced
	switch {
	case !s.On() && s != defaultSelfPaced():
		return fmt.Errorf("selfpaced: found settings, but selfpaced.every is 0: expected for example \"1 epoch\" to " +
			"give samples weights")
	case !s.On():
		return nil
	case !slices.ContainsFunc(c.Losses, func(l Loss) bool { return slices.Contains(lossesThat(isWeighted), l.Name) }):
		return fmt.Errorf("selfpaced.every: found %s, but no loss of the run uses weights of samples: expected 0, or "+
			"the loss %s", s.Every, strings.Join(lossesThat(isWeighted), ", "))
	}
	return s.Config.Check()
}
