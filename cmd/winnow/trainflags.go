package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/papers/recipes"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/folder"
)

// trainConfig puts the settings together: defaults, recipe or file, --set, flags.
func trainConfig(c *cli.Context) (config.Run, error) {
	load, err := trainBase(c)
	if err != nil {
		return config.Run{}, err
	}
	if _, err := load(nil); err != nil {
		return config.Run{}, err
	}
	settings, ofLosses := slices.Clone(c.StringSlice("set")), []string(nil)
	if c.IsSet("method") {
		settings = append(settings, "method="+c.String("method"))
	}
	if c.IsSet("loss") { // settings of losses are of those that --loss names
		for _, s := range settings {
			if strings.HasPrefix(s, "losses.") {
				ofLosses = append(ofLosses, s)
			}
		}
		settings = slices.DeleteFunc(slices.Clone(settings), func(s string) bool { return strings.HasPrefix(s, "losses.") })
	}
	cfg, err := load(settings)
	if err != nil {
		return cfg, asMisuse(err)
	}
	if err := methodMisused(c, cfg); err != nil {
		return cfg, err
	}
	if err := applyTrainFlags(c, &cfg); err != nil {
		return cfg, asMisuse(err)
	}
	for _, s := range ofLosses {
		if err := config.Set(&cfg, s); err != nil {
			return cfg, asMisuse(err)
		}
	}
	if err := cfg.Validate(); err != nil {
		return cfg, asMisuse(err)
	}
	_, err = backbone.ParseAugmentation(cfg.Finetune.Augment)
	return cfg, asMisuse(err)
}

// trainBase is what --set and the flags change: a recipe, a file, the run's own where one goes on, or the defaults.
func trainBase(c *cli.Context) (load func(settings []string) (config.Run, error), err error) {
	path := c.String("config")
	if name := c.String("recipe"); name != "" {
		if path != "" {
			return nil, misused("--recipe and --config are both whole sets of settings: expected one (winnow recipes show prints a recipe to change)")
		}
		r, err := recipes.Find(name)
		if err != nil {
			return nil, asMisuse(err)
		}
		return func(settings []string) (config.Run, error) {
			return config.Parse("recipe "+r.Name, []byte(r.Text), settings)
		}, nil
	}
	if own := filepath.Join(c.String("out"), folder.ConfigFile); path == "" && c.Bool("resume") && c.String("out") != "" {
		if _, err := os.Stat(own); err == nil {
			path = own
		}
	}
	return func(settings []string) (config.Run, error) { return config.Load(path, settings) }, nil
}

// applyTrainFlags changes what the common flags name.
func applyTrainFlags(c *cli.Context, cfg *config.Run) error {
	for flag, set := range map[string]func(value string) error{
		"manifest": func(v string) error { cfg.Data.Manifest = v; return nil },
		"root":     func(v string) error { cfg.Data.Root = v; return nil },
		"features": func(v string) error { cfg.Data.Features = v; return nil },
		"model":    func(v string) error { cfg.Data.Model = v; return nil },
		"finetune": func(v string) error { cfg.Finetune.Weights = v; return nil },
		"augment":  func(v string) error { cfg.Finetune.Augment = v; return nil },
		"filter":   func(v string) error { cfg.Filter.Scorer = v; return nil },
		"init":     func(v string) error { cfg.Head.Init = v; return nil },
		"noise-rate": func(v string) error {
			if err := cfg.Filter.Rate.UnmarshalText([]byte(v)); err != nil {
				return fmt.Errorf("--noise-rate: %w", err)
			}
			if cfg.HasPeers() {
				cfg.Peers.Rate = cfg.Filter.Rate
			}
			return nil
		},
		"dim":         func(string) error { cfg.Head.Out = c.Int("dim"); return nil },
		"lr":          func(string) error { cfg.Solver.LR = c.Float64("lr"); return nil },
		"backbone-lr": func(string) error { cfg.BackboneSolver.LR = c.Float64("backbone-lr"); return nil },
		"cache-limit": func(v string) error {
			if err := cfg.Finetune.CacheLimit.UnmarshalText([]byte(v)); err != nil {
				return fmt.Errorf("--cache-limit: %w", err)
			}
			return nil
		},
		"seed":          func(string) error { cfg.Seed = c.Uint64("seed"); return nil },
		"paper-variant": func(string) error { cfg.PaperVariant = c.Bool("paper-variant"); return nil },
		"epochs":        func(string) error { cfg.Length = config.Epochs(c.Float64("epochs")); return nil },
		"hidden":        func(v string) (err error) { cfg.Head.Hidden, err = parseWidths(v); return err },
		"batch": func(v string) (err error) {
			s := &cfg.Sampler
			if s.Classes, s.Images, s.Rows, err = config.ParseBatch(v, s.Variant); err != nil {
				return fmt.Errorf("--batch: %w", err)
			}
			return nil
		},
	} {
		if c.IsSet(flag) {
			if err := set(c.String(flag)); err != nil {
				return err
			}
		}
	}
	if c.IsSet("steps") {
		if c.IsSet("epochs") {
			return fmt.Errorf("--epochs and --steps both give the length: expected one")
		}
		cfg.Length = config.Steps(c.Int("steps"))
	}
	if c.IsSet("loss") {
		cfg.Losses = nil
		for _, text := range c.StringSlice("loss") {
			l, err := config.ParseLoss(text)
			if err != nil {
				return err
			}
			cfg.Losses = append(cfg.Losses, l)
		}
	}
	return nil
}

