package sweep

import (
	"context"
	"slices"
	"strings"
	"time"

	"winnow/run"
	"winnow/run/config"
	"winnow/run/grid"
)

// slow are prefixes of the settings that decide how long a training takes.
var slow = []string{"method", "length", "sampler.", "head.", "finetune.", "screen", "bank.", "average.",
	"validation.every", "validation.measure", "filter.scorer", "filter.bank", "losses.", "selfpaced.", "data.",
	"selective.", "peers."}

// kindNames returns a function that returns the same name for trainings that take equally long: the words of the first.
func (s *Sweep) kindNames() func(*cell) string {
	names := map[string]string{}
	return func(c *cell) string {
		kind := settingsSum(c.cfg, func(key string) bool {
			number := strings.HasPrefix(key, "losses.") && !strings.HasSuffix(key, ".name") &&
				!strings.HasSuffix(key, ".against")
			return !number && slices.ContainsFunc(slow, func(s string) bool { return strings.HasPrefix(key, s) })
		})
		if names[kind] == "" {
			names[kind] = s.describePoint(s.Points[c.point])
		}
		return names[kind]
	}
}

// timeCell makes a few steps of a training.
func (s *Sweep) timeCell(ctx context.Context, c *cell) (cost grid.Cost, err error) {
	start := time.Now()
	t, err := s.resolveForTiming(ctx, c)
	if err != nil {
		return cost, err
	}
	defer t.Close()
	if t.Screening != nil {
		s.noteScreening.Do(func() {
			s.Host.Note("labels are judged once a seed, for all its trainings; seed %d: %s", c.seed, t.Screening)
		})
	}
	started := time.Since(start) - t.Judging // once a seed, not once a training
	took, err := t.Cost(ctx)
	return grid.Cost{Steps: t.Steps, Seconds: (started + took).Seconds(), AtMost: isShortened(c.cfg)}, err
}

// isShortened reports whether a training may stop early.
func isShortened(cfg config.Run) bool { return cfg.Validation.Patience > 0 || cfg.Length.Auto }

// resolveForTiming resolves a training without a folder, and without notes.
func (s *Sweep) resolveForTiming(ctx context.Context, c *cell) (*run.Training, error) {
	quiet := s.Host
	quiet.Note = func(string, ...any) {}
	return run.Resolve(ctx, c.cfg, run.Input{Manifest: s.data}, run.Options{Host: quiet, Screenings: &s.screens})
}
