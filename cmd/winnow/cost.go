package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/features"
	"winnow/filters"
	"winnow/internal/spread"
	"winnow/run"
	"winnow/run/config"
	"winnow/train"
)

func costCommand() *cli.Command {
	return &cli.Command{
		Name:  "cost",
		Usage: "what each filter adds to the time of a training step, beside PRISM's numbers",
		Description: "Trains heads on drawn features, memory contrastive loss (MCL) and SoftTriple, without a filter and with each, and\n" +
			"times the steps: PRISM's (001) Tables V and VI. All variants take turns in every repetition, so that what else\n" +
			"the machine does falls on all; a repetition's time is that of an undisturbed step, the lower quartile of its\n" +
			"steps, and the table's the least over repetitions; beside it stands how ratios within a repetition vary. The\n" +
			"paper's step is a whole network's, hundreds of times longer than a head's: compare the milliseconds that a\n" +
			"filter adds. It adds them by judging; one that also drops rows (--rate) saves the loss's work on these.\n\n" +
			"   winnow cost\n" +
			"   winnow cost --dim 128 --classes 11318 --images 5 --bank 55000 --steps 100",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "inputs", Value: 1024, Usage: "length `N` of the stored features"},
			&cli.IntFlag{Name: "dim", Value: 512, Usage: "dimension `D` of the embedding"},
			&cli.StringFlag{Name: "batch", Value: "16x4", Usage: "`PxK`: classes and images of each in a batch"},
			&cli.IntFlag{Name: "classes", Value: 100, Usage: "`C` classes"},
			&cli.IntFlag{Name: "images", Value: 60, Usage: "`N` images of each class"},
			&cli.IntFlag{Name: "bank", Value: 5000, Usage: "`M` vectors in the memory bank"},
			&cli.IntFlag{Name: "centers", Value: 10, Usage: "proxies `K` of a class in SoftTriple"},
			&cli.Float64Flag{Name: "rate", DefaultText: "0: all are judged and none dropped", Usage: "share `R` that the filters drop, from 0 to below 1"},
			&cli.IntFlag{Name: "steps", Value: 200, Usage: "steps `N` timed in each repetition, after as many as fill the bank"},
			&cli.IntFlag{Name: "repeat", Value: 5, Usage: "repetitions `N`"},
			&cli.StringFlag{Name: "losses", Value: "mcl,soft_triple", Usage: "`LIST` of mcl and soft_triple"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed of everything that is drawn"},
			&cli.BoolFlag{Name: "json", Usage: "print the numbers as JSON"},
		},
		Action: costAction,
	}
}

// costVariant is one loss with one filter, and what PRISM says of the two.
type costVariant struct {
	loss, filter string
	paper        [3]float64 // seconds of 5,000 iterations on SOP (Table V), CARS and CUB (Table VI); 0: not there
}

// costVariants are those of PRISM's Tables V and VI; the first of a loss is without a filter.
var costVariants = []costVariant{
	{"mcl", config.NoFilter, [3]float64{1679.22, 1153.18, 1149.74}},
	{"mcl", "avgsim", [3]float64{1777.38, 1253.99, 1266.04}},
	{"mcl", "vmf", [3]float64{0, 1604.06, 1602.64}},
	{"soft_triple", config.NoFilter, [3]float64{1685.47, 1146.38, 1134.76}},
	{"soft_triple", "avgsim", [3]float64{1767.97, 1250.15, 1271.18}},
	{"soft_triple", "proxysim", [3]float64{0, 1200.84, 1161.77}},
	{"soft_triple", "vmf", [3]float64{0, 1636.11, 1641.63}},
}

// base is the place of the variant of the same loss without a filter.
func (v costVariant) base(among []costVariant) int {
	return slices.IndexFunc(among, func(o costVariant) bool { return o.loss == v.loss })
}

// costRow is what a variant came to.
type costRow struct {
	Loss       string               `json:"loss"`
	Filter     string               `json:"filter"`
	StepMillis spread.Spread        `json:"step_ms"`    // over repetitions
	Ratio      float64              `json:"ratio"`      // of the least step to the least of the loss without a filter
	Added      float64              `json:"added_ms"`   // to the same
	Ratios     spread.Spread        `json:"ratios"`     // within repetitions
	Kept       float64              `json:"kept_share"` // in the steps timed
	Bank       int                  `json:"bank"`       // members at the end
	Paper      map[string]paperCost `json:"paper"`
}

// paperCost is what a filter costs in the paper.
type paperCost struct {
	Ratio float64 `json:"ratio"`
	Added float64 `json:"added_ms"` // a step
}

