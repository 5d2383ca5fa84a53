// Package sweep implements the "winnow sweep" command, which compares settings, from a grid or random, over seeds.
package sweep

import (
	"context"
	_ "embed"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/term"
	"winnow/cmd/winnow/training"
	"winnow/run/folder"
	"winnow/run/grid"
)

//go:embed help.txt
var help string

// Options holds the parsed flags.
type Options struct {
	grid.SweepOptions
	DryRun, JSON bool
}

// Command returns the "winnow sweep" command.
func Command() *cli.Command {
	shared := slices.DeleteFunc(training.RunFlags(), func(f cli.Flag) bool { return f.Names()[0] == "seed" })
	return &cli.Command{
		Name: "sweep", ArgsUsage: "[MANIFEST | PHOTOS]",
		Usage:       "compare settings, from a grid or random, over seeds, and choose the best by validation",
		Description: help,
		Flags: append([]cli.Flag{
			&cli.StringSliceFlag{Name: "vary",
				Usage: "setting to vary, `KEY=VALUE,VALUE,...`, or with --draws KEY=LOW..HIGH[:log]; may be repeated"},
			&cli.StringFlag{Name: "seeds", Value: "3",
				Usage: "`N` seeds, 1 to N, for every setting, or a list such as 1,3,7-9"},
			&cli.IntFlag{Name: "draws", DefaultText: "the whole grid", Usage: "draw `N` random combinations"},
			term.SeedFlag("seed `N` of --draws"),
			&cli.StringFlag{Name: "jobs", DefaultText: "one per thread; with --finetune one; auto on a GPU",
				Usage: "`N` trainings at once, each with its share of --threads; auto: the fastest number, found by " +
					"timing some steps of networks"},
			term.OutFlag("`DIR` for trainings and results"),
			&cli.BoolFlag{Name: "dry-run",
				Usage: "print the number of trainings and an estimate of their time, and stop"},
			term.JSONFlag(),
		}, shared...),
		Action: term.Action(readSweep, runSweep),
	}
}

func readSweep(c *cli.Context) (o Options, err error) {
	if err := term.OneManifest(c); err != nil {
		return o, err
	}
	o.DryRun, o.JSON = c.Bool("dry-run"), c.Bool("json")
	o.Dir = c.String("out")
	o.Draws, o.Seed = c.Int("draws"), c.Uint64("seed")
	if o.Jobs, err = grid.ParseJobs(c.String("jobs")); err != nil {
		return o, term.Misused("--jobs: %w", err)
	}
	switch {
	case c.IsSet("draws") && o.Draws < 1:
		return o, term.Misused("--draws: found %d, expected 1 or more", o.Draws)
	case c.IsSet("seed") && !c.IsSet("draws"):
		return o, term.Misused("--seed requires --draws; --seeds sets the seeds of the trainings")
	}
	for _, text := range c.StringSlice("vary") {
		axis, err := grid.ParseAxis(text)
		if err != nil {
			return o, term.Misused("--vary: %w", err)
		}
		o.Axes = append(o.Axes, axis)
	}
	if o.Seeds, err = grid.ParseSeeds(c.String("seeds")); err != nil || len(o.Seeds) == 0 {
		return o, term.Misused("--seeds: %w", err)
	}
	o.Asked = training.AskedRun(c)
	delete(o.Asked, "seed")
	_, err = grid.NewSweep(o.SweepOptions)
	return o, err
}

func runSweep(ctx context.Context, p *term.Program, o Options) error {
	o.Threads, o.Winnow, o.Host = p.Compute.Threads, term.Version(), p.Host()
	o.About = folder.Facts{Device: p.Compute.Device, Threads: p.Compute.Threads}
	o.Runtime = func(threads int) (*ort.Runtime, error) { return p.OpenRuntimeThreads(threads) }
	o.Watch, o.Write = p.Watch, func(r *grid.Results) error { return newResults(r).writeSweepFiles() }
	s, err := grid.NewSweep(o.SweepOptions)
	if err != nil {
		return err
	}
	plan, found, err := s.Run(ctx, o.DryRun)
	switch {
	case err != nil:
		return err
	case o.DryRun && o.JSON:
		return p.JSON(plan)
	case o.DryRun:
		_, err = fmt.Fprintln(p.Out, plan)
		return err
	case o.JSON:
		err = newResults(found).writeJSON(p.Data)
	default:
		err = newResults(found).writeText(p.Out)
	}
	if failures := found.Failures(); len(failures) > 0 && err == nil {
		return fmt.Errorf("sweep: %d of %d trainings failed, the first with: %s", len(failures), len(found.Trainings),
			failures[0].Failed)
	}
	return err
}
