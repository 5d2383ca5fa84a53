// Package cost times the steps of trainings: what filters add to them, beside PRISM's (001) Tables V and VI.
package cost

import (
	"context"
	"fmt"
	"io"
	"slices"

	"winnow/features"
	"winnow/filters"
	"winnow/internal/hint"
	"winnow/internal/spread"
	"winnow/internal/text"
	"winnow/papers/studies"
	"winnow/run"
	"winnow/run/config"
	"winnow/train"
)

// Options say what is trained and how often.
type Options struct {
	Threads int      `json:"threads"` // that compute, for the result
	Inputs  int      `json:"inputs"`  // length of the stored features
	Dim     int      `json:"dim"`     // of the embedding
	Batch   string   `json:"batch"`   // PxK
	Classes int      `json:"classes"`
	Images  int      `json:"images"`  // of each class
	Bank    int      `json:"bank"`    // vectors
	Centers int      `json:"centers"` // proxies of a class in SoftTriple
	Rate    float64  `json:"rate"`    // share that the filters drop, from 0 to below 1
	Steps   int      `json:"steps"`   // timed in each repetition, after as many as fill the bank
	Repeat  int      `json:"repeat"`  // repetitions
	Losses  []string `json:"-"`       // mcl and soft_triple, or one of them
	Filters []string `json:"-"`       // those timed beside none; nil: all
	Seed    uint64   `json:"-"`       // of everything that is drawn
}

// Result is what winnow cost --json prints.
type Result struct {
	Winnow string `json:"winnow"`
	Options
	Rows []Row `json:"rows"`
}

// Variant is one loss with one filter.
type Variant struct{ Loss, Filter string }

// Variants are those of PRISM's Tables V and VI; the first of a loss is without a filter.
var Variants = []Variant{
	{"mcl", config.NoFilter},
	{"mcl", "avgsim"},
	{"mcl", "avgsim_direct"}, // without class centres
	{"mcl", "vmf"},
	{"soft_triple", config.NoFilter},
	{"soft_triple", "avgsim"},
	{"soft_triple", "proxysim"},
	{"soft_triple", "vmf"},
}

// base returns the place of the variant of the same loss without a filter.
func (v Variant) base(among []Variant) int {
	return slices.IndexFunc(among, func(o Variant) bool { return o.Loss == v.Loss })
}

// Row is what a variant came to.
type Row struct {
	Loss       string           `json:"loss"`
	Filter     string           `json:"filter"`
	StepMillis spread.Spread    `json:"step_ms"`    // over repetitions
	Ratio      float64          `json:"ratio"`      // of the least step to the least of the loss without a filter
	Added      float64          `json:"added_ms"`   // to the same
	Ratios     spread.Spread    `json:"ratios"`     // within repetitions
	Kept       float64          `json:"kept_share"` // in the steps timed
	Bank       int              `json:"bank"`       // members at the end
	Paper      map[string]Paper `json:"paper"`
}

// Paper is what a filter costs in the paper.
type Paper struct {
	Ratio float64 `json:"ratio"`
	Added float64 `json:"added_ms"` // a step
}

// Run times every variant of the losses. All take turns in every repetition, so that what else the machine does falls on
// all; a repetition's time is that of an undisturbed step, the lower quartile of its steps. progress counts the trainings.
func Run(ctx context.Context, o Options, progress func(done, total int)) (Result, error) {
	r := Result{Options: o}
	variants, configs, err := o.plan()
	if err != nil {
		return r, err
	}
	paper, err := papers()
	if err != nil {
		return r, err
	}
	data := o.draw()
	r.Rows = make([]Row, len(variants))
	millis, ratios := make([][]float64, len(variants)), make([][]float64, len(variants))
	for rep := range o.Repeat {
		for turn := range variants {
			i := (turn + rep) % len(variants) // none is always first
			t, err := timed(ctx, configs[i], data, o.fill(configs[i]), 0)
			if err != nil {
				return r, err
			}
			progress(rep*len(variants)+turn+1, o.Repeat*len(variants))
			r.Rows[i].Bank, r.Rows[i].Kept = t.Bank, t.Kept
			millis[i] = append(millis[i], 1e3*spread.New(t.Seconds).Q1)
		}
		for i, v := range variants {
			ratios[i] = append(ratios[i], millis[i][rep]/millis[v.base(variants)][rep])
		}
	}
	for i, v := range variants {
		row := &r.Rows[i]
		row.Loss, row.Filter, row.Paper = v.Loss, v.Filter, paper[v]
		row.StepMillis, row.Ratios = spread.New(millis[i]), spread.New(ratios[i])
		bare := r.Rows[v.base(variants)].StepMillis.Least // stands before
		row.Ratio, row.Added = row.StepMillis.Least/bare, row.StepMillis.Least-bare
	}
	return r, nil
}

