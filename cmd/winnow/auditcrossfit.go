package main

import (
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/audit/crossfit"
	"winnow/eval"
	"winnow/features"
	"winnow/filters/leaveout"
)

// crossfitScorer as a --scorer judges stored features by heads that are trained on the spot.
const crossfitScorer = "crossfit"

const crossfitHelp = "heads trained on the spot, each on the other folds' labels that look right; no run, minutes"

// judgeCrossfit fills in the suspects of a.set, whose features as stored are those of stored, row by row.
func (a *audited) judgeCrossfit(c *cli.Context, stored features.Set, mem int64) error {
	opts := crossfit.Options{Folds: c.Int("folds"), Seed: c.Uint64("seed")}
	end := func() {}
	if !c.Bool("quiet") {
		line := newProgressLine(c.App.ErrWriter, "steps", time.Now)
		opts.Told = func(fold, step, steps int) {
			line.At(fold*steps+step, opts.Folds*steps, 0, fmt.Sprintf("  fold %d of %d", fold+1, opts.Folds))
		}
		end = line.End
	}
	v, err := crossfit.Judge(c.Context, stored, len(a.classes), opts)
	end()
	if err != nil {
		return err
	}
	if a.left, err = sharedBy(a.set, len(a.classes), v); err != nil {
		return err
	}
	a.suspects, err = eval.Suspects(c.Context, a.set, eval.Opinion(v), eval.AuditOptions{MaxMem: mem})
	return err
}

// sharedBy is the classes of z as verdicts have them: an image counts for the given label and the suggested one, each as
// much as it is probable.
func sharedBy(z features.Set, classes int, v crossfit.Verdict) (*leaveout.Set, error) {
	s, err := leaveout.New(z, classes)
	if err != nil {
		return nil, err
	}
	parts := make([][]leaveout.Part, len(s.Rows))
	for i, row := range s.Rows {
		given, suggested := s.Column[z.Labels[row]], s.Column[v.Suggested[row]]
		parts[i] = []leaveout.Part{{Column: given, Weight: v.Score[row]}}
		if suggested != given {
			parts[i] = append(parts[i], leaveout.Part{Column: suggested, Weight: v.SuggestedScore[row]})
		}
	}
	s.Share(parts)
	return s, nil
}
