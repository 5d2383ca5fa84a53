package watch

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"winnow/datasets"
	"winnow/internal/hint"
	"winnow/run"
	"winnow/run/config"
	"winnow/train"
)

// Options say which filters are watched in which training.
type Options struct {
	Config  config.Run // of all trainings but for filter.scorer
	Filters []string   // scorers, each in a training of its own
	At      []int      // iterations up to which scores are counted; none: four, the last at the end
	Window  int        // how many are counted together; 0: those of an epoch
	Smooth  float64    // weight of the past in the curves, from 0 to below 1
	Winnow  string     // its version, for the result

	Note     func(format string, args ...any)
	Progress func() (o run.Options, end func()) // observers of one training
}

// Check refuses options that cannot be.
func (o Options) Check() error {
	for _, name := range o.Filters {
		cfg := o.Config
		cfg.Filter.Scorer = name
		if err := cfg.Validate(); err != nil {
			return hint.AsMisuse(err)
		}
		if name == config.NoFilter {
			return hint.Misused("--filters: found none, expected scorers: there is nothing to watch")
		}
	}
	for _, step := range o.At {
		if step < 1 {
			return hint.Misused("--at: found %d, expected iterations from 1 on", step)
		}
	}
	switch cfg := o.Config; {
	case cfg.Data.Manifest == "":
		return hint.Misused("--manifest is missing")
	case cfg.Data.Features == "":
		return hint.Misused("--features is missing")
	case cfg.Finetune.On() || cfg.Method != config.Metric:
		return hint.Misused("trace: watches filters over heads on stored features: expected finetune.weights none and method %s", config.Metric)
	case cfg.Correct.On():
		return hint.Misused("trace: correct.visits: found %d, expected 0: %s", cfg.Correct.Visits, Corrected)
	case !(o.Smooth >= 0 && o.Smooth < 1):
		return hint.Misused("--smooth: found %v, expected a weight from 0 to below 1", o.Smooth)
	}
	return nil
}

// Result is trace.json.
type Result struct {
	Winnow string            `json:"winnow"`
	Config map[string]string `json:"config"` // of all runs but for filter.scorer
	Runs   []Run             `json:"runs"`
	Files  []string          `json:"files,omitempty"` // written beside it, by name

	smooth float64
}

// Run is what one training showed.
type Run struct {
	Filter    string            `json:"filter"`
	Total     Total             `json:"total"`       // of all steps
	Late      Total             `json:"second_half"` // of the second half
	Steps     []Step            `json:"steps"`
	Scores    []Scores          `json:"scores"`
	Diagnoses []train.Diagnosis `json:"diagnoses"`

	seen *Training
}

// Compare trains a head with each filter, keeps nothing of the trainings, and compares what the filters do with the truth.
func Compare(ctx context.Context, o Options) (Result, error) {
	if err := o.Check(); err != nil {
		return Result{}, err
	}
	cfg := o.Config
	d, err := datasets.Read(cfg.Data.Manifest, datasets.ReadOptions{})
	if err != nil {
		return Result{}, err
	}
	if !d.HasTruth(datasets.Train) {
		return Result{}, hint.With(fmt.Errorf("trace: %s: has no true labels to compare with", cfg.Data.Manifest), "make a manifest with known wrong labels: winnow data corrupt")
	}
	data, err := run.Load(ctx, d, cfg.Data.Features, true)
	if err != nil {
		return Result{}, err
	}
	r := Result{Winnow: o.Winnow, Config: config.Flatten(cfg), smooth: o.Smooth}
	delete(r.Config, "filter.scorer")
	for _, name := range o.Filters {
		cfg.Filter.Scorer = name
		o.Note("%s", name)
		one, err := o.train(ctx, cfg, data, d)
		if err != nil {
			return r, err
		}
		r.Runs = append(r.Runs, one)
	}
	return r, nil
}

func (o Options) train(ctx context.Context, cfg config.Run, data run.Data, d *datasets.Dataset) (Run, error) {
	observers, end := o.Progress()
	defer end()
	seen := Follow(&observers, d, func(plan run.Plan) ([]int, int) {
		at, window := o.At, o.Window
		if steps := plan.Steps; len(at) == 0 {
			at = []int{(steps + 3) / 4, (steps + 1) / 2, (3*steps + 3) / 4, steps}
		} else if last := slices.Max(at); last > steps {
			o.Note("--at: %d is behind the training's last iteration, %d: nothing is counted there", last, steps)
		}
		window = cmp.Or(window, plan.Epoch)
		return at, window
	})
	if _, err := run.Run(ctx, cfg, data, observers); err != nil {
		return Run{}, err
	}
	return Run{Filter: cfg.Filter.Scorer, Total: seen.Filter.Total(0), Late: seen.Filter.Total(seen.Steps / 2),
		Steps: seen.Filter.Steps(), Scores: seen.Filter.Scores(), Diagnoses: seen.Diagnoses, seen: seen}, nil
}

// rest returns 1 - v, nil where v is unknown.
func rest(v *float64) *float64 {
	if v == nil {
		return nil
	}
	return new(1 - *v)
}
