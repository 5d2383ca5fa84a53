package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/datasets"
	"winnow/eval"
	"winnow/filters"
	"winnow/internal/atomicfile"
	"winnow/report"
	"winnow/report/chart"
	"winnow/run"
	"winnow/run/config"
	"winnow/train"
)

// Files of winnow trace.
const (
	traceJSON = "trace.json"
	tracePage = "trace.html"
)

func traceCommand() *cli.Command {
	own := []cli.Flag{
		&cli.StringFlag{Name: "filters", Value: "vmf,avgsim", Usage: "scorers to compare, each in a training of its own, `LIST` of: " + strings.Join(filters.Names(), ", ")},
		&cli.StringFlag{Name: "at", DefaultText: "four times, the last at the end", Usage: "iterations at which scores are counted, `N,...`"},
		&cli.IntFlag{Name: "window", DefaultText: "an epoch", Usage: "iterations `N` up to these whose scores are counted together"},
		&cli.Float64Flag{Name: "smooth", Value: report.PaperSmoothing, Usage: "weight `W` of the past in the curves"},
		&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "`DIR` for trace.json, trace.html and the drawings; required"},
		&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
	}
	for _, f := range trainFlags {
		if slices.Contains([]string{"manifest", "features", "config", "set", "loss", "noise-rate", "dim", "hidden", "init", "epochs", "steps", "batch", "lr", "seed"}, f.Names()[0]) {
			own = append(own, f)
		}
	}
	return &cli.Command{
		Name:  "trace",
		Usage: "watch filters during training beside the truth: what they keep, P_clean of right and wrong labels, κ",
		Description: "For a manifest with true labels (winnow data corrupt makes one): trains a head with each of the filters named and\n" +
			"compares, from outside the training, what they keep with the truth. PRISM's (001) Fig. 2 (share of right labels\n" +
			"among the kept over training), Fig. 3 (scores of right and of wrong labels) and Fig. 5 (concentrations of the\n" +
			"classes), as numbers and drawings. Nothing of it reaches a run of winnow train.\n\n" +
			"   winnow trace --manifest noisy.csv --features birds.features --noise-rate 0.5 --out birds.trace\n" +
			"   winnow trace --manifest noisy.csv --features birds.features --loss soft_triple --filters vmf,avgsim,proxysim --out birds.trace",
		Flags:  showDefaults(own, config.Default()),
		Action: traceAction,
	}
}

// correctedUnseen is why no run that corrects labels is compared with the truth.
const correctedUnseen = "what is compared with the truth are the labels as given, and not corrected ones"

// tracedRun is what one training showed.
type tracedRun struct {
	Filter    string              `json:"filter"`
	Total     eval.FilterTotal    `json:"total"`       // of all steps
	Late      eval.FilterTotal    `json:"second_half"` // of the second half
	Steps     []eval.FilterStep   `json:"steps"`
	Scores    []eval.FilterScores `json:"scores"`
	Diagnoses []train.Diagnosis   `json:"diagnoses"`

	trace     *eval.FilterTrace
	threshold map[int]float64 // by step, where there was one
}

// traceResult is trace.json.
type traceResult struct {
	Winnow string            `json:"winnow"`
	Config map[string]string `json:"config"` // of all runs but for filter.scorer
	Runs   []*tracedRun      `json:"runs"`
}

func traceAction(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	cfg, names, err := traceConfig(c)
	if err != nil {
		return err
	}
	at, err := iterations(c)
	if err != nil {
		return err
	}
	d, err := datasets.Read(cfg.Data.Manifest, datasets.ReadOptions{})
	if err != nil {
		return err
	}
	if !d.HasTruth(datasets.Train) {
		return withHint(fmt.Errorf("trace: %s: has no true labels to compare with", cfg.Data.Manifest), "make a manifest with known wrong labels: winnow data corrupt")
	}
	data, err := run.Load(d, cfg.Data.Features, true)
	if err != nil {
		return err
	}
	if _, err := openRuntime(c); err != nil {
		return err
	}
	if err := os.MkdirAll(c.String("out"), 0o755); err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	result := traceResult{Winnow: version(), Config: config.Flatten(cfg)}
	delete(result.Config, "filter.scorer")
	for _, name := range names {
		cfg.Filter.Scorer = name
		run, err := traceRun(c, cfg, data, d, at)
		if err != nil {
			return err
		}
		result.Runs = append(result.Runs, run)
	}
	if err := writeTrace(c, d, result); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, result)
	}
	note(c, "written to %s: %s, %s and drawings", c.String("out"), tracePage, traceJSON)
	return printTrace(c.App.Writer, result)
}