// costResult is what --json prints.
type costResult struct {
	Winnow  string    `json:"winnow"`
	Threads int       `json:"threads"`
	Inputs  int       `json:"inputs"`
	Dim     int       `json:"dim"`
	Batch   string    `json:"batch"`
	Classes int       `json:"classes"`
	Images  int       `json:"images"`
	Bank    int       `json:"bank"`
	Centers int       `json:"centers"`
	Rate    float64   `json:"rate"`
	Steps   int       `json:"steps"`
	Repeat  int       `json:"repeat"`
	Rows    []costRow `json:"rows"`
}

func costAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	variants, base, err := costMisused(c)
	if err != nil {
		return err
	}
	if _, err := openRuntime(c); err != nil {
		return err
	}
	data := costData(c)
	rows := make([]costRow, len(variants))
	times, ratios := make([][]float64, len(variants)), make([][]float64, len(variants))
	for rep := range c.Int("repeat") {
		note(c, "repetition %d of %d", rep+1, c.Int("repeat"))
		seconds := make([]float64, len(variants))
		for turn := range variants {
			i := (turn + rep) % len(variants) // nobody is always first
			if seconds[i], err = costRun(c, variants[i], base, data, &rows[i]); err != nil {
				return err
			}
		}
		for i, v := range variants {
			times[i] = append(times[i], 1e3*seconds[i])
			ratios[i] = append(ratios[i], seconds[i]/seconds[v.base(variants)])
		}
	}
	for i, v := range variants {
		rows[i].Loss, rows[i].Filter = v.loss, v.filter
		rows[i].StepMillis, rows[i].Ratios, rows[i].Paper = spread.New(times[i]), spread.New(ratios[i]), v.paperCosts()
		bare := rows[v.base(variants)].StepMillis.Least // stands before
		rows[i].Ratio, rows[i].Added = rows[i].StepMillis.Least/bare, rows[i].StepMillis.Least-bare
	}
	result := costResult{Winnow: version(), Threads: c.Int("threads"), Inputs: c.Int("inputs"), Dim: base.Head.Out, Batch: c.String("batch"), Classes: c.Int("classes"), Images: c.Int("images"),
		Bank: base.Bank.Size, Centers: c.Int("centers"), Rate: c.Float64("rate"), Steps: c.Int("steps"), Repeat: c.Int("repeat"), Rows: rows}
	if c.Bool("json") {
		return printJSON(c.App.Writer, result)
	}
	return printCost(c.App.Writer, result)
}

// costMisused gives the variants asked for, and what their configurations share.
func costMisused(c *cli.Context) (variants []costVariant, base config.Run, err error) {
	for _, name := range strings.Split(c.String("losses"), ",") {
		n := len(variants)
		for _, v := range costVariants {
			if v.loss == strings.TrimSpace(name) {
				variants = append(variants, v)
			}
		}
		if len(variants) == n {
			return nil, base, misused("--losses: found %q, expected mcl, soft_triple", name)
		}
	}
	for flag, least := range map[string]int{"inputs": 2, "dim": 2, "classes": 2, "images": 2, "bank": 1, "centers": 1, "steps": 1, "repeat": 1} {
		if n := c.Int(flag); n < least || n > 1<<24 {
			return nil, base, misused("--%s: found %d, expected %d to %d", flag, n, least, 1<<24)
		}
	}
	if n := float64(c.Int("inputs")) * float64(c.Int("classes")) * float64(c.Int("images")); n > 1<<31 {
		return nil, base, misused("--inputs, --classes and --images make %.3g numbers, expected at most %d", n, 1<<31)
	}
	base = config.Default()
	base.Seed, base.Head.Out, base.Head.Init, base.Bank.Size = c.Uint64("seed"), c.Int("dim"), "random", c.Int("bank")
	base.Filter.Config = filters.Default()
	base.Filter.Rate, base.Filter.AvgSim = config.Rate(c.Float64("rate")), config.Span{}
	base.Diagnostics.Every = config.Span{}
	if err = base.Sampler.SetBatch(c.String("batch")); err != nil {
		return nil, base, misused("--batch: %w", err)
	}
	for _, v := range variants {
		cfg := v.config(c, base)
		if err := cfg.Validate(); err != nil {
			return nil, base, asMisuse(err)
		}
	}
	return variants, base, nil
}

