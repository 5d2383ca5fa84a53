package training

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/cmd/winnow/term"
	"winnow/datasets/location"
	"winnow/run/config"
	"winnow/run/folder"
)

// Augmentations returns the names of the augmentations.
func Augmentations() (names []string) {
	for _, r := range backbone.Recipes() {
		names = append(names, r.Name)
	}
	return names
}

// RunFlags returns the flags for the configuration of a training.
func RunFlags() (flags []cli.Flag) {
	d := config.Default()
	var losses []string
	for _, l := range d.Losses {
		losses = append(losses, l.Term())
	}
	about := map[string]struct{ usage, unset string }{
		"manifest": {"manifest `FILE`, or folder of photos", ""},
		"root":     {"`DIR` (or .zip file) that the manifest's paths start from", "the manifest's folder"},
		"features": {"feature store `DIR`, made by winnow extract", "made from the images"},
		"finetune": {"also train the backbone: all of it (all, or no value), or from `STAGE` on", d.Finetune.Weights},
		"model": {"backbone that makes the features or is fine-tuned: a `NAME` of winnow models list, or an ONNX file",
			"the best installed backbone"},
		"backbone-lr": {"learning rate `RATE` of the backbone; auto: find it by a range test",
			fmt.Sprint(d.BackboneSolver.LR, "; for an untrained network 0.001, with cross entropy 0.003")},
		"augment": {"augment training images by `RECIPE`",
			"flip for colour images if the whole network is trained, otherwise none"},
		"cache-limit": {"keep at most `SIZE` of decoded images, or of outputs of the frozen layers, in memory: " +
			"512MiB, 2GiB, or 0 for no cache", d.Finetune.CacheLimit.String()},
		"recipe": {"start from the settings of a paper: a `NAME` of winnow list recipes", ""},
		"config": {"start from the settings in the YAML `FILE`; default with --resume: the run's config.yaml", ""},
		"set": {"set one setting, `KEY=VALUE`: solver.name=sgd, losses.0.weight=2, schedule.warm_up=\"1 epoch\"",
			""},
		"method": {"training method `NAME`: " + strings.Join(config.Methods(), ", "), d.Method},
		"loss": {"train with the loss `NAME` (see winnow list losses); NAME:bank compares with the memory bank, " +
			"NAME:0.5 sets a weight; may be repeated",
			strings.Join(losses, ", ") +
				"; for an untrained network cross_entropy, if training has all validation classes"},
		"filter": {"scorer `NAME` by which the filter drops labels during training (winnow list filters), or none",
			d.Filter.Scorer},
		"screen": {"before training, ignore the labels that the scorer `NAME` of winnow audit flags; or none",
			"combined, " + config.NoScreen + " with --filter none, a recipe or a file"},
		"noise-rate": {"share `P` of the labels to treat as wrong, by screening and by the filter; auto estimates it",
			d.Filter.Rate.String()},
		"dim": {"`N` dimensions of the embedding", fmt.Sprint(d.Head.Out)},
		"init": {"`METHOD` to initialise the head: whiten, random, or kaiming (random as in PRISM's released code)",
			d.Head.Init},
		"epochs": {"train for `N` epochs; auto: chosen by the number of images",
			fmt.Sprint(d.Length.N, "; with --finetune auto")},
		"steps": {"train for `N` steps", "as many as --epochs needs"},
		"batch": {"batches of `PxK`: P classes with K images each, such as 16x4; or N images, if the sampler ignores " +
			"classes", fmt.Sprintf("%dx%d", d.Sampler.Classes, d.Sampler.Images)},
		"lr": {"learning rate `RATE` of the head; auto: find it by a range test before the first step",
			fmt.Sprint(d.Solver.LR)},
		"paper-variant": {"build losses, filter and sample weights as the papers print them, errors included", ""},
		"seed":          {"seed `N` of all random choices", fmt.Sprint(d.Seed)},
	}
	for _, f := range config.Flags {
		a := about[f.Name]
		switch f.Kind {
		case config.Texts:
			flags = append(flags, &cli.StringSliceFlag{Name: f.Name, Usage: a.usage, DefaultText: a.unset})
		case config.Whole:
			flags = append(flags, &cli.IntFlag{Name: f.Name, Usage: a.usage, DefaultText: a.unset})
		case config.Seed:
			flags = append(flags, &cli.Uint64Flag{Name: f.Name, Usage: a.usage, DefaultText: a.unset})
		case config.Switch:
			flags = append(flags, &cli.BoolFlag{Name: f.Name, Usage: a.usage, DefaultText: a.unset})
		default:
			flag := &cli.StringFlag{Name: f.Name, Usage: a.usage, DefaultText: a.unset}
			if flags = append(flags, flag); f.Name == "augment" {
				term.OneOf(flag, append(Augmentations(), config.AutoAugmentation)...)
			}
		}
	}
	return flags
}

// ReadRun returns the configuration of a training from the flags of [RunFlags] and, with --resume, the run's own.
func ReadRun(c *cli.Context) (config.Run, error) {
	own := filepath.Join(c.String("out"), folder.ConfigFile)
	if _, err := os.Stat(own); err != nil || !c.Bool("resume") || c.String("out") == "" {
		own = ""
	}
	cfg, err := AskedRun(c).Config(own)
	if file := cmp.Or(c.String("config"), own); file != "" && err == nil { // the run's folder may have been moved
		cfg.Data = folder.Locate(filepath.Dir(file), cfg.Data)
	}
	return cfg, err
}

// AskedRun returns the values of the given flags of [RunFlags]. The manifest may also be an argument, unless the
// argument is the run to resume.
func AskedRun(c *cli.Context) config.Asked {
	asked := config.Asked{}
	if c.NArg() > 0 && !(c.Bool("resume") && c.String("out") == c.Args().First()) {
		asked["manifest"] = []string{c.Args().First()}
	}
	for _, f := range config.Flags {
		switch {
		case !c.IsSet(f.Name):
		case f.Kind == config.Texts:
			asked[f.Name] = c.StringSlice(f.Name)
		default:
			asked[f.Name] = []string{fmt.Sprint(c.Value(f.Name))}
		}
	}
	return asked
}

// RunOptions returns the values of [term.DataFlags]. If features must be computed, they are computed only for splits;
// no splits means all.
func RunOptions(c *cli.Context, splits ...string) (folder.Options, error) {
	if v := c.String("view"); v != backbone.CenterName && v != folder.MeanView {
		return folder.Options{}, term.Misused(
			"--view: found %q, expected %s or %s",
			v,
			backbone.CenterName,
			folder.MeanView,
		)
	}
	return folder.Options{
		Last: c.Bool("last"), Manifest: location.At(c.String("manifest")), Features: c.String("features"),
		Root: location.At(c.String("root")), View: c.String("view"),
		Splits: splits, For: c.Command.Name,
	}, nil
}
