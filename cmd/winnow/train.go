package main

import (
	"github.com/urfave/cli/v2"

	"winnow/run/config"
)

func trainCommand() *cli.Command {
	return &cli.Command{
		Name:  "train",
		Usage: "train a head on stored features, or a whole backbone, on labels that may be wrong",
		Description: "Trains on the manifest's split train; the split validation, if there is one, chooses the best state. Images\n" +
			"and features are joined by path. Everything goes into the run's folder: head.winnow (the best head),\n" +
			"last.winnow, config.yaml (every setting as it was used), run.json, result.json, metrics.jsonl,\n" +
			"diagnostics.jsonl (what the filter saw of itself), samples.csv (what training saw of each image: winnow audit\n" +
			"ranks by it; settings under scores), TensorBoard events, and checkpoint.winnow, from which\n" +
			"--resume goes on to the same bits as a run never stopped.\n\n" +
			"--method names another way to train than by losses and a filter: two classifiers that teach each other, or one\n" +
			"that reckons with the noise (settings under peers), or Sel-CL and TCL on frozen features, which judge all labels\n" +
			"at the start of each epoch (settings under selective; each brings its published length, batch and solver).\n\n" +
			"--set selfpaced.every=\"1 epoch\" with --loss weighted_multi_similarity finds a weight from 0 to 1 for every training\n" +
			"image after each epoch (BSPML); the last ones go into weights.csv, and winnow audit ranks by them.\n\n" +
			"With --finetune the backbone is trained together with the head: all of it, from a stage on (winnow models show\n" +
			"lists them), or the weights that a pattern names. It then looks at the images below --root; the features of the\n" +
			"backbone as it is, which the head starts from, are made in the run's folder unless --features names them, which\n" +
			"also sets how the images are prepared. Beside head.winnow stands backbone.onnx, beside last.winnow last.onnx.\n\n" +
			"--noise-rate auto estimates the share of wrong labels from the features before the first step (winnow noise prints it).\n" +
			"--set correct.visits=3 gives images that the filter has dropped three visits in a row, while the memory bank agreed on\n" +
			"another class, that class's label; the run's corrections.csv lists them.\n\n" +
			"Settings: defaults, then --recipe (a paper's: winnow recipes list) or --config, then --set, then the other flags;\n" +
			"--set losses.N… is about the losses that --loss names. 'winnow train --defaults' prints them.\n\n" +
			"   winnow train --manifest birds.csv --features birds.features --noise-rate 0.3 --out runs/birds\n" +
			"   winnow train --recipe prism/soft-triple-vmf --manifest birds.csv --features birds.features --noise-rate 0.3 --out runs/birds5\n" +
			"   winnow train --manifest birds.csv --features birds.features --loss soft_triple --filter proxysim --out runs/birds2\n" +
			"   winnow train --manifest birds.csv --features birds.features --method co-teaching --noise-rate 0.3 --out runs/birds4\n" +
			"   winnow train --manifest birds.csv --root birds/ --model mobilenetv2 --finetune all --out runs/birds3",
		Flags:  showDefaults(trainFlags, config.Default()),
		Action: runTrain,
	}
}