// config is the run of a variant.
func (v costVariant) config(c *cli.Context, base config.Run) config.Run {
	base.Filter.Scorer = v.filter
	if v.loss == "soft_triple" {
		base.Losses = []config.Loss{{Name: "soft_triple", Weight: 1, Against: config.AgainstBatch, Settings: map[string]any{"centers": c.Int("centers")}}}
		if entry, err := filters.Find(v.filter); err != nil || !entry.NeedsBank {
			base.Bank.Size = 0
		}
	} else {
		base.Losses = slices.Clone(base.Losses)
	}
	base.Length = config.Steps(costFill(c, base) + c.Int("steps"))
	return base
}

// costFill is the number of steps that fill the bank when the filter drops its share, the same for all variants, so
// that all time the same batches.
func costFill(c *cli.Context, base config.Run) int {
	kept := float64(base.Sampler.Classes*base.Sampler.Images) * (1 - c.Float64("rate"))
	return min(int(float64(c.Int("bank"))/max(kept, 1))+1, 20000)
}

// costData draws classes around directions, half of the labels wrong as far as the rate says.
func costData(c *cli.Context) run.Data {
	classes, each, dim := c.Int("classes"), c.Int("images"), c.Int("inputs")
	rng := train.Rand(c.Uint64("seed"), "cost", 0)
	data := run.Data{Train: features.NewSet(classes*each, dim)}
	centre := make([]float32, dim)
	for k := range classes {
		data.Classes = append(data.Classes, fmt.Sprint(k))
		for j := range centre {
			centre[j] = float32(rng.NormFloat64())
		}
		for i := k * each; i < (k+1)*each; i++ {
			data.Train.Labels[i], data.Train.IDs[i] = k, i
			if rng.Float64() < c.Float64("rate") {
				data.Train.Labels[i] = rng.IntN(classes)
			}
			for j, row := 0, data.Train.Row(i); j < dim; j++ {
				row[j] = centre[j] + float32(rng.NormFloat64())
			}
		}
	}
	data.Paths = make([]string, data.Train.Len())
	data.Stored = data.Train
	return data
}

// costRun trains once and gives the lower quartile of the seconds of the steps timed.
func costRun(c *cli.Context, v costVariant, base config.Run, data run.Data, row *costRow) (float64, error) {
	cfg := v.config(c, base)
	skip := costFill(c, base)
	var last time.Time
	var seconds []float64
	var rows, kept int
	opts := run.Options{Stepped: func(s train.Step) {
		now := time.Now()
		if s.Number > skip {
			seconds = append(seconds, now.Sub(last).Seconds())
			rows, kept = rows+len(s.IDs), kept+len(s.Kept)
		}
		last = now
		row.Bank = s.Bank
	}}
	_, err := run.Run(c.Context, cfg, data, opts)
	row.Kept = float64(kept) / float64(max(rows, 1))
	return spread.New(seconds).Q1, err
}

// paperSets are the datasets of PRISM's Tables V and VI.
var paperSets = [3]string{"SOP", "CARS", "CUB"}

// paperSteps is the length of the trainings that the paper timed.
const paperSteps = 5000

// paperCosts compare the paper's seconds with those without a filter, where it has both.
func (v costVariant) paperCosts() map[string]paperCost {
	list := map[string]paperCost{}
	for _, o := range costVariants {
		if o.loss != v.loss || o.filter != config.NoFilter || v.filter == config.NoFilter {
			continue
		}
		for i, set := range paperSets {
			if v.paper[i] > 0 {
				list[set] = paperCost{v.paper[i] / o.paper[i], 1e3 * (v.paper[i] - o.paper[i]) / paperSteps}
			}
		}
	}
	return list
}

func printCost(out io.Writer, r costResult) error {
	fmt.Fprintf(out, "batch %s, %d → %d numbers, %d classes, a bank of %d, %d proxies a class; the least of %d repetitions of %d steps\n\n",
		r.Batch, r.Inputs, r.Dim, r.Classes, r.Bank, r.Centers, r.Repeat, r.Steps)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "loss\tfilter\tms a step\tratio\tfrom – to\tadded ms\tkept\tpaper: SOP\tCARS\tCUB")
	for _, row := range r.Rows {
		fmt.Fprintf(w, "%s\t%s\t%.3f\t%.3f\t%.3f – %.3f\t%+.3f\t%.0f %%", row.Loss, row.Filter, row.StepMillis.Least, row.Ratio, row.Ratios.Least, row.Ratios.Most, row.Added, 100*row.Kept)
		for _, set := range paperSets {
			if v, ok := row.Paper[set]; ok {
				fmt.Fprintf(w, "\t%.3f (%+.0f ms)", v.Ratio, v.Added)
			} else {
				fmt.Fprint(w, "\t–")
			}
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}
