package config

import (
	"fmt"
	"slices"
	"strings"

	"winnow/filters"
)

// Scores says what a run records of each sample, for audits: losses, the filter's scores without the image's own
// vectors, forgetting events.
type Scores struct {
	Record bool    `yaml:"record"` // record them at all
	Window float64 `yaml:"window"` // last share of the run's steps, over which losses and scores are averaged
	Watch  string  `yaml:"watch"`  // scorer that drops nothing, if the filter gives no such scores: vmf or avgsim
	Bank   int     `yaml:"bank"`   // vectors that Watch remembers, if the run has no bank
}

// watches are the scorers that judge an image without its own vectors.
var watches = []string{"vmf", "avgsim"}

func defaultScores() Scores { return Scores{Record: true, Window: 0.5, Watch: NoFilter, Bank: 8192} }

// From returns the first step to average in a run of that many steps.
func (s Scores) From(steps int) int { return steps - int(s.Window*float64(steps)) + 1 }

// isScorerWatched reports whether the run's filter judges an image without its own vectors.
func (c *Run) isScorerWatched() bool { return slices.Contains(watches, c.Filter.Scorer) }

// Watch returns the filter that drops nothing, for epochs of that many steps; ok is false if there is none.
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
		return fmt.Errorf("scores: found settings, but scores.record is false: expected true, to record them")
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
	case c.isScorerWatched():
		return fmt.Errorf("scores.watch: found %q, expected %s: the filter %s gives the scores already", s.Watch,
			NoFilter, c.Filter.Scorer)
	}
	return nil
}
