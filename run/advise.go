package run

import (
	"fmt"

	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/tuning"
	"winnow/train"
)

// course is how a run went, by its metrics.
type course struct {
	validations []train.Validation // in order, the untrained state first
	kept        float64            // mean share of the rows that the filter kept
	steps       int                // with such a share
}

// readCourse reads the metrics of a run, of a resumed one from its beginning.
func readCourse(dir string) (c course, err error) {
	lines, err := train.ReadMetrics(dir)
	for _, l := range lines {
		switch {
		case l.Validation != nil:
			c.validations = append(c.validations, train.Validation{Epoch: l.Epoch, Step: l.Step, Score: *l.Validation})
		case l.Kept != nil && l.Rows > 0:
			c.kept, c.steps = c.kept+float64(*l.Kept)/float64(l.Rows), c.steps+1
		}
	}
	c.kept /= float64(max(c.steps, 1))
	return c, err
}

// adviseOnFailure names the most likely cause of a training that was worth nothing, and what to try next. views is nil
// if images do not vary.
func adviseOnFailure(c course, cfg config.Run, r folder.Result, views *tuning.Views) string {
	filtered, tuned := cfg.Filter.Scorer != config.NoFilter, cfg.Finetune.On()
	told := 1 - cfg.Filter.Rate.Share
	rate, key := cfg.Solver.LR.Value, "solver.lr"
	if tuned {
		rate, key = cfg.BackboneSolver.LR.Value, "backbone_solver.lr"
	}
	at := func(rate float64) config.Key { return config.Key(fmt.Sprintf("%s=%.2g", key, rate)) }
	var peak, last float64
	for _, v := range c.validations {
		peak, last = max(peak, v.Score), v.Score
	}
	trained := len(c.validations) > 1
	switch {
	case views != nil && !views.Near():
		return fmt.Sprintf("training views (%s) are hardly nearer to what is evaluated than other images: try %s",
			cfg.Finetune.Augment, config.Key("finetune.augment=flip"))
	case rate == 0:
		if !tuned {
			return fmt.Sprintf("nothing was learned: give a learning rate, %s", config.Key(key))
		}
		return fmt.Sprintf("the network stood still: give it a learning rate, %s", config.Key(key))
	case r.IdleTooOften():
		return fmt.Sprintf("in %d of %d steps there was nothing to learn from: try %s with more classes, or %s to see "+
			"whether the filter takes too much", r.Idle, r.Steps, config.Key("sampler"),
			config.Key("filter.scorer=none"))
	case filtered && c.steps > 0 && c.kept < told/2:
		return fmt.Sprintf("the filter kept %.0f %% of the images where %.0f %% are thought to be right: try %s",
			100*c.kept, 100*told, config.Key(`filter.warm_up="1 epoch"`))
	case !filtered && cfg.Filter.Rate.Share > 0.1:
		return fmt.Sprintf("nothing filters wrong labels: try %s %s", config.Key("filter.scorer=vmf"),
			config.Key("filter.rate=auto"))
	case trained && last < c.validations[0].Score-0.01:
		return fmt.Sprintf("training went away from a good start (validation %.4f before it, %.4f at its end): try %s",
			c.validations[0].Score, last, at(rate/10))
	case trained && r.BestStep == r.Steps:
		return fmt.Sprintf("validation was still rising at the end: try %s",
			config.Key(fmt.Sprintf("length=%d epochs", 2*max(r.Epochs, 1))))
	case trained && peak < c.validations[0].Score+0.01:
		return fmt.Sprintf("training hardly changed what is retrieved: try %s", at(3*rate))
	}
	return "whitening may be all that these labels are worth: winnow audit says how many of them are wrong"
}