// timed times the steps of a training after the first skip.
func timed(ctx context.Context, cfg config.Run, data run.Data, skip, most int) (run.Timing, error) {
	t, err := run.Resolve(ctx, cfg, run.Input{Data: &data}, run.Options{})
	if err != nil {
		return run.Timing{}, err
	}
	defer t.Close()
	return t.Time(ctx, skip, most)
}

// Check refuses options that cannot be.
func (o Options) Check() error {
	_, _, err := o.plan()
	return err
}

// plan returns the variants asked for with their configurations.
func (o Options) plan() (variants []Variant, configs []config.Run, err error) {
	for _, name := range o.Losses {
		n := len(variants)
		for _, v := range Variants {
			if v.Loss == name && (o.Filters == nil || v.Filter == config.NoFilter || slices.Contains(o.Filters, v.Filter)) {
				variants = append(variants, v)
			}
		}
		if len(variants) == n {
			return nil, nil, hint.Misused("--loss: found %q, expected mcl, soft_triple", name)
		}
	}
	for _, n := range []struct {
		flag         string
		found, least int
	}{{"inputs", o.Inputs, 2}, {"dim", o.Dim, 2}, {"classes", o.Classes, 2}, {"images", o.Images, 2}, {"bank", o.Bank, 1}, {"centers", o.Centers, 1}, {"steps", o.Steps, 1}, {"repeat", o.Repeat, 1}} {
		if n.found < n.least || n.found > 1<<24 {
			return nil, nil, hint.Misused("--%s: found %d, expected %d to %d", n.flag, n.found, n.least, 1<<24)
		}
	}
	if n := float64(o.Inputs) * float64(o.Classes) * float64(o.Images); n > 1<<31 {
		return nil, nil, hint.Misused("--inputs, --classes and --images make %.3g numbers, expected at most %d", n, 1<<31)
	}
	base := config.Default()
	base.Seed, base.Head.Out, base.Head.Init, base.Bank.Size = o.Seed, o.Dim, "random", o.Bank
	base.Filter.Config = filters.Default()
	base.Filter.Rate, base.Filter.AvgSim = config.GivenRate(o.Rate), config.Span{}
	base.Diagnostics.Every, base.Screen = config.Span{}, config.NoScreen // all labels take part
	s := &base.Sampler
	if err = s.SetBatch(o.Batch); err != nil {
		return nil, nil, hint.Misused("--batch: %w", err)
	}
	for _, v := range variants {
		cfg := o.config(v, base)
		if err := cfg.Validate(); err != nil {
			return nil, nil, hint.AsMisuse(err)
		}
		configs = append(configs, cfg)
	}
	return variants, configs, nil
}

// config returns the training of a variant.
func (o Options) config(v Variant, base config.Run) config.Run {
	base.Filter.Scorer = v.Filter
	if v.Loss == "soft_triple" {
		base.Losses = []config.Loss{{Name: "soft_triple", Weight: 1, Against: config.AgainstBatch, Settings: map[string]any{"centers": o.Centers}}}
		if entry, err := filters.Find(v.Filter); err != nil || !entry.NeedsBank {
			base.Bank.Size = 0
		}
	} else {
		base.Losses = slices.Clone(base.Losses)
	}
	base.Length = config.LastsSteps(o.fill(base) + o.Steps)
	return base
}

