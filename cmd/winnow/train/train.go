// Package train is winnow train: a head, or a whole backbone, is trained on labels that may be wrong.
package train

import (
	"context"
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
		Name:      "train",
		Usage:     "train a head on a backbone, or the whole backbone, on labels that may be wrong",
		ArgsUsage: "[MANIFEST | PHOTOS]",
		Description: "Trains on the split train of a manifest, or on a folder of images with a folder for each class. The split validation, if there is\n" +
			"one, chooses the best state. Features are made of the images, in the run's folder, unless --features names a store of them.\n\n" +
			"Everything goes into the run's folder: head.winnow (the best head),\n" +
			"last.winnow, config.yaml (every setting as it was used), run.json (what went in, and where it lies), result.json,\n" +
			"metrics.jsonl, diagnostics.jsonl (what the filter saw of itself), samples.csv (what training saw of each image:\n" +
			"winnow audit ranks by it; settings under scores), TensorBoard events, and checkpoint.winnow, from which\n" +
			"--resume goes on to the same bits as a run never stopped. --mlflow records all but the weights in MLflow's store, too.\n\n" +
			"--method names another way to train than by losses and a filter: two classifiers that teach each other, or one that reckons with\n" +
			"the noise (settings under peers), or Sel-CL and TCL, which judge all labels anew each epoch (under selective; of published length).\n\n" +
			"--set selfpaced.every=\"1 epoch\" with --loss weighted_multi_similarity finds a weight from 0 to 1 for every training\n" +
			"image after each epoch (BSPML); the last ones go into weights.csv, and winnow audit ranks by them.\n\n" +
			"With --finetune the backbone is trained together with the head: all of it, from a stage on (winnow models show\n" +
			"lists them), or the weights that a pattern names. The features are then of the backbone before that, and set how the\n" +
			"images below --root are prepared. Beside head.winnow stands backbone.onnx, beside last.winnow last.onnx.\n\n" +
			"Before training labels are screened: images whose label the judge of winnow audit calls wrong take part without one, and\n" +
			"screened.csv lists them (--screen). A recipe or a --config says it by itself (screen, bank.fill).\n\n" +
			"--lr auto and --backbone-lr auto find the learning rates by range tests of some tens of steps, of which lr_range.csv is left.\n\n" +
			"--noise-rate auto estimates the share of wrong labels from the features before the first step (winnow noise prints it).\n" +
			"--set filter.threshold=paper averages the thresholds of the filter as PRISM does: vmf then drops more than it is told.\n" +
			"--set correct.visits=3 gives images that the filter has dropped three visits in a row, while the memory bank agreed on\n" +
			"another class, that class's label; the run's corrections.csv lists them.\n\n" +
			"Settings: defaults, then --recipe (a paper's: winnow recipes list) or --config, then --set, then the other flags;\n" +
			"--set losses.N… is about the losses that --loss names. 'winnow train --defaults' prints them.\n\n" +
			"   winnow train birds/ --out runs/birds0\n" +
			"   winnow train --manifest birds.csv --features birds.features --noise-rate 0.3 --out runs/birds\n" +
			"   winnow train --recipe prism/soft-triple-vmf --manifest birds.csv --features birds.features --noise-rate 0.3 --out runs/birds5\n" +
			"   winnow train --manifest birds.csv --features birds.features --loss soft_triple --filter proxysim --out runs/birds2\n" +
			"   winnow train --manifest birds.csv --features birds.features --method co-teaching --noise-rate 0.3 --out runs/birds4\n" +
			"   winnow train --manifest birds.csv --root birds/ --model mobilenetv2 --finetune stage4 --out runs/birds3\n" +
			"   winnow train birds/ --finetune --out runs/birds6",
		Flags: append(slices.Insert(term.RunFlags(), 3, cli.Flag(&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "run folder `DIR`"})),
			&cli.BoolFlag{Name: "resume", Usage: "go on where the run in --out was stopped"},
			&cli.BoolFlag{Name: "overwrite", Usage: "throw away the run in --out"},
			&cli.BoolFlag{Name: "defaults", Usage: "print the settings that would be used, and stop"},
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
