// Package demo is winnow demo: the whole path on drawn characters with half of the labels wrong.
package demo

import (
	"context"
	"errors"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/cmd/winnow/progress"
	"winnow/cmd/winnow/term"
	"winnow/datasets/glyphs"
	"winnow/papers/demo"
	"winnow/run"
	"winnow/run/folder"
)

// Options are the demo's options and the form of its output.
type Options struct {
	demo.Options
	JSON bool
}

// Command is winnow demo.
func Command() *cli.Command { return command(call) }

const description = `
Draws the embedded dataset, extracts features with the embedded backbone, makes half of the training labels
wrong, and fine-tunes the backbone with a head three times, with the same seed and budget: on the true labels,
on the wrong ones without a filter, and on the wrong ones with PRISM (vMF-Sim). Then it trains a head alone the
same three times, on fixed features. It writes result.json, report.html and the files of every stage; the
folders of the trainings are runs like any other.
`

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:        "demo",
		Usage:       "show everything on drawn characters with half of the labels wrong, and write a report",
		Description: description,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Value: "demo", Usage: "`DIR` to write"},
			&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`SEED` of noise and training"},
			&cli.Float64Flag{Name: "noise-rate", Value: 0.5, Usage: "share `P` of the training labels made wrong"},
			&cli.IntFlag{Name: "classes", DefaultText: "all 240", Usage: "draw `N` characters only, 12 … 240"},
			&cli.IntFlag{Name: "images", Value: glyphs.DefaultImages, Usage: "draw `N` images of each, 2 … 1000"},
			&cli.StringSliceFlag{Name: "set",
				Usage: "one setting of the trainings, `KEY=VALUE` as of winnow train; may be repeated"},
			&cli.BoolFlag{Name: "json", Usage: "print result.json instead of the table"},
		},
		Action: term.Action(read, call),
	}
}

func read(c *cli.Context) (Options, error) {
	return Options{JSON: c.Bool("json"), Options: demo.Options{
		Dir: c.String("out"), Seed: c.Uint64("seed"), Rate: c.Float64("noise-rate"), Classes: c.Int("classes"),
		Images: c.Int("images"), Settings: c.StringSlice("set"),
	}}, term.NoArguments(c)
}

func call(ctx context.Context, p *term.Program, o Options) error {
	o.Host, o.Watch, o.About = p.Host(), p.Watch, folder.Facts{Device: p.Compute.Device, Threads: p.Compute.Threads}
	o.Training = func(plan run.Plan) (run.Observer, func()) { return watch(p, plan) }
	r, err := demo.Run(ctx, o.Options)
	var misuse demo.Misuse
	switch {
	case errors.As(err, &misuse):
		return term.AsMisuse(err)
	case err != nil:
		return err
	case o.JSON:
		return p.JSON(r)
	}
	r.Write(p.Out)
	return nil
}

// watch shows the progress of a training.
func watch(p *term.Program, plan run.Plan) (show run.Observer, end func()) {
	line := progress.NewTraining(p.Err, time.Now)
	line.Begun(plan)
	if !p.Quiet {
		show.Stepped = line.Stepped
	}
	return show, line.End
}
