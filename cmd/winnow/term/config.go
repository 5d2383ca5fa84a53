package term

import (
	"encoding"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/papers/recipes"
	"winnow/run/config"
	"winnow/run/folder"
)

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
		&cli.StringFlag{Name: "root", DefaultText: "the manifest's folder", Usage: "`DIR` (or .zip file) that the manifest's paths start from (for --finetune; kept for the other commands)"},
		&cli.StringFlag{Name: "features", Usage: "feature store `DIR` of winnow extract"},
		&cli.StringFlag{Name: "finetune", DefaultText: d.Finetune.Weights, Usage: "train the backbone too: all, a `STAGE` to train from, or a pattern with * over names of weights"},
		&cli.StringFlag{Name: "model", Usage: "the backbone to fine-tune: `NAME` of winnow models list, or an ONNX file"},
		&cli.StringFlag{Name: "backbone-lr", DefaultText: text(d.BackboneSolver.LR) + ", of a drawn network 0.001, with its cross entropy 0.003", Usage: "learning rate of the backbone, `RATE` or auto, which finds it"},
		&cli.StringFlag{Name: "augment", DefaultText: "flip for coloured pictures where all is trained, else none", Usage: "`RECIPE` by which training images vary: auto, " + strings.Join(augmentations, ", ")},
		&cli.StringFlag{Name: "cache-limit", DefaultText: d.Finetune.CacheLimit.String(), Usage: "most memory for what the untrained part gives, or for decoded images, `SIZE`: 512MiB, 2GiB, 0 for none"},
		&cli.StringFlag{Name: "recipe", Usage: "settings of a paper, `NAME` of winnow recipes list"},
		&cli.StringFlag{Name: "config", Usage: "settings, YAML `FILE`; with --resume the run's own by default"},
		&cli.StringSliceFlag{Name: "set", Usage: "one setting, `KEY=VALUE`: solver.name=sgd, losses.0.weight=2, schedule.warm_up=\"1 epoch\""},
		&cli.StringFlag{Name: "method", DefaultText: d.Method, Usage: "`NAME` of the way to train: " + strings.Join(config.Methods(), ", ") + " (the last two on frozen features)"},
		&cli.StringSliceFlag{Name: "loss", DefaultText: strings.Join(losses, ", ") + "; of a drawn network cross_entropy, where it knows validation's classes", Usage: "`NAME` of a loss (winnow losses lists them), NAME:bank for against the memory bank, NAME:0.5 with a weight; may be repeated"},
		&cli.StringFlag{Name: "filter", DefaultText: d.Filter.Scorer, Usage: "`NAME` of the filter's scorer, or none"},
		&cli.StringFlag{Name: "screen", DefaultText: config.NoScreen + ", with --finetune combined", Usage: "judge `NAME` of winnow audit: images whose labels it calls wrong before training take no part; or none"},
		&cli.StringFlag{Name: "noise-rate", DefaultText: d.Filter.Rate.String(), Usage: "share `P` of the labels thought to be wrong, or auto, which estimates it: the filter drops as many"},
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

// ReadRun puts the configuration of a training together: defaults, recipe or file, --set, the other flags of [RunFlags].
func ReadRun(c *cli.Context) (config.Run, error) {
	name, text, err := readSettings(c)
	if err != nil {
		return config.Run{}, err
	}
	if _, err := config.Parse(name, text, nil); err != nil { // what stands in a file is no misuse
		return config.Run{}, err
	}
	settings, ofLosses := slices.Clone(c.StringSlice("set")), []string(nil)
	for flag, key := range map[string]string{"method": "method", "finetune": "finetune.weights", "filter": "filter.scorer", "screen": "screen"} { // they bring defaults
		if c.IsSet(flag) {
			settings = append(settings, fmt.Sprintf("%s=%q", key, c.String(flag)))
		}
	}
	if c.IsSet("loss") { // settings of losses are of those that --loss names
		isLoss := func(s string) bool { return strings.HasPrefix(s, "losses.") }
		ofLosses = slices.DeleteFunc(slices.Clone(settings), func(s string) bool { return !isLoss(s) })
		settings = slices.DeleteFunc(settings, isLoss)
	}
	cfg, err := config.Parse(name, text, settings)
	if err == nil {
		cfg.Data = folder.Locate(filepath.Dir(name), cfg.Data) // of a run that may have moved
		err = readFlags(c, &cfg)
	}
	for _, s := range ofLosses {
		if err == nil {
			err = config.Set(&cfg, s)
		}
	}
	if err == nil {
		err = cfg.Validate()
	}
	if err == nil && cfg.Finetune.Augment != config.AutoAugmentation {
		_, err = backbone.ParseAugmentation(cfg.Finetune.Augment)
	}
	return cfg, AsMisuse(err)
}

