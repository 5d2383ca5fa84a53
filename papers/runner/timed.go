package runner

import (
	"context"
	"fmt"
	"slices"

	"winnow/features"
	"winnow/filters"
	"winnow/internal/hint"
	"winnow/internal/spread"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/run/config"
	"winnow/train"
)

// timing says which trainings on drawn features to time, and how often: PRISM's (001) Tables V and VI.
type timing struct {
	Inputs  int     `yaml:"inputs"` // length of the stored features
	Dim     int     `yaml:"dim"`    // of the embedding
	Batch   string  `yaml:"batch"`  // PxK
	Classes int     `yaml:"classes"`
	Images  int     `yaml:"images"`  // of each class
	Bank    int     `yaml:"bank"`    // vectors
	Centers int     `yaml:"centers"` // proxies of a class in SoftTriple
	Rate    float64 `yaml:"rate"`    // share that the filters drop, from 0 to below 1
	Steps   int     `yaml:"steps"`   // timed in each repetition, after those that fill the bank
	Repeat  int     `yaml:"repeat"`  // repetitions

	seed     uint64          // of all draws
	variants []studies.Names // a loss and a filter each; the one without a filter comes first of its loss
}

// timedSteps is the number of steps of the trainings that the paper timed.
const timedSteps = 5000

// stepMillis returns the milliseconds of a step of every variant. All variants take turns in every repetition, so
// that other load on the machine slows all of them. A repetition's time is that of an undisturbed step, the lower
// quartile of its steps; a variant's time is the least of its repetitions.
func (t timing) stepMillis(ctx context.Context) ([]float64, error) {
	configs, err := t.listVariantConfigs()
	if err != nil {
		return nil, err
	}
	data := t.drawClasses()
	least := make([]float64, len(configs))
	for rep := range t.Repeat {
		for turn := range configs {
			i := (turn + rep) % len(configs) // a different variant is first each time
			one, err := timeTraining(ctx, configs[i], data, t.countBankFillSteps(configs[i]), 0)
			if err != nil {
				return nil, err
			}
			if millis := 1e3 * spread.New(one.Seconds).Q1; rep == 0 || millis < least[i] {
				least[i] = millis
			}
		}
	}
	return least, nil
}

// timeTraining times the steps of a training after the first skip ones, at most most of them; 0: all.
func timeTraining(ctx context.Context, cfg config.Run, data run.Data, skip, most int) (run.Timing, error) {
	t, err := run.Resolve(ctx, cfg, run.Input{Data: &data}, run.Options{})
	if err != nil {
		return run.Timing{}, err
	}
	defer t.Close()
	return t.Time(ctx, skip, most)
}

// listVariantConfigs returns the trainings of the variants, and refuses invalid settings.
func (t timing) listVariantConfigs() (list []config.Run, err error) {
	for _, n := range []struct {
		name         string
		found, least int
	}{
		{"inputs", t.Inputs, 2}, {"dim", t.Dim, 2}, {"classes", t.Classes, 2}, {"images", t.Images, 2},
		{"bank", t.Bank, 1}, {"centers", t.Centers, 1}, {"steps", t.Steps, 1}, {"repeat", t.Repeat, 1},
	} {
		if n.found < n.least || n.found > 1<<24 {
			return nil, hint.Misused("%s: found %d, expected %d to %d", n.name, n.found, n.least, 1<<24)
		}
	}
	if n := float64(t.Inputs) * float64(t.Classes) * float64(t.Images); n > 1<<31 {
		return nil, hint.Misused("inputs, classes and images make %.3g numbers, expected at most %d", n, 1<<31)
	}
	base := config.Default()
	base.Seed, base.Head.Out, base.Head.Init, base.Bank.Size = t.seed, t.Dim, "random", t.Bank
	base.Filter.Config = filters.Default()
	base.Filter.Rate, base.Filter.AvgSim = config.GivenRate(t.Rate), config.Span{}
	base.Diagnostics.Every, base.Screen = config.Span{}, config.NoScreen // train on all labels
	if err = base.Sampler.SetBatch(t.Batch); err != nil {
		return nil, hint.Misused("batch: %w", err)
	}
	for _, v := range t.variants {
		if !slices.Contains([]string{"mcl", "soft_triple"}, v[0]) {
			return nil, hint.Misused("loss %q cannot be timed, expected mcl or soft_triple", v[0])
		}
		cfg := t.newVariantConfig(v, base)
		if err := cfg.Validate(); err != nil {
			return nil, hint.AsMisuse(err)
		}
		list = append(list, cfg)
	}
	return list, nil
}

// newVariantConfig returns the training of a variant.
func (t timing) newVariantConfig(v studies.Names, base config.Run) config.Run {
	loss, filter := v[0], v[1]
	base.Filter.Scorer = filter
	base.Losses = slices.Clone(base.Losses)
	if loss == "soft_triple" {
		base.Losses = []config.Loss{{
			Name: loss, Weight: 1, Against: config.AgainstBatch, Settings: map[string]any{"centers": t.Centers},
		}}
		if entry, err := filters.Find(filter); err != nil || !entry.NeedsBank {
			base.Bank.Size = 0
		}
	}
	base.Length = config.LastsSteps(t.countBankFillSteps(base) + t.Steps)
	return base
}

// findVariant returns the position of a variant among those timed, or -1.
func (t timing) findVariant(v studies.Names) int {
	return slices.IndexFunc(t.variants, func(other studies.Names) bool { return slices.Equal(v, other) })
}

// countBankFillSteps returns the number of steps that fill the bank if the filter drops its share. It is the same for
// all variants, so that the same batches are timed.
func (t timing) countBankFillSteps(cfg config.Run) int {
	kept := float64(cfg.Sampler.Classes*cfg.Sampler.Images) * (1 - t.Rate)
	return min(int(float64(t.Bank)/max(kept, 1))+1, 20000)
}

// drawClasses draws classes around directions, and a share t.Rate of labels at random.
func (t timing) drawClasses() run.Data {
	rng := train.Rand(t.seed, "cost", 0)
	data := run.Data{Train: features.NewSet(t.Classes*t.Images, t.Inputs)}
	centre := make([]float32, t.Inputs)
	for k := range t.Classes {
		data.Classes = append(data.Classes, fmt.Sprint(k))
		for j := range centre {
			centre[j] = float32(rng.NormFloat64())
		}
		for i := k * t.Images; i < (k+1)*t.Images; i++ {
			data.Train.Labels[i], data.Train.IDs[i] = k, i
			if rng.Float64() < t.Rate {
				data.Train.Labels[i] = rng.IntN(t.Classes)
			}
			for j, row := 0, data.Train.Row(i); j < t.Inputs; j++ {
				row[j] = centre[j] + float32(rng.NormFloat64())
			}
		}
	}
	data.Paths = make([]string, data.Train.Len())
	data.Stored = data.Train
	return data
}
