// Package train is winnow train: a head, or a whole backbone, is trained on labels that may be wrong.
package train

import (
	"context"
	_ "embed"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/backbone/ort"
	"winnow/cmd/winnow/progress"
	"winnow/cmd/winnow/term"
	"winnow/papers/recipes"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
)

//go:embed help.txt
var help string

// Options are what the command is asked for.
type Options struct {
	Config            config.Run
	Recipe            string // that Config began with
	Out               string
	Resume, Overwrite bool
	Defaults          bool // print Config, and stop
	JSON              bool
	MLflow            string // folder of its store
}

// Command is winnow train.
func Command() *cli.Command { return command(train) }

func command(call term.Call[Options]) *cli.Command {
	return &cli.Command{
		Name:        "train",
		Usage:       "train an embedding on labels that may be wrong: a head on a backbone, or the backbone too",
		ArgsUsage:   "[MANIFEST | PHOTOS]",
		Description: help,
		Flags: append(slices.Insert(term.RunFlags(), 3, cli.Flag(&cli.StringFlag{Name: "out", Aliases: []string{"o"},
			Usage: "run folder `DIR`"})),
			&cli.BoolFlag{Name: "resume", Usage: "continue the interrupted run in --out"},
			&cli.BoolFlag{Name: "overwrite", Usage: "delete the run in --out first"},
			&cli.BoolFlag{Name: "defaults", Usage: "print the settings that would be used, and exit"},
			term.MLflow(),
			&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
		),
		Action: term.Action(read, call),
	}
}

func read(c *cli.Context) (Options, error) {
	o := Options{Recipe: c.String("recipe"), Out: c.String("out"), Resume: c.Bool("resume"), Overwrite: c.Bool("overwrite"), Defaults: c.Bool("defaults"), JSON: c.Bool("json"), MLflow: c.String("mlflow")}
	err := term.OneManifest(c)
	if err != nil {
		return o, err
	}
	if o.Config, err = term.ReadRun(c); err != nil || o.Defaults {
		return o, err
	}
	if err := term.AskedRun(c).Enough(o.Config); err != nil {
		return o, err
	}
	if o.Out == "" {
		return o, term.Misused("--out is missing")
	}
	if o.Resume && o.Overwrite {
		return o, term.Misused("--resume and --overwrite contradict each other")
	}
	return o, nil
}

func train(ctx context.Context, p *term.Program, o Options) error {
	if o.Defaults {
		text, err := config.Marshal(o.Config)
		if err == nil {
			_, err = p.Data.Write(text)
		}
		return err
	}
	asked := run.Options{Dir: o.Out, Winnow: term.Version(), Resume: o.Resume, Overwrite: o.Overwrite, Host: p.Host(), Note: p.Note, Watch: p.Watch, MLflow: o.MLflow}
	asked.About = folder.Facts{Device: p.Compute.Device, Threads: p.Compute.Threads}
	if o.Recipe != "" {
		recipe, err := recipes.Find(o.Recipe)
		if err != nil {
			return err
		}
		asked.About.Recipe, asked.About.RecipeSHA256 = recipe.Name, recipe.SHA256()
	}
	var rt *ort.Runtime // opened when the data are read, once
	asked.Host.Runtime = func() (_ *ort.Runtime, err error) {
		if rt == nil {
			rt, err = p.OpenRuntime()
		}
		return rt, err
	}
	defer func() {
		if rt != nil {
			rt.Close()
		}
	}()
	line := progress.NewTraining(p.Err, time.Now)
	asked.Begun = func(plan run.Plan) error { line.Begun(plan); return nil }
	if !p.Quiet {
		asked.Stepped, asked.Validated, asked.Weighed = line.Stepped, line.Validated, line.Weighed
	}
	result, err := run.Train(ctx, o.Config, asked)
	line.End()
	if err != nil {
		return err
	}
	if o.JSON {
		return p.JSON(result)
	}
	result.Write(p.Out)
	return nil
}