var trainFlags = []cli.Flag{
	&cli.StringFlag{Name: "manifest", Usage: "manifest `FILE`, or image folder"},
	&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder", Usage: "`DIR` (or .zip file) that the manifest's paths start from (for --finetune; kept for the other commands)"},
	&cli.StringFlag{Name: "features", Usage: "feature store `DIR` of winnow extract"},
	&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "run folder `DIR`"},
	&cli.StringFlag{Name: "finetune", Usage: "train the backbone too: all, a `STAGE` to train from, or a pattern with * over names of weights"},
	&cli.StringFlag{Name: "model", Usage: "the backbone to fine-tune: `NAME` of winnow models list, or an ONNX file"},
	&cli.Float64Flag{Name: "backbone-lr", Usage: "learning rate of the backbone"},
	&cli.StringFlag{Name: "augment", Usage: "`RECIPE` by which training images vary: " + recipeNames()},
	&cli.StringFlag{Name: "cache-limit", Usage: "most memory for what the untrained part gives, or for decoded images, `SIZE`: 512MiB, 2GiB, 0 for none"},
	&cli.StringFlag{Name: "recipe", Usage: "settings of a paper, `NAME` of winnow recipes list"},
	&cli.StringFlag{Name: "config", Usage: "settings, YAML `FILE`; with --resume the run's own by default"},
	&cli.StringSliceFlag{Name: "set", Usage: "one setting, `KEY=VALUE`: solver.name=sgd, losses.0.weight=2, schedule.warm_up=\"1 epoch\""},
	&cli.StringFlag{Name: "method", Usage: "`NAME` of the way to train: " + methodNames() + " (the last two on frozen features)"},
	&cli.StringSliceFlag{Name: "loss", Usage: "`NAME` of a loss (winnow losses lists them), NAME:bank for against the memory bank, NAME:0.5 with a weight; may be repeated"},
	&cli.StringFlag{Name: "filter", Usage: "`NAME` of the filter's scorer, or none"},
	&cli.StringFlag{Name: "noise-rate", Usage: "share `P` of the labels thought to be wrong, or auto, which estimates it: the filter drops as many"},
	&cli.IntFlag{Name: "dim", Usage: "dimension `N` of the embedding"},
	&cli.StringFlag{Name: "hidden", Usage: "widths of the head's hidden layers, `N,...`, or none for a linear head"},
	&cli.StringFlag{Name: "init", Usage: "start of the head: whiten or random"},
	&cli.Float64Flag{Name: "epochs", Usage: "length `N` of the training in epochs"},
	&cli.IntFlag{Name: "steps", Usage: "length `N` of the training in steps"},
	&cli.StringFlag{Name: "batch", Usage: "`PxK`: classes and images of each in a batch, for example 16x4; `N` images where the sampler draws any"},
	&cli.Float64Flag{Name: "lr", Usage: "learning rate of the head"},
	&cli.BoolFlag{Name: "paper-variant", Usage: "build losses, filter and sample weights as their papers print them, errata and all"},
	&cli.Uint64Flag{Name: "seed", Usage: "seed of everything that is drawn"},
	&cli.BoolFlag{Name: "resume", Usage: "go on where the run in --out was stopped"},
	&cli.BoolFlag{Name: "overwrite", Usage: "throw away the run in --out"},
	&cli.BoolFlag{Name: "defaults", Usage: "print the settings that would be used, and stop"},
	&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
}

func runTrain(c *cli.Context) error {
	if c.Args().Present() {
		return misused("winnow train takes flags only, found %q", c.Args().First())
	}
	cfg, err := trainConfig(c)
	if err != nil {
		return err
	}
	if c.Bool("defaults") {
		text, err := config.Marshal(cfg)
		if err == nil {
			_, err = c.App.Writer.Write(text)
		}
		return err
	}
	if err := trainMisused(c, cfg); err != nil {
		return err
	}
	return trainAndPrint(c, cfg)
}

// trainMisused says which flag is missing or contradicts another.
func trainMisused(c *cli.Context, cfg config.Run) error {
	needed := [][2]string{{"manifest", cfg.Data.Manifest}, {"features", cfg.Data.Features}, {"out", c.String("out")}}
	if cfg.Finetune.On() {
		needed[1] = [2]string{"model (or --features, made with it)", cfg.Data.Model + cfg.Data.Features}
	}
	if !cfg.Finetune.On() {
		for _, flag := range []string{"backbone-lr", "augment", "cache-limit", "model"} {
			if c.IsSet(flag) {
				return misused("--%s is about a backbone that is trained: add --finetune all, or a stage", flag)
			}
		}
	}
	for _, n := range needed {
		if n[1] == "" {
			return misused("--%s is missing", n[0])
		}
	}
	if c.Bool("resume") && c.Bool("overwrite") {
		return misused("--resume and --overwrite contradict each other")
	}
	return nil
}
