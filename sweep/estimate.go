package sweep

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"winnow/eval"
	"winnow/run"
	"winnow/run/cells"
	"winnow/run/config"
	"winnow/run/tuning"
)

// Plan says what a sweep will do, and how long that may take.
type Plan struct {
	Settings int     `json:"settings"` // points
	Seeds    int     `json:"seeds"`
	Cells    int     `json:"trainings"`
	Left     int     `json:"left"` // trainings that are not done
	Jobs     int     `json:"jobs"` // at once
	Steps    int     `json:"steps"`
	Seconds  float64 `json:"seconds"`           // that these may take
	AtMost   bool    `json:"at_most,omitempty"` // some may end early
}

// String is the plan in a line.
func (p Plan) String() string {
	line := fmt.Sprintf("%s × %s: %s", plural(p.Settings, "setting"), plural(p.Seeds, "seed"), plural(p.Cells, "training"))
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

// Steps of a training on stored features that are made for the estimate: the first ones warm up, the others are timed.
const (
	warmUp     = 3
	timedSteps = 12
)

// mostTimed is how many kinds of trainings are timed: the others are taken for as long as these in the mean.
const mostTimed = 8

// slow are the beginnings of the settings that decide how long a training takes.
var slow = []string{"method", "length", "sampler.", "head.", "finetune.", "screen", "bank.", "average.", "validation.every", "validation.measure", "filter.scorer", "filter.bank",
	"losses.", "selfpaced.", "data.", "selective.", "peers."}

// kind tells trainings apart that take different times.
func kind(cfg config.Run) string {
	return settingsSum(cfg, func(key string) bool {
		number := strings.HasPrefix(key, "losses.") && !strings.HasSuffix(key, ".name") && !strings.HasSuffix(key, ".against")
		return !number && slices.ContainsFunc(slow, func(s string) bool { return strings.HasPrefix(key, s) })
	})
}

// timing is how long a training takes, with its measurements.
type timing struct {
	steps   int
	seconds float64
	judging float64 // seconds of judging the labels, which trainings of one seed share: not in seconds

	screened *run.Screening // what was found then
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
		plan.AtMost = plan.AtMost || c.cfg.Validation.Patience > 0 || c.cfg.Length == config.AutoLength
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
		if err != nil { // the training itself will say it
			failed = cmp.Or(failed, fmt.Errorf("%s: %w", s.words(s.Points[first[k].point]), err))
			continue
		}
		sum.steps, sum.seconds, n = sum.steps+t.steps*left[k], sum.seconds+t.seconds*float64(left[k]), n+left[k]
		if sum.judging = max(sum.judging, t.judging); t.screened != nil && !told {
			s.Host.Note("trainings of a seed share what is found of its labels; seed %d: %s", first[k].seed, t.screened.Screening)
			told = true
		}
	}
	if n == 0 && plan.Left == plan.Cells {
		return plan, failed // none can be trained
	}
	if n > 0 {
		plan.Steps = int(float64(sum.steps) / float64(n) * float64(plan.Left))
		plan.Seconds = (sum.seconds/float64(n)*float64(plan.Left) + sum.judging*float64(len(seeds)-1)) / float64(min(plan.Jobs, plan.Left))
	}
	return plan, nil
}

// time makes a few steps of a training that leaves nothing behind.
func (s *Sweep) time(ctx context.Context, c cell) (t timing, err error) {
	cfg, on := c.cfg, tuning.Backbone(tuning.Stored{})
	d, _ := s.data.WithValidation(cfg.Validation.Share(), cfg.Seed)
	data, err := run.Load(ctx, d, cfg.Data.Features, !cfg.Finetune.On())
	if err != nil {
		return t, err
	}
	start := time.Now()
	if t.screened, err = s.screens.Screen(ctx, &cfg, &data, nil); err != nil {
		return t, err
	}
	t.judging = time.Since(start).Seconds()
	skip, most := warmUp, timedSteps
	if cfg.Finetune.On() {
		live, err := tuning.Open(cfg, s.data.Paths(), tuning.Config{Note: func(string, ...any) {}, Watch: unwatched})
		if err != nil {
			return t, err
		}
		defer live.Close()
		live.Use(s.rt)
		cfg.Finetune = live.Settings
		cfg.ResolveUsualLR(live.Drawn)
		on, skip, most = live, 0, 1
	}
	start = time.Now()
	timed, err := run.Time(ctx, on, cfg, data, skip, most)
	if err != nil {
		return t, err
	}
	took, made := time.Since(start).Seconds(), 0.0
	for _, v := range timed.Seconds {
		made += v
	}
	t.steps = timed.Steps
	begun := max(took-made, 0)
	if cfg.Finetune.On() {
		t.seconds = begun + timed.Planned.Seconds()
		return t, nil
	}
	start = time.Now()
	z, err := timed.Outcome.Head.EmbedSet(ctx, data.Validation)
	if err != nil {
		return t, err
	}
	if _, err := eval.Retrieve(ctx, z, nil, eval.RetrievalOptions{K: []int{1}}); err != nil {
		return t, err
	}
	looks := 4.0 // the three rows of the comparison, and the test split
	if every := cfg.Validation.Every.In(timed.Epoch); every > 0 {
		looks += math.Ceil(float64(t.steps)/float64(every)) + 1
	}
	t.seconds = begun + made/float64(max(len(timed.Seconds), 1))*float64(t.steps) + looks*time.Since(start).Seconds()
	return t, nil
}