// recipeNames lists the augmentations.
func recipeNames() string {
	var names []string
	for _, r := range backbone.Recipes() {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

// showDefaults says in the help what holds where a flag is not given.
func showDefaults(flags []cli.Flag, d config.Run) []cli.Flag {
	var terms []string
	for _, l := range d.Losses {
		terms = append(terms, l.Term())
	}
	texts := map[string]string{
		"method": d.Method,
		"loss":   strings.Join(terms, ", "), "filter": d.Filter.Scorer, "noise-rate": fmt.Sprint(d.Filter.Rate),
		"dim": fmt.Sprint(d.Head.Out), "hidden": "none", "init": d.Head.Init, "lr": fmt.Sprint(d.Solver.LR), "seed": fmt.Sprint(d.Seed),
		"finetune": d.Finetune.Weights, "augment": d.Finetune.Augment, "cache-limit": d.Finetune.CacheLimit.String(), "backbone-lr": fmt.Sprint(d.BackboneSolver.LR),
		"batch":  fmt.Sprintf("%dx%d", d.Sampler.Classes, d.Sampler.Images),
		"epochs": strings.TrimSuffix(d.Length.String(), " epochs"), "steps": "as many as the epochs have",
	}
	for _, f := range flags {
		text, ok := texts[f.Names()[0]]
		if !ok { // it says so itself
			continue
		}
		switch f := f.(type) {
		case *cli.StringFlag:
			f.DefaultText = text
		case *cli.StringSliceFlag:
			f.DefaultText = text
		case *cli.Float64Flag:
			f.DefaultText = text
		case *cli.IntFlag:
			f.DefaultText = text
		case *cli.Uint64Flag:
			f.DefaultText = text
		}
	}
	return flags
}

func parseWidths(text string) ([]int, error) {
	if text == "none" {
		return nil, nil
	}
	var widths []int
	for _, part := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' }) {
		n, err := strconv.Atoi(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("--hidden: found %q, expected widths, for example 512,256, or none", text)
		}
		widths = append(widths, n)
	}
	return widths, nil
}

// methodNames lists what --method takes.
func methodNames() string {
	return strings.Join(config.Methods(), ", ")
}

// methodMisused says which flag is about another method than the one chosen.
func methodMisused(c *cli.Context, cfg config.Run) error {
	if cfg.Method == config.Metric || !slices.Contains(config.Methods(), cfg.Method) {
		return nil // a name that is none is found later
	}
	for _, flag := range []string{"loss", "filter", "finetune"} {
		if c.IsSet(flag) {
			return misused("--%s is about --method %s: %s has its own loss, chooses its rows itself and trains heads on stored features", flag, config.Metric, run.MethodTitle(cfg.Method))
		}
	}
	return nil
}