// fill returns the number of steps that fill the bank when the filter drops its share, the same for all variants, so that all
// time the same batches.
func (o Options) fill(cfg config.Run) int {
	kept := float64(cfg.Sampler.Classes*cfg.Sampler.Images) * (1 - o.Rate)
	return min(int(float64(o.Bank)/max(kept, 1))+1, 20000)
}

// Length returns the steps of a variant in all repetitions, those that fill the bank among them.
func (o Options) Length() (int, error) {
	_, configs, err := o.plan()
	if err != nil {
		return 0, err
	}
	return o.Repeat * configs[0].Length.In(0), nil
}

// draw draws classes around directions, as many labels wrong as the rate says.
func (o Options) draw() run.Data {
	rng := train.Rand(o.Seed, "cost", 0)
	data := run.Data{Train: features.NewSet(o.Classes*o.Images, o.Inputs)}
	centre := make([]float32, o.Inputs)
	for k := range o.Classes {
		data.Classes = append(data.Classes, fmt.Sprint(k))
		for j := range centre {
			centre[j] = float32(rng.NormFloat64())
		}
		for i := k * o.Images; i < (k+1)*o.Images; i++ {
			data.Train.Labels[i], data.Train.IDs[i] = k, i
			if rng.Float64() < o.Rate {
				data.Train.Labels[i] = rng.IntN(o.Classes)
			}
			for j, row := 0, data.Train.Row(i); j < o.Inputs; j++ {
				row[j] = centre[j] + float32(rng.NormFloat64())
			}
		}
	}
	data.Paths = make([]string, data.Train.Len())
	data.Stored = data.Train
	return data
}

// paperSets are the datasets of PRISM's Tables V and VI.
var paperSets = [3]string{"SOP", "CARS", "CUB"}

// Timed is the length, in steps, of the trainings that the paper timed.
const Timed = 5000

// papers compares the paper's seconds with those without a filter, where it has both: those of the studies of Tables V and VI.
func papers() (map[Variant]map[string]Paper, error) {
	all := map[Variant]map[string]Paper{}
	for _, name := range []string{"prism-table5", "prism-table6"} {
		s, err := studies.Find(name)
		if err != nil {
			return nil, err
		}
		bare := map[string][]studies.Number{} // by loss
		for _, row := range s.Rows {
			loss, filter := row.Cost[0], row.Cost[1]
			v := Variant{loss, filter}
			if all[v] == nil {
				all[v] = map[string]Paper{}
			}
			if filter == config.NoFilter {
				bare[loss] = row.Paper
				continue
			}
			for i, column := range s.Columns {
				of, to := row.Paper[i].Values[0], bare[loss][i].Values[0]
				all[v][column.Name] = Paper{of / to, 1e3 * (of - to) / Timed}
			}
		}
	}
	return all, nil
}

// Text writes the result as a table.
func (r Result) Text(out io.Writer) error {
	fmt.Fprintf(out, "batch %s, %d → %d numbers, %d classes, a bank of %d, %d proxies a class; the least of %d repetitions of %d steps\n\n",
		r.Batch, r.Inputs, r.Dim, r.Classes, r.Bank, r.Centers, r.Repeat, r.Steps)
	w := text.NewTable(out)
	w.Row("loss", "filter", "ms a step", "ratio", "from – to", "added ms", "kept", "paper: SOP", "CARS", "CUB")
	for _, row := range r.Rows {
		cells := []string{row.Loss, row.Filter, fmt.Sprintf("%.3f", row.StepMillis.Least), fmt.Sprintf("%.3f", row.Ratio),
			fmt.Sprintf("%.3f – %.3f", row.Ratios.Least, row.Ratios.Most), fmt.Sprintf("%+.3f", row.Added), fmt.Sprintf("%.0f %%", 100*row.Kept)}
		for _, set := range paperSets {
			cell := "–"
			if v, ok := row.Paper[set]; ok {
				cell = fmt.Sprintf("%.3f (%+.0f ms)", v.Ratio, v.Added)
			}
			cells = append(cells, cell)
		}
		w.Row(cells...)
	}
	return w.Flush()
}
