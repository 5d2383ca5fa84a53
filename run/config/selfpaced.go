package config

import (
	"fmt"
	"slices"
	"strings"

	"winnow/filters/selfpaced"
	"winnow/losses"
)

// SelfPaced says how often every sample's weight is recomputed, and how. The weights are those of the run's weighted
// losses.
type SelfPaced struct {
	Every            Span `yaml:"every"` // between two rounds; 0: all weights are 1
	selfpaced.Config `yaml:",inline"`
}

func defaultSelfPaced() SelfPaced { return SelfPaced{Config: selfpaced.Default()} }

// On reports whether samples are weighed at all.
func (s SelfPaced) On() bool { return s.Every.N > 0 }

func weighted(e losses.Entry) bool { return e.Weighted }

// checkSelfPaced refuses weights that no loss reads, and settings of weights that are off.
func (c *Run) checkSelfPaced() error {
	s := c.SelfPaced
	switch {
	case !s.On() && s != defaultSelfPaced():
		return fmt.Errorf("selfpaced: found settings, and selfpaced.every is 0: expected for example \"1 epoch\", which turns it on")
	case !s.On():
		return nil
	case c.Correct.On():
		return fmt.Errorf("selfpaced.every: found %s, and correct.visits is %d: weights are of the labels as they are given: expected 0 of one of the two", s.Every, c.Correct.Visits)
	case !slices.ContainsFunc(c.Losses, func(l Loss) bool { return slices.Contains(lossesThat(weighted), l.Name) }):
		return fmt.Errorf("selfpaced.every: found %s, and no loss of the run weighs its samples: expected the loss %s, or 0", s.Every, strings.Join(lossesThat(weighted), ", "))
	}
	return s.Config.Check()
}