// traceConfig is the configuration of the runs and the filters that take turns in it.
func traceConfig(c *cli.Context) (cfg config.Run, names []string, err error) {
	if cfg, err = trainConfig(c); err != nil {
		return cfg, nil, err
	}
	for _, name := range strings.Split(c.String("filters"), ",") {
		names = append(names, strings.TrimSpace(name))
		cfg.Filter.Scorer = names[len(names)-1]
		if err := cfg.Validate(); err != nil {
			return cfg, nil, asMisuse(err)
		}
		if cfg.Filter.Scorer == config.NoFilter {
			return cfg, nil, misused("--filters: found none, expected scorers: there is nothing to watch")
		}
	}
	for _, need := range [][2]string{{"manifest", cfg.Data.Manifest}, {"features", cfg.Data.Features}, {"out", c.String("out")}} {
		if need[1] == "" {
			return cfg, nil, misused("--%s is missing", need[0])
		}
	}
	switch w := c.Float64("smooth"); {
	case cfg.Finetune.On() || cfg.Method != config.Metric:
		return cfg, nil, misused("trace: watches filters over heads on stored features: expected finetune.weights none and method %s", config.Metric)
	case cfg.Correct.On():
		return cfg, nil, misused("trace: correct.visits: found %d, expected 0: %s", cfg.Correct.Visits, correctedUnseen)
	case !(w >= 0 && w < 1):
		return cfg, nil, misused("--smooth: found %v, expected a weight from 0 to below 1", w)
	case c.IsSet("window") && c.Int("window") < 1:
		return cfg, nil, misused("--window: found %d, expected 1 or more iterations", c.Int("window"))
	}
	return cfg, names, nil
}

// iterations reads --at.
func iterations(c *cli.Context) (at []int, err error) {
	if !c.IsSet("at") {
		return nil, nil
	}
	list, err := numberList(c, "at")
	for _, v := range list {
		if v < 1 || v > math.MaxInt32 || v != math.Trunc(v) {
			return nil, misused("--at: found %v, expected iterations from 1 on", v)
		}
		at = append(at, int(v))
	}
	return at, err
}

// traceRun trains once, keeps nothing of the training, and watches.
func traceRun(c *cli.Context, cfg config.Run, data run.Data, d *datasets.Dataset, at []int) (*tracedRun, error) {
	progress := term.NewTrainProgress(c.App.ErrWriter, time.Now)
	defer progress.End()
	seen := &tracedRun{Filter: cfg.Filter.Scorer, threshold: map[int]float64{}}
	opts := run.Options{Diagnosed: func(d train.Diagnosis) { seen.Diagnoses = append(seen.Diagnoses, d) }}
	steps := 0
	opts.Begun = func(plan run.Plan) error {
		note(c, "%s", seen.Filter)
		progress.Begun(plan)
		steps = plan.Steps
		if at == nil {
			at = []int{(steps + 3) / 4, (steps + 1) / 2, (3*steps + 3) / 4, steps}
		}
		if last := slices.Max(at); last > steps {
			note(c, "--at: %d is behind the training's last iteration, %d: nothing is counted there", last, steps)
		}
		window := plan.Epoch
		if c.IsSet("window") {
			window = c.Int("window")
		}
		seen.trace = eval.NewFilterTrace(d, at, window)
		return nil
	}
	opts.Stepped = func(s train.Step) {
		if !c.Bool("quiet") {
			progress.Stepped(s)
		}
		seen.trace.Step(s.Number, s.IDs, s.Kept, s.Scores, s.Judge)
		if s.HasThreshold {
			seen.threshold[s.Number] = s.Threshold
		}
	}
	if _, err := run.Run(c.Context, cfg, data, opts); err != nil {
		return nil, err
	}
	seen.Total, seen.Late = seen.trace.Total(0), seen.trace.Total(steps/2)
	seen.Steps, seen.Scores = seen.trace.Steps(), seen.trace.Scores()
	return seen, nil
}

