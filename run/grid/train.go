package grid

import (
	"context"
	"errors"
	"fmt"
	"time"

	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/measure"
	"winnow/train"
)

// Outcome is the result of a training of a sweep.
type Outcome struct {
	Seed       uint64   `json:"seed"`
	Validation float64  `json:"validation_p@1"` // P@1 of the kept state on the validation split
	Frozen     float64  `json:"frozen_p@1"`     // P@1 of the frozen features on the validation split
	Whitened   float64  `json:"whitened_p@1"`
	Test       *float64 `json:"test_p@1,omitempty"`
	BestStep   int      `json:"best_step"`
	Steps      int      `json:"steps"`
	Stopped    bool     `json:"stopped_early,omitempty"`
	Seconds    float64  `json:"seconds"`
	Curve      Curve    `json:"validation_curve"`
}

// Curve holds the validation scores over the epochs.
type Curve struct {
	X []float64 `json:"epochs"`
	Y []float64 `json:"score"`
}

// trainAndTest starts or continues the run of a cell, and evaluates it.
func (s *Sweep) trainAndTest(ctx context.Context, c *cell, at func(share float64)) (o Outcome, err error) {
	dir, start := s.nameRunDir(c), time.Now()
	result, err := s.trainIn(ctx, c, run.Options{Resume: true}, at)
	if bad, ok := errors.AsType[*train.CheckpointError](err); ok && ctx.Err() == nil {
		s.Host.Note("%v: the training starts again", bad)
		result, err = s.trainIn(ctx, c, run.Options{Overwrite: true}, at)
	}
	if err != nil {
		return o, err
	}
	v := result.Validation
	if v == nil {
		return o, fmt.Errorf("sweep: %s: no image of the validation split has features to choose by", dir)
	}
	o = Outcome{Seed: c.seed, Validation: v.Trained.PrecisionAt1, Frozen: v.Frozen.PrecisionAt1,
		Whitened: v.Whitened.PrecisionAt1, BestStep: result.BestStep, Steps: result.Steps, Stopped: result.Stopped}
	if s.held != "" {
		if o.Test, err = s.measureOnTest(ctx, dir); err != nil {
			return o, err
		}
	}
	if o.Curve, err = readCurve(dir); err != nil {
		return o, err
	}
	o.Seconds = time.Since(start).Seconds()
	return o, nil
}

func (s *Sweep) trainIn(ctx context.Context, c *cell, o run.Options, at func(share float64)) (folder.Result, error) {
	o.Dir, o.About, o.Host = s.nameRunDir(c), s.About, s.Host
	if name := c.asked["recipe"]; len(name) > 0 {
		recipe, err := config.FindRecipe(name[0])
		if err != nil {
			return folder.Result{}, err
		}
		o.About.Recipe, o.About.RecipeSHA256 = recipe.Name, recipe.SHA256()
	}
	o.Host.Note = func(string, ...any) {} // suppress notes, which are the same for all trainings
	t, err := run.Resolve(ctx, c.cfg, run.Input{Manifest: s.data}, o)
	if err != nil {
		return folder.Result{}, err
	}
	out, err := t.Run(ctx, train.On(func(step train.Step) {
		at(0.99 * float64(step.Number) / float64(t.Steps)) // the evaluation is the rest
	}))
	return out.Summary, errors.Join(err, t.Close())
}

// measureOnTest returns P@1 of a run on the test images.
func (s *Sweep) measureOnTest(ctx context.Context, dir string) (*float64, error) {
	retrieval, err := measure.NewMetric("retrieval", nil)
	if err != nil {
		return nil, err
	}
	asked := measure.Options{Metrics: []measure.Metric{retrieval}}
	quiet := s.Host
	quiet.Note = func(string, ...any) {}
	r, err := folder.Open(ctx, dir, folder.Options{Host: quiet, Splits: asked.Splits(), For: "sweep"})
	if err != nil {
		return nil, err
	}
	result, err := measure.Run(ctx, r, asked)
	if err != nil {
		return nil, err
	}
	return &result.PrecisionAt1, nil
}

// readCurve reads the validation scores of a run.
func readCurve(dir string) (c Curve, err error) {
	metrics, err := train.ReadMetrics(dir)
	if err != nil {
		return c, err
	}
	facts, err := folder.ReadFacts(dir)
	if err != nil {
		return c, err
	}
	for _, m := range metrics {
		if m.Validation != nil {
			c.X, c.Y = append(c.X, float64(m.Step)/float64(max(facts.StepsPerEpoch, 1))), append(c.Y, *m.Validation)
		}
	}
	return c, nil
}

// timeCell estimates the cost of a training from a few of its steps.
func (s *Sweep) timeCell(ctx context.Context, c *cell) (cost Cost, err error) {
	start := time.Now()
	t, err := s.resolveForTiming(ctx, c)
	if err != nil {
		return cost, err
	}
	defer t.Close()
	started := time.Since(start)
	took, err := t.Cost(ctx)
	return Cost{Steps: t.Steps, Seconds: (started + took).Seconds(),
		AtMost: c.cfg.Validation.Patience > 0 || c.cfg.Length.Auto}, err
}

// resolveForTiming resolves a training without a folder and without notes.
func (s *Sweep) resolveForTiming(ctx context.Context, c *cell) (*run.Training, error) {
	quiet := s.Host
	quiet.Note = func(string, ...any) {}
	return run.Resolve(ctx, c.cfg, run.Input{Manifest: s.data}, run.Options{Host: quiet})
}
