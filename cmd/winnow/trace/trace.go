// Package trace is winnow trace.
package trace

import (
	"context"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/term"
	"winnow/filters"
	"winnow/internal/progress"
	"winnow/papers/watch"
	"winnow/run"
)

// Options are what winnow trace is asked.
type Options struct {
	watch.Options
	Out  string // folder
	JSON bool
}

// Command is winnow trace.
func Command() *cli.Command { return command(trace) }

func command(call term.Call[Options]) *cli.Command {
	own := []cli.Flag{
		&cli.StringFlag{Name: "filters", Value: "vmf,avgsim", Usage: "scorers to compare, each in a training of its own, `LIST` of: " + strings.Join(filters.Names(), ", ")},
		&cli.StringFlag{Name: "at", DefaultText: "four times, the last at the end", Usage: "iterations at which scores are counted, `N,...`"},
		&cli.IntFlag{Name: "window", DefaultText: "an epoch", Usage: "iterations `N` up to these whose scores are counted together"},
		&cli.Float64Flag{Name: "smooth", Value: watch.PaperSmoothing, Usage: "weight `W` of the past in the curves"},
		&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "`DIR` for trace.json, trace.html and the drawings; required"},
		&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
	}
	own = append(own, term.RunFlags("manifest", "features", "config", "set", "loss", "noise-rate", "dim", "hidden", "init", "epochs", "steps", "batch", "lr", "seed")...)
	return &cli.Command{
		Name:  "trace",
		Usage: "watch filters during training beside the truth: what they keep, P_clean of right and wrong labels, κ",
		Description: "For a manifest with true labels (winnow data corrupt makes one): trains a head with each of the filters named and\n" +
			"compares, from outside the training, what they keep with the truth. PRISM's (001) Fig. 2 (share of right labels\n" +
			"among the kept over training), Fig. 3 (scores of right and of wrong labels) and Fig. 5 (concentrations of the\n" +
			"classes), as numbers and drawings. Nothing of it reaches a run of winnow train.\n\n" +
			"   winnow trace --manifest noisy.csv --features birds.features --noise-rate 0.5 --out birds.trace\n" +
			"   winnow trace --manifest noisy.csv --features birds.features --loss soft_triple --filters vmf,avgsim,proxysim --out birds.trace",
		Flags:  own,
		Action: term.Action(read, call),
	}
}

func read(c *cli.Context) (o Options, err error) {
	if err := term.NoArguments(c); err != nil {
		return o, err
	}
	o = Options{Out: c.String("out"), JSON: c.Bool("json")}
	if o.Config, err = term.ReadRun(c); err != nil {
		return o, err
	}
	for _, name := range strings.Split(c.String("filters"), ",") {
		o.Filters = append(o.Filters, strings.TrimSpace(name))
	}
	if c.IsSet("at") {
		if o.At, err = term.WholeNumbers(c, "at"); err != nil {
			return o, err
		}
	}
	if o.Smooth, o.Window = c.Float64("smooth"), c.Int("window"); c.IsSet("window") && o.Window < 1 {
		return o, term.Misused("--window: found %d, expected 1 or more iterations", o.Window)
	}
	if err := o.Check(); err != nil {
		return o, err
	}
	if o.Out == "" {
		return o, term.Misused("--out is missing")
	}
	return o, nil
}

func trace(ctx context.Context, p *term.Program, o Options) error {
	rt, err := p.OpenRuntime()
	if err != nil {
		return err
	}
	defer rt.Close()
	o.Winnow, o.Note = term.Version(), p.Note
	o.Progress = func() (run.Options, func()) {
		line := progress.NewTraining(p.Err, time.Now)
		watched := run.Options{Begun: func(plan run.Plan) error { line.Begun(plan); return nil }}
		if !p.Quiet {
			watched.Stepped = line.Stepped
		}
		return watched, line.End
	}
	result, err := watch.Compare(ctx, o.Options)
	if err != nil {
		return err
	}
	if err := result.Write(o.Out); err != nil {
		return err
	}
	if o.JSON {
		return result.JSON(p.Data)
	}
	p.Note("written to %s: %s, %s and drawings", o.Out, watch.Page, watch.File)
	return result.Text(p.Out)
}