// writeTrace writes numbers, page and drawings.
func writeTrace(c *cli.Context, d *datasets.Dataset, result traceResult) error {
	dir := c.String("out")
	charts := traceCharts(result, c.Float64("smooth"))
	files := map[string]func(io.Writer) error{traceJSON: func(w io.Writer) error { return printJSON(w, result) }}
	var drawings []chart.Drawing
	for _, drawn := range charts {
		files[drawn.file+".svg"] = drawn.WriteSVG
		drawings = append(drawings, drawn)
	}
	report := eval.Report{
		Title: "What the filters kept, beside the truth", Charts: drawings,
		Facts: []eval.Fact{
			{Name: "manifest", Value: result.Config["data.manifest"]}, {Name: "features", Value: result.Config["data.features"]},
			{Name: "losses", Value: config.LossList(result.Config)}, {Name: "filter.rate", Value: result.Config["filter.rate"]},
			{Name: "seed", Value: result.Config["seed"]}, {Name: "winnow", Value: result.Winnow},
		},
	}
	for _, run := range result.Runs {
		report.Verdict = append(report.Verdict, fmt.Sprintf("%s: of the labels kept in the second half of training, %s are right (%s of all are); %s of the right ones were kept, and %s of the dropped are wrong.",
			run.Filter, shareText(run.Late.Accuracy), shareText(oneMinus(run.Late.NoiseRate)), shareText(run.Late.Recall), shareText(run.Late.Precision)))
	}
	files[tracePage] = report.WriteHTML
	if err := removeDrawings(dir, files); err != nil {
		return err
	}
	for name, write := range files {
		if err := atomicfile.Write(filepath.Join(dir, name), write); err != nil {
			return fmt.Errorf("trace: %s: %w", name, err)
		}
	}
	return nil
}

// removeDrawings takes away what an earlier trace drew into the folder and this one does not replace.
func removeDrawings(dir string, files map[string]func(io.Writer) error) error {
	old, err := filepath.Glob(filepath.Join(dir, "scores-*-*.svg"))
	if err != nil {
		return fmt.Errorf("trace: %w", err)
	}
	for _, path := range append(old, filepath.Join(dir, "kappa.svg")) {
		if files[filepath.Base(path)] != nil {
			continue
		}
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("trace: %w", err)
		}
	}
	return nil
}

// tracedChart is a drawing with the name of its file.
type tracedChart struct {
	chart.Drawing
	file string
}

func traceCharts(result traceResult, smooth float64) []tracedChart {
	var traces []report.NamedTrace
	var looked []report.NamedDiagnoses
	for _, run := range result.Runs {
		traces = append(traces, report.NamedTrace{Name: run.Filter, Trace: run.trace})
		if slices.ContainsFunc(run.Diagnoses, func(d train.Diagnosis) bool { return d.Kappa != nil }) {
			looked = append(looked, report.NamedDiagnoses{Name: run.Filter, List: run.Diagnoses})
		}
	}
	list := []tracedChart{{report.AccuracyChart(fmt.Sprintf("Share of right labels among the kept (smoothed by %g)", smooth), smooth, traces...), "accuracy"}}
	if len(looked) > 0 {
		list = append(list, tracedChart{report.KappaBoxes("Concentrations of the classes over training", looked...), "kappa"})
	}
	for _, run := range result.Runs {
		for _, s := range run.Scores {
			var threshold *float64
			if v, ok := run.threshold[s.Step]; ok {
				threshold = &v
			}
			list = append(list, tracedChart{report.ScoresChart(s, threshold), fmt.Sprintf("scores-%s-%d", run.Filter, s.Step)})
		}
	}
	return list
}

func printTrace(out io.Writer, result traceResult) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "filter\tright among kept\tin the second half\tright ones kept\twrong among dropped\tright in all")
	for _, run := range result.Runs {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", run.Filter, shareText(run.Total.Accuracy), shareText(run.Late.Accuracy), shareText(run.Late.Recall), shareText(run.Late.Precision), shareText(oneMinus(run.Late.NoiseRate)))
	}
	return w.Flush()
}

func shareText(v *float64) string { return percentOr(v, "–") }

func oneMinus(v *float64) *float64 {
	if v == nil {
		return nil
	}
	rest := 1 - *v
	return &rest
}
