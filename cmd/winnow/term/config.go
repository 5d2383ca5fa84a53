package term

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/settings"
)

// MLflow is the flag that names MLflow's store.
func MLflow() cli.Flag {
	return &cli.StringFlag{Name: "mlflow",
		Usage: "also record each training in MLflow's store `DIR` (to see it: mlflow ui --backend-store-uri DIR)"}
}

// RunFlags returns the flags that make up the configuration of a training, those named; all where none is.
func RunFlags(names ...string) []cli.Flag {
	d := config.Default()
	var losses []string
	for _, l := range d.Losses {
		losses = append(losses, l.Term())
	}
	var augmentations []string
	for _, r := range backbone.Recipes() {
		augmentations = append(augmentations, r.Name)
	}
	text := func(v any) string { return fmt.Sprint(v) }
	all := []cli.Flag{
		&cli.StringFlag{Name: "manifest", Usage: "manifest `FILE`, or folder of photos"},
		&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder",
			Usage: "`DIR` (or .zip file) that the manifest's paths start from"},
		&cli.StringFlag{Name: "features", DefaultText: "made from the images",
			Usage: "feature store `DIR`, made by winnow extract"},
		&cli.StringFlag{Name: "finetune", DefaultText: d.Finetune.Weights,
			Usage: "train the backbone too: all of it (also without a value), from `STAGE` on, or the weights " +
				"whose names match a pattern with *"},
		&cli.StringFlag{Name: "model", DefaultText: "the best one installed",
			Usage: "backbone that makes the features or is fine-tuned: a `NAME` of winnow models list, or an ONNX " +
				"file"},
		&cli.StringFlag{Name: "backbone-lr", DefaultText: text(d.BackboneSolver.LR) + "; of an untrained network 0.001, with cross entropy 0.003",
			Usage: "learning rate `RATE` of the backbone, or auto: find it"},
		&cli.StringFlag{Name: "augment", DefaultText: "flip for coloured pictures if all is trained, else none",
			Usage: "vary training images by `RECIPE`: auto, " + strings.Join(augmentations, ", ")},
		&cli.StringFlag{Name: "cache-limit", DefaultText: d.Finetune.CacheLimit.String(),
			Usage: "keep at most `SIZE` of decoded images or of outputs of the untrained part in memory: 512MiB, " +
				"2GiB, 0 for none"},
		&cli.StringFlag{Name: "recipe", Usage: "start from the settings of a paper: a `NAME` of winnow recipes list"},
		&cli.StringFlag{Name: "config",
			Usage: "start from the settings in the YAML `FILE`; with --resume, by default, from the run's own"},
		&cli.StringSliceFlag{Name: "set",
			Usage: "set one setting, `KEY=VALUE`: solver.name=sgd, losses.0.weight=2, schedule.warm_up=\"1 epoch\""},
		&cli.StringFlag{Name: "method", DefaultText: d.Method,
			Usage: "way to train, `NAME`: " + strings.Join(config.Methods(), ", ")},
		&cli.StringSliceFlag{Name: "loss", DefaultText: strings.Join(losses, ", ") + "; of an untrained network cross_entropy, if all validation classes are trained",
			Usage: "train with the loss `NAME` (winnow losses lists them); NAME:bank compares with the memory " +
				"bank, NAME:0.5 has a weight; may be repeated"},
		&cli.StringFlag{Name: "filter", DefaultText: d.Filter.Scorer,
			Usage: "scorer `NAME` by which the filter drops labels during training (winnow help filters), or none"},
		&cli.StringFlag{Name: "screen", DefaultText: "combined, " + config.NoScreen + " with --filter none, a recipe or a file",
			Usage: "before training, ignore the labels that the judge `NAME` of winnow audit calls wrong; or none"},
		&cli.StringFlag{Name: "noise-rate", DefaultText: d.Filter.Rate.String(),
			Usage: "share `P` of the labels to treat as wrong, by screening and by the filter; auto estimates it"},
		&cli.IntFlag{Name: "dim", DefaultText: text(d.Head.Out), Usage: "`N` dimensions of the embedding"},
		&cli.StringFlag{Name: "hidden", DefaultText: "none",
			Usage: "widths `N,...` of the head's hidden layers; none: a linear head"},
		&cli.StringFlag{Name: "init", DefaultText: d.Head.Init,
			Usage: "`WAY` to initialise the head: whiten or random"},
		&cli.StringFlag{Name: "epochs", DefaultText: text(d.Length.N) + "; with --finetune auto",
			Usage: "train for `N` epochs; auto: by the number of images"},
		&cli.IntFlag{Name: "steps", DefaultText: "those of --epochs", Usage: "train for `N` steps"},
		&cli.StringFlag{Name: "batch", DefaultText: fmt.Sprintf("%dx%d", d.Sampler.Classes, d.Sampler.Images),
			Usage: "batches of `PxK`: P classes with K images each, as 16x4; or N images, if the sampler ignores " +
				"classes"},
		&cli.StringFlag{Name: "lr", DefaultText: text(d.Solver.LR),
			Usage: "learning rate `RATE` of the head, or auto: find it by a range test before the first step"},
		&cli.BoolFlag{Name: "paper-variant",
			Usage: "build losses, filter and sample weights as the papers print them, errors included"},
		&cli.Uint64Flag{Name: "seed", DefaultText: text(d.Seed), Usage: "seed `N` of all random choices"},
	}
	return slices.DeleteFunc(all, func(f cli.Flag) bool { return len(names) > 0 && !slices.Contains(names, f.Names()[0]) })
}

// ReadRun puts the configuration of a training together from the flags of [RunFlags], and of the run's own where one goes on.
func ReadRun(c *cli.Context) (config.Run, error) {
	own := filepath.Join(c.String("out"), folder.ConfigFile)
	if _, err := os.Stat(own); err != nil || !c.Bool("resume") || c.String("out") == "" {
		own = ""
	}
	return AskedRun(c).Config(own)
}

// AskedRun are the flags of [RunFlags] that are given; the manifest may be an argument.
func AskedRun(c *cli.Context) settings.Asked {
	asked := settings.Asked{}
	if c.NArg() > 0 {
		asked["manifest"] = []string{c.Args().First()}
	}
	for _, f := range RunFlags() {
		name := f.Names()[0]
		_, many := f.(*cli.StringSliceFlag)
		switch {
		case !c.IsSet(name):
		case many:
			asked[name] = c.StringSlice(name)
		default:
			asked[name] = []string{fmt.Sprint(c.Value(name))}
		}
	}
	return asked
}
