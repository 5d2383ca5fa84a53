package config

import (
	"fmt"

	"winnow/filters/correction"
)

// Correct says when an image that the filter keeps dropping gets the label that its neighbourhood suggests. Off if
// Visits is 0.
type Correct struct {
	After      Span    `yaml:"after"`      // no correction before; visits count from the start
	Visits     int     `yaml:"visits"`     // consecutive visits that drop the image for one other class; 0: off
	Confidence float64 `yaml:"confidence"` // posterior that the other class needs at each visit
}

// On reports whether labels are corrected.
func (c Correct) On() bool { return c.Visits > 0 }

// In returns the configuration for epochs of that many steps.
func (c Correct) In(stepsPerEpoch int) correction.Config {
	return correction.Config{After: c.After.In(stepsPerEpoch), Visits: c.Visits, Confidence: c.Confidence}
}

func defaultCorrect() Correct { return Correct{Confidence: 0.99} }

func (c *Run) checkCorrect() error {
	switch {
	case c.Correct.Visits < 0:
		return fmt.Errorf("correct.visits: found %d, expected 0 for no correction, or more", c.Correct.Visits)
	case !c.Correct.On() && c.Correct != defaultCorrect():
		return fmt.Errorf("correct: found settings, but correct.visits is 0: expected for example 3, to correct labels")
	case !c.Correct.On():
		return nil
	case c.Filter.Scorer == NoFilter:
		return fmt.Errorf("correct.visits: found %d, but no filter: expected 0, or a filter", c.Correct.Visits)
	case c.Bank.Size == 0:
		return fmt.Errorf("correct.visits: found %d, but bank.size is 0: the memory bank suggests the other classes",
			c.Correct.Visits)
	}
	return c.Correct.In(1).Validate()
}