// readSettings reads what --set and the flags change: a recipe, a file, the run's own where one goes on, or nothing.
func readSettings(c *cli.Context) (name string, text []byte, err error) {
	name = c.String("config")
	if recipe := c.String("recipe"); recipe != "" {
		if name != "" {
			return "", nil, Misused("--recipe and --config are both whole sets of settings: expected one (winnow recipes show prints a recipe to change)")
		}
		r, err := recipes.Find(recipe)
		return "recipe " + r.Name, []byte(r.Text), AsMisuse(err)
	}
	if own := filepath.Join(c.String("out"), folder.ConfigFile); name == "" && c.Bool("resume") && c.String("out") != "" {
		if _, err := os.Stat(own); err == nil {
			name = own
		}
	}
	if name == "" {
		return "", nil, nil
	}
	if text, err = os.ReadFile(name); err != nil {
		err = fmt.Errorf("config: %w", err)
	}
	return name, text, err
}

// readFlags changes what the common flags name.
func readFlags(c *cli.Context, cfg *config.Run) (err error) {
	for flag, to := range map[string]*string{
		"manifest": &cfg.Data.Manifest, "root": &cfg.Data.Root, "features": &cfg.Data.Features, "model": &cfg.Data.Model,
		"augment": &cfg.Finetune.Augment, "init": &cfg.Head.Init,
	} {
		if c.IsSet(flag) {
			*to = c.String(flag)
		}
	}
	if c.IsSet("dim") {
		cfg.Head.Out = c.Int("dim")
	}
	if c.IsSet("paper-variant") {
		cfg.PaperVariant = c.Bool("paper-variant")
	}
	if c.IsSet("seed") {
		cfg.Seed = c.Uint64("seed")
	}
	switch {
	case c.IsSet("epochs") && c.IsSet("steps"):
		return fmt.Errorf("--epochs and --steps both give the length: expected one")
	case c.IsSet("epochs"):
		if err := cfg.Length.UnmarshalEpochs(c.String("epochs")); err != nil {
			return fmt.Errorf("--epochs: %w", err)
		}
	case c.IsSet("steps"):
		cfg.Length = config.LastsSteps(c.Int("steps"))
	}
	for _, f := range []struct {
		name string
		to   encoding.TextUnmarshaler
	}{{"lr", &cfg.Solver.LR}, {"backbone-lr", &cfg.BackboneSolver.LR}, {"noise-rate", &cfg.Filter.Rate}, {"cache-limit", &cfg.Finetune.CacheLimit}} {
		if c.IsSet(f.name) {
			if err := f.to.UnmarshalText([]byte(c.String(f.name))); err != nil {
				return fmt.Errorf("--%s: %w", f.name, err)
			}
		}
	}
	if c.IsSet("noise-rate") && cfg.HasPeers() {
		cfg.Peers.Rate = cfg.Filter.Rate
	}
	if c.IsSet("hidden") {
		if cfg.Head.Hidden, err = config.ParseWidths(c.String("hidden")); err != nil {
			return fmt.Errorf("--hidden: %w", err)
		}
	}
	if c.IsSet("batch") {
		if err := cfg.Sampler.SetBatch(c.String("batch")); err != nil {
			return fmt.Errorf("--batch: %w", err)
		}
	}
	if c.IsSet("loss") {
		cfg.Losses, cfg.Finetune.Loss = nil, config.GivenLoss
	}
	for _, text := range c.StringSlice("loss") {
		l, err := config.ParseLoss(text)
		if err != nil {
			return err
		}
		cfg.Losses = append(cfg.Losses, l)
	}
	return nil
}
