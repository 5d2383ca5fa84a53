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
	return &cli.StringFlag{Name: "mlflow", Usage: "record each training in MLflow's store `DIR`, too (mlflow ui --backend-store-uri DIR shows it)"}
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
		&cli.StringFlag{Name: "manifest", Usage: "manifest `FILE`, or image folder"},
		&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder", Usage: "`DIR` (or .zip file) that the manifest's paths start from"},
		&cli.StringFlag{Name: "features", DefaultText: "made of the images", Usage: "feature store `DIR` of winnow extract"},
		&cli.StringFlag{Name: "finetune", DefaultText: d.Finetune.Weights, Usage: "train the backbone too: all (without a value, too), a `STAGE` to train from, or a pattern with * over names of weights"},
		&cli.StringFlag{Name: "model", DefaultText: "the best installed", Usage: "the backbone that makes the features, or is fine-tuned: `NAME` of winnow models list, or an ONNX file"},
		&cli.StringFlag{Name: "backbone-lr", DefaultText: text(d.BackboneSolver.LR) + ", of a drawn network 0.001, with its cross entropy 0.003", Usage: "learning rate of the backbone, `RATE` or auto, which finds it"},
		&cli.StringFlag{Name: "augment", DefaultText: "flip for coloured pictures where all is trained, else none", Usage: "`RECIPE` by which training images vary: auto, " + strings.Join(augmentations, ", ")},
		&cli.StringFlag{Name: "cache-limit", DefaultText: d.Finetune.CacheLimit.String(), Usage: "most memory for what the untrained part gives, or for decoded images, `SIZE`: 512MiB, 2GiB, 0 for none"},
		&cli.StringFlag{Name: "recipe", Usage: "settings of a paper, `NAME` of winnow recipes list"},
		&cli.StringFlag{Name: "config", Usage: "settings, YAML `FILE`; with --resume the run's own by default"},
		&cli.StringSliceFlag{Name: "set", Usage: "one setting, `KEY=VALUE`: solver.name=sgd, losses.0.weight=2, schedule.warm_up=\"1 epoch\""},
		&cli.StringFlag{Name: "method", DefaultText: d.Method, Usage: "`NAME` of the way to train: " + strings.Join(config.Methods(), ", ")},
		&cli.StringSliceFlag{Name: "loss", DefaultText: strings.Join(losses, ", ") + "; of a drawn network cross_entropy, where it knows validation's classes", Usage: "`NAME` of a loss (winnow losses lists them), NAME:bank for against the memory bank, NAME:0.5 with a weight; may be repeated"},
		&cli.StringFlag{Name: "filter", DefaultText: d.Filter.Scorer, Usage: "`NAME` of the filter's scorer, or none"},
		&cli.StringFlag{Name: "screen", DefaultText: "combined, " + config.NoScreen + " with --filter none, a recipe or a file", Usage: "judge `NAME` of winnow audit: images whose labels it calls wrong before training take no part; or none"},
		&cli.StringFlag{Name: "noise-rate", DefaultText: d.Filter.Rate.String(), Usage: "share `P` of the labels thought to be wrong, or auto, which estimates it: screening and the filter leave out as many"},
		&cli.IntFlag{Name: "dim", DefaultText: text(d.Head.Out), Usage: "dimension `N` of the embedding"},
		&cli.StringFlag{Name: "hidden", DefaultText: "none", Usage: "widths of the head's hidden layers, `N,...`, or none for a linear head"},
		&cli.StringFlag{Name: "init", DefaultText: d.Head.Init, Usage: "start `WAY` of the head: whiten or random"},
		&cli.StringFlag{Name: "epochs", DefaultText: text(d.Length.N) + ", with --finetune auto", Usage: "length `N` of the training in epochs, or auto: by the number of images"},
		&cli.IntFlag{Name: "steps", DefaultText: "as many as the epochs have", Usage: "length `N` of the training in steps"},
		&cli.StringFlag{Name: "batch", DefaultText: fmt.Sprintf("%dx%d", d.Sampler.Classes, d.Sampler.Images), Usage: "`PxK`: classes and images of each in a batch, for example 16x4; N images where the sampler draws any"},
		&cli.StringFlag{Name: "lr", DefaultText: text(d.Solver.LR), Usage: "learning rate of the head, `RATE` or auto, which finds it by a range test before the first step"},
		&cli.BoolFlag{Name: "paper-variant", Usage: "build losses, filter and sample weights as their papers print them, errata and all"},
		&cli.Uint64Flag{Name: "seed", DefaultText: text(d.Seed), Usage: "seed `N` of everything that is drawn"},
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
