// Package sweep is winnow sweep: a grid of settings, or drawn ones, over seeds.
package sweep

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/run/cells"
	"winnow/run/folder"
	"winnow/run/sweep"
)

// Options are what the command is asked for.
type Options struct {
	sweep.Options
	DryRun, JSON bool
}

// Command is winnow sweep.
func Command() *cli.Command { return command(run) }

func command(call term.Call[Options]) *cli.Command {
	shared := slices.DeleteFunc(term.RunFlags(), func(f cli.Flag) bool { return f.Names()[0] == "seed" })
	return &cli.Command{
		Name: "sweep", ArgsUsage: "[MANIFEST | PHOTOS]",
		Usage: "compare settings, a grid or random ones, over seeds, and choose the best by validation",
		Description: "Trains every combination of the values that --vary lists, for each seed, several at once. All " +
			"trainings\nshare the other flags, which are those of winnow train.\n\n   winnow sweep --manifest birds.csv " +
			"--features birds.features --vary lr=1e-4,3e-4,1e-3 --vary loss=contrastive:bank,soft_triple --out lr\n   " +
			"winnow sweep birds/ --vary model=mobilenetv2,resnet18 --vary lr=1e-4,1e-3 --seeds 5 --out backbones\n   " +
			"winnow sweep --manifest birds.csv --features birds.features --vary lr=1e-5..1e-2:log --vary " +
			"solver.weight_decay=0..0.01 --draws 20 --out drawn\n   winnow sweep --manifest birds.csv --root birds/ " +
			"--model mobilenetv2 --finetune all --vary backbone-lr=3e-5,1e-4 --seeds 5 --out tuned\n\nIn --vary " +
			"KEY=VALUES, KEY is a flag without its dashes (lr, loss, filter, noise-rate, batch …) or a setting\nthat " +
			"winnow train --defaults prints (solver.weight_decay). Separate values by commas, or by ; if a value\nholds " +
			"a comma. Join several losses with +. --draws N trains N random points instead of all combinations;\nvalues " +
			"are then also ranges LOW..HIGH or LOW..HIGH:log.\n\nBefore any training, every configuration is checked and " +
			"some steps are timed. Each training is a run folder\nin DIR/cells, for winnow eval, report and export. To " +
			"continue an interrupted sweep, run the same command;\nyou may add values, --draws and --seeds. A training " +
			"that fails does not stop the others.\n\nAfter each training, results.csv, results.json and report.html are " +
			"written: the settings ordered by mean\nvalidation P@1, each compared with the first, seed by seed. So let " +
			"the first value be what you have now.\nTest P@1 stands beside it and chooses nothing. Without a validation " +
			"split, a tenth of the training images is\nheld out (--set validation.hold_out=SHARE).",
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "vary",
				Usage: "what differs, `KEY=VALUE,VALUE,...`, or with --draws KEY=LOW..HIGH[:log]; may be repeated"},
			&cli.StringFlag{Name: "seeds", Value: "3",
				Usage: "`N` seeds, 1 to N, of every setting, or a list as 1,3,7-9"},
			&cli.IntFlag{Name: "draws", DefaultText: "the whole grid", Usage: "draw `N` points"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "seed `N` of --draws"},
			&cli.IntFlag{Name: "jobs", DefaultText: "one a thread, with --finetune one",
				Usage: "`N` trainings at once, each with its share of --threads"},
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "`DIR` for trainings and results"},
			term.MLflow(),
			&cli.BoolFlag{Name: "dry-run",
				Usage: "say how many trainings there are and how long they may take, and stop"},
			&cli.BoolFlag{Name: "json", Usage: "print the results as JSON"},
		}, shared...),
		Action: term.Action(read, call),
	}
}

func read(c *cli.Context) (o Options, err error) {
	if err := term.OneManifest(c); err != nil {
		return o, err
	}
	o.DryRun, o.JSON = c.Bool("dry-run"), c.Bool("json")
	o.Dir, o.MLflow = c.String("out"), c.String("mlflow")
	o.Draws, o.Seed, o.Jobs = c.Int("draws"), c.Uint64("seed"), c.Int("jobs")
	switch {
	case c.IsSet("draws") && o.Draws < 1:
		return o, term.Misused("--draws: found %d, expected 1 or more", o.Draws)
	case c.IsSet("seed") && !c.IsSet("draws"):
		return o, term.Misused("--seed is the seed of --draws: --seeds gives those of the trainings")
	}
	for _, text := range c.StringSlice("vary") {
		axis, err := sweep.ParseAxis(text)
		if err != nil {
			return o, term.Misused("--vary: %w", err)
		}
		o.Axes = append(o.Axes, axis)
	}
	if o.Seeds, err = cells.ParseSeeds(c.String("seeds")); err != nil || len(o.Seeds) == 0 {
		return o, term.Misused("--seeds: %w", err)
	}
	o.Asked = term.AskedRun(c)
	delete(o.Asked, "seed")
	_, err = sweep.New(o.Options)
	if bad, ok := errors.AsType[sweep.OptionError](err); ok {
		return o, term.Misused("--%s: %w", bad.Option, bad.Err)
	}
	return o, err
}

func run(ctx context.Context, p *term.Program, o Options) error {
	o.Threads, o.Winnow, o.Host = p.Compute.Threads, term.Version(), p.Host()
	o.About = folder.Facts{Device: p.Compute.Device, Threads: p.Compute.Threads}
	o.Runtime = func(threads int) (*ort.Runtime, error) { return p.OpenRuntimeThreads(threads) }
	o.Steps = func() (func(done, total, earlier int), func()) { return p.WatchFrom("steps") }
	s, err := sweep.New(o.Options)
	if err != nil {
		return err
	}
	plan, results, err := s.Run(ctx, o.DryRun)
	switch {
	case err != nil:
		return err
	case o.DryRun && o.JSON:
		return p.JSON(plan)
	case o.DryRun:
		fmt.Fprintln(p.Out, plan)
		return nil
	case o.JSON:
		err = results.JSON(p.Data)
	default:
		err = results.Text(p.Out)
	}
	if n := len(results.Failures()); n > 0 && err == nil {
		return fmt.Errorf("sweep: %d of %d trainings failed, the first: %s", n, len(results.Cells),
			results.Failures()[0].Failed)
	}
	return err
}
