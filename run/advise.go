package run

import (
	"fmt"

	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/tuning"
	"winnow/train"
)

// course is what the metrics of a run say of its way.
type course struct {
	validations []train.Validation // in their order, the untrained state first
	kept        float64            // mean share of the rows that the filter kept
	steps       int                // that are known
}

// readCourse reads what a run wrote, earlier parts of a resumed one too.
func readCourse(dir string) (c course, err error) {
	lines, err := train.ReadMetrics(dir)
	for _, l := range lines {
		switch {
		case l.Validation != nil:
			c.validations = append(c.validations, train.Validation{Epoch: l.Epoch, Step: l.Step, Score: *l.Validation, Averaged: l.Averaged})
		case l.Kept != nil && l.Rows > 0:
			c.kept, c.steps = c.kept+float64(*l.Kept)/float64(l.Rows), c.steps+1
		}
	}
	c.kept /= float64(max(c.steps, 1))
	return c, err
}

// advise names the most likely cause of a training that was worth nothing, and what to try next. views is nil where
// images do not vary.
func advise(c course, cfg config.Run, r folder.Result, views *tuning.Views) string {
	filtered, tuned := cfg.Filter.Scorer != config.NoFilter, cfg.Finetune.On()
	told := 1 - cfg.Filter.Rate.Share
	rate, flag := cfg.Solver.LR.Value, "--lr"
	if tuned {
		rate, flag = cfg.BackboneSolver.LR.Value, "--backbone-lr"
	}
	var peak, last float64
	for _, v := range c.validations {
		peak, last = max(peak, v.Top()), v.Top()
	}
	trained := len(c.validations) > 1
	switch {
	case views != nil && !views.Near():
		return fmt.Sprintf("training views (%s) are hardly nearer to what is evaluated than other images: try "+
			"--augment flip", cfg.Finetune.Augment)
	case tuned && rate == 0:
		return "the network stood still: give it a --backbone-lr"
	case r.IdleTooOften():
		return fmt.Sprintf("in %d of %d steps there was nothing to learn from: try --batch with more classes, or "+
			"--filter none to see whether the filter takes too much", r.Idle, r.Steps)
	case filtered && c.steps > 0 && c.kept < told/2:
		return fmt.Sprintf("the filter kept %.0f %% of the images where %.0f %% are thought to be right: try --set "+
			"filter.warm_up=\"1 epoch\"", 100*c.kept, 100*told)
	case !filtered && cfg.Filter.Rate.Share > 0.1:
		return "nothing filters wrong labels: try --filter vmf --noise-rate auto"
	case trained && last < c.validations[0].Score-0.01:
		return fmt.Sprintf("training went away from a good start (validation %.4f before it, %.4f at its end): try "+
			"%s %.2g", c.validations[0].Score, last, flag, rate/10)
	case trained && r.BestStep == r.Steps:
		return fmt.Sprintf("validation was still rising at the end: try --epochs %d", 2*max(r.Epochs, 1))
	case trained && peak < c.validations[0].Score+0.01:
		return fmt.Sprintf("training hardly moved what is retrieved: try %s %.2g", flag, 3*rate)
	}
	return "whitening may be all that these labels are worth: winnow audit says how many of them are wrong"
}
