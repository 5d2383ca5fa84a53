package config

import (
	"fmt"

	"winnow/filters/correction"
)

// Correct says when an image that the filter drops for long is given the label that its place suggests. Off while
// Visits is 0.
type Correct struct {
	After      Span    `yaml:"after"`      // no correction before; visits count from the beginning
	Visits     int     `yaml:"visits"`     // in a row that drop the image and agree on another class; 0: never correct
	Confidence float64 `yaml:"confidence"` // posterior that the other class needs at each of them
}

// On reports whether labels are corrected.
func (c Correct) On() bool { return c.Visits > 0 }

// In returns the configuration for epochs of so many steps.
func (c Correct) In(stepsPerEpoch int) correction.Config {
	return correction.Config{After: c.After.In(stepsPerEpoch), Visits: c.Visits, Confidence: c.Confidence}
}

func defaultCorrect() Correct { return Correct{Confidence: 0.99} }

func (c *Run) checkCorrect() error {
	switch {
	case c.Correct.Visits < 0:
		return fmt.Errorf("correct.visits: found %d, expected 0 for no correction, or more", c.Correct.Visits)
	case !c.Correct.On() && c.Correct != defaultCorrect():
		return fmt.Errorf("correct: found settings, and correct.visits is 0: expected for example 3, which turns it on")
	case !c.Correct.On():
		return nil
	case c.Filter.Scorer == NoFilter:
		return fmt.Errorf("correct.visits: found %d, and no filter drops anything: expected 0, or a filter", c.Correct.Visits)
	case c.Bank.Size == 0:
		return fmt.Errorf("correct.visits: found %d, and bank.size is 0: other classes are suggested by the memory bank", c.Correct.Visits)
	}
	return c.Correct.In(1).Validate()
}
