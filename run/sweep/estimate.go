package sweep

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"winnow/internal/text"
	"winnow/run"
	"winnow/run/cells"
	"winnow/run/config"
	"winnow/run/folder"
)

// Plan says what a sweep will do, and how long it may take.
type Plan struct {
	Settings int     `json:"settings"` // points
	Seeds    int     `json:"seeds"`
	Cells    int     `json:"trainings"`
	Left     int     `json:"left"` // trainings that are not done
	Jobs     int     `json:"jobs"` // at once
	Steps    int     `json:"steps"`
	Seconds  float64 `json:"seconds"`           // estimated
	AtMost   bool    `json:"at_most,omitempty"` // some may stop early
}

// String returns the plan in a line.
func (p Plan) String() string {
	line := fmt.Sprintf("%s × %s: %s", text.Plural(p.Settings, "setting"), text.Plural(p.Seeds, "seed"),
		text.Plural(p.Cells, "training"))
	switch {
	case p.Left == 0:
		return line + ", all done before"
	case p.Left < p.Cells:
		line += fmt.Sprintf(", %d left", p.Left)
	}
	most := ""
	if p.AtMost {
		most = "at most "
	}
	return fmt.Sprintf("%s, %s%d steps: %sabout %s, %d at once", line, most, p.Steps, most, about(p.Seconds), p.Jobs)
}

// mostTimed is how many kinds of trainings are timed; others are assumed to take the mean of these.
const mostTimed = 8

// slow are prefixes of the settings that decide how long a training takes.
var slow = []string{"method", "length", "sampler.", "head.", "finetune.", "screen", "bank.", "average.",
	"validation.every", "validation.measure", "filter.scorer", "filter.bank", "losses.", "selfpaced.", "data.",
	"selective.", "peers."}

// kind returns the same text for trainings that take equally long.
func kind(cfg config.Run) string {
	return settingsSum(cfg, func(key string) bool {
		number := strings.HasPrefix(key, "losses.") && !strings.HasSuffix(key, ".name") &&
			!strings.HasSuffix(key, ".against")
		return !number && slices.ContainsFunc(slow, func(s string) bool { return strings.HasPrefix(key, s) })
	})
}

// timing says how long a training takes, with its measurements.
type timing struct {
	steps   int
	seconds float64
	judging float64 // seconds of judging the labels, once for all trainings of a seed; not in seconds

	screened *folder.Screening // the result of judging
}

// estimate times a few steps of each kind of training that is left.
func (s *Sweep) estimate(ctx context.Context, queue cells.Queue[cell, Outcome]) (Plan, error) {
	plan := Plan{Settings: len(s.Points), Seeds: len(s.Seeds), Cells: len(s.cells), Jobs: s.jobs}
	left, first, order := map[string]int{}, map[string]cell{}, []string(nil)
	seeds := map[uint64]bool{}
	for _, c := range s.cells {
		_, done, err := queue.KeptWhole(c)
		if err != nil {
			return plan, err
		}
		if done {
			continue
		}
		plan.Left++
		seeds[c.seed] = true
		plan.AtMost = plan.AtMost || c.cfg.Validation.Patience > 0 || c.cfg.Length.Auto
		k := kind(c.cfg)
		if left[k]++; left[k] == 1 {
			first[k], order = c, append(order, k)
		}
	}
	var sum timing
	var failed error
	n, told := 0, false
	for i, k := range order {
		if i >= mostTimed {
			break
		}
		t, err := s.time(ctx, first[k])
		if ctx.Err() != nil {
			return plan, ctx.Err()
		}
		if err != nil { // the training will fail too
			failed = cmp.Or(failed, fmt.Errorf("%s: %w", s.words(s.Points[first[k].point]), err))
			continue
		}
		sum.steps, sum.seconds, n = sum.steps+t.steps*left[k], sum.seconds+t.seconds*float64(left[k]), n+left[k]
		if sum.judging = max(sum.judging, t.judging); t.screened != nil && !told {
			s.Host.Note("labels are judged once a seed, for all its trainings; seed %d: %s", first[k].seed, t.screened)
			told = true
		}
	}
	if n == 0 && plan.Left == plan.Cells {
		return plan, failed // nothing can be trained
	}
	if n > 0 {
		plan.Steps = int(float64(sum.steps) / float64(n) * float64(plan.Left))
		training, judging := sum.seconds/float64(n)*float64(plan.Left), sum.judging*float64(len(seeds)-1)
		plan.Seconds = (training + judging) / float64(min(plan.Jobs, plan.Left))
	}
	return plan, nil
}

// time makes a few steps of a training.
func (s *Sweep) time(ctx context.Context, c cell) (p timing, err error) {
	start := time.Now()
	t, err := s.resolve(ctx, c)
	if err != nil {
		return p, err
	}
	defer t.Close()
	begun := time.Since(start) - t.Judging
	cost, err := t.Cost(ctx)
	p.steps, p.seconds, p.judging, p.screened = t.Steps, (begun + cost).Seconds(), t.Judging.Seconds(), t.Screening
	return p, err
}

// resolve resolves a training without a folder, and without notes.
func (s *Sweep) resolve(ctx context.Context, c cell) (*run.Training, error) {
	quiet := s.Host
	quiet.Note = func(string, ...any) {}
	return run.Resolve(ctx, c.cfg, run.Input{Manifest: s.data}, run.Options{Host: quiet, Screenings: &s.screens})
}
