package config

import (
	"fmt"
	"slices"
	"strings"

	"winnow/filters"
)

// Scores says what a run keeps of what it sees of each sample, for audits: losses, the filter's scores without the
// image's own vectors, forgettings.
type Scores struct {
	Record bool    `yaml:"record"` // keep them at all
	Window float64 `yaml:"window"` // share of the run's steps, at its end, that losses and scores are averaged over
	Watch  string  `yaml:"watch"`  // judge of a run whose filter does not give such scores: vmf or avgsim; it drops nothing
	Bank   int     `yaml:"bank"`   // vectors that it remembers, where the run has no bank
}

// watches are the scorers that leave an image out of its own judgement.
var watches = []string{"vmf", "avgsim"}

func defaultScores() Scores { return Scores{Record: true, Window: 0.5, Watch: NoFilter, Bank: 8192} }

// From returns the first step that is averaged, of a run of so many.
func (s Scores) From(steps int) int { return steps - int(s.Window*float64(steps)) + 1 }

// Judged reports whether the run's own filter gives scores that leave the image out.
func (c *Run) Judged() bool { return slices.Contains(watches, c.Filter.Scorer) }

// Watch returns the filter that only watches, for epochs of so many steps; ok is false where there is none.
func (c *Run) Watch(stepsPerEpoch int) (f filters.Config, ok bool) {
	if c.Scores.Watch == NoFilter || !c.Scores.Record {
		return f, false
	}
	f = c.Filter.In(stepsPerEpoch)
	f.Scorer, f.Threshold, f.Rate = c.Scores.Watch, filters.ThresholdSTRM, 0
	return f, true
}

func (c *Run) checkScores() error {
	s := c.Scores
	switch {
	case !s.Record && s != (Scores{Window: defaultScores().Window, Watch: NoFilter, Bank: defaultScores().Bank}):
		return fmt.Errorf("scores: found settings, and scores.record is false: expected true, which turns it on")
	case !s.Record:
		return nil
	case !(s.Window > 0 && s.Window <= 1):
		return fmt.Errorf("scores.window: found %v, expected a share above 0, at most 1", s.Window)
	case s.Bank < 1:
		return fmt.Errorf("scores.bank: found %d, expected 1 or more vectors", s.Bank)
	case s.Watch == NoFilter:
		return nil
	case !slices.Contains(watches, s.Watch):
		return fmt.Errorf("scores.watch: found %q, expected %s or %s", s.Watch, NoFilter, strings.Join(watches, ", "))
	case c.Judged():
		return fmt.Errorf("scores.watch: found %q, expected %s: the filter %s gives the scores already", s.Watch, NoFilter, c.Filter.Scorer)
	}
	return nil
}
