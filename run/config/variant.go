package config

import (
	"fmt"
	"slices"

	"winnow/filters"
	"winnow/losses"
)

func isPrinted(e losses.Entry) bool { return e.Printed != "" }

// checkVariant passes paper_variant to filter and weights. It returns an error if no part of the run has a variant.
func (c *Run) checkVariant() error {
	c.Filter.Printed, c.SelfPaced.Printed = c.PaperVariant, c.PaperVariant && c.SelfPaced.On()
	scorer, err := filters.Find(c.Filter.Scorer)
	has := err == nil && scorer.Printed != "" || slices.ContainsFunc(c.Losses, func(l Loss) bool {
		return slices.Contains(lossesThat(isPrinted), l.Name)
	})
	scaled := c.SelfPaced.On() && !c.SelfPaced.Hard
	if c.PaperVariant && !scaled && !(has && c.Method == Metric) {
		return fmt.Errorf("paper_variant: found true, but no part of the run has such a variant: expected false")
	}
	return nil
}
