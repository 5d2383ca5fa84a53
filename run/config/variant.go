package config

import (
	"fmt"
	"slices"
	"strings"

	"winnow/filters"
	"winnow/losses"
)

func isPrinted(e losses.Entry) bool { return e.Printed != "" }

// checkVariant passes on the choice of the papers' variants, and refuses it if nothing of the run has one.
func (c *Run) checkVariant() error {
	c.Filter.Printed, c.SelfPaced.Printed = c.PaperVariant, c.PaperVariant && c.SelfPaced.On()
	scorer, err := filters.Find(c.Filter.Scorer)
	switch {
	case !c.PaperVariant:
	case c.SelfPaced.On() && !c.SelfPaced.Hard:
	case c.Method == Metric && err == nil && scorer.Printed != "":
	case c.Method == Metric && slices.ContainsFunc(c.Losses,
		func(l Loss) bool { return slices.Contains(lossesThat(isPrinted), l.Name) }):
	default:
		return fmt.Errorf("paper_variant: found true, but nothing of the run has such a variant: expected one of the "+
			"losses %s, the filter vmf or selfpaced, or false", strings.Join(lossesThat(isPrinted),
			", "))
	}
	return nil
}
