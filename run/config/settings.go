package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"winnow/internal/hint"
	"winnow/internal/regular"
)

// Kind is the type of a flag's value.
type Kind int

const (
	Text   Kind = iota
	Texts       // may be repeated
	Whole       // an integer
	Seed        // an integer from 0 to 2^64-1
	Switch      // true or false
)

// Flag is a flag that sets a part of a training's configuration.
type Flag struct {
	Name string // without the dashes
	Kind Kind
	Key  string // key of the setting; "": the flag sets many
	Unit string // unit to append to the number

	decides bool // defaults of other settings depend on the flag
	tunes   bool // the flag needs a backbone that is trained
}

// Flags holds all flags, in the order of the help.
var Flags = []Flag{
	{Name: "manifest", Key: "data.manifest"},
	{Name: "root", Key: "data.root"},
	{Name: "features", Key: "data.features"},
	{Name: "finetune", Key: "finetune.weights", decides: true},
	{Name: "model", Key: "data.model"},
	{Name: "backbone-lr", Key: "backbone_solver.lr", tunes: true},
	{Name: "augment", Key: "finetune.augment", tunes: true},
	{Name: "cache-limit", Key: "finetune.cache_limit", tunes: true},
	{Name: "recipe"},
	{Name: "config"},
	{Name: "set", Kind: Texts},
	{Name: "method", Key: "method", decides: true},
	{Name: "loss", Key: "losses", Kind: Texts},
	{Name: "filter", Key: "filter.scorer", decides: true},
	{Name: "screen", Key: "screen", decides: true},
	{Name: "noise-rate", Key: "filter.rate"},
	{Name: "dim", Key: "head.out", Kind: Whole},
	{Name: "init", Key: "head.init"},
	{Name: "epochs", Key: "length", Unit: " epochs"},
	{Name: "steps", Key: "length", Unit: " steps", Kind: Whole},
	{Name: "batch", Key: "sampler"},
	{Name: "lr", Key: "solver.lr"},
	{Name: "paper-variant", Key: "paper_variant", Kind: Switch},
	{Name: "seed", Key: "seed", Kind: Seed},
}

// Names returns the names of the flags.
func Names() []string {
	var names []string
	for _, f := range Flags {
		names = append(names, f.Name)
	}
	return names
}

// Key is the key of a setting for messages, such as "solver.lr", optionally with a value, such as "solver.lr=0.1".
type Key string

// String returns the flag that gives the setting, such as --lr 0.1 or --set clip=1.
func (key Key) String() string {
	name, value, given := strings.Cut(string(key), "=")
	i := slices.IndexFunc(Flags, func(f Flag) bool { return f.Key == name })
	switch {
	case i < 0:
		return "--set " + string(key)
	case given:
		return "--" + Flags[i].Name + " " + strings.TrimSuffix(value, Flags[i].Unit)
	}
	return "--" + Flags[i].Name
}

// Asked holds the values of the given flags, by name without the dashes. Some flags may have several values.
type Asked map[string][]string

// isGiven reports whether a flag is given.
func (a Asked) isGiven(flag string) bool { return len(a[flag]) > 0 }

// getFlagText returns a flag's value, "" if it is not given.
func (a Asked) getFlagText(flag string) string {
	if !a.isGiven(flag) {
		return ""
	}
	return a[flag][0]
}

// Config returns the configuration: the defaults, changed by the recipe or file, then by --set, then by the other
// flags. own is the file to read if neither recipe nor config is given; "": none. Errors are misuse, except errors in
// files.
func (a Asked) Config(own string) (Run, error) {
	name, text, err := a.readBase(own)
	if err != nil {
		return Run{}, err
	}
	if _, err := Parse(name, text, nil); err != nil { // an error in a file is not misuse
		return Run{}, err
	}
	settings, ofLosses := slices.Clone(a["set"]), []string(nil)
	for _, f := range Flags {
		if f.decides && a.isGiven(f.Name) {
			settings = append(settings, fmt.Sprintf("%s=%q", f.Key, a.getFlagText(f.Name)))
		}
	}
	if a.isGiven("loss") { // apply settings of losses after the flag, because they refer to its losses
		isLoss := func(s string) bool { return strings.HasPrefix(s, "losses.") }
		ofLosses = slices.DeleteFunc(slices.Clone(settings), func(s string) bool { return !isLoss(s) })
		settings = slices.DeleteFunc(settings, isLoss)
	}
	cfg, err := Parse(name, text, settings)
	if err == nil {
		err = a.changeConfig(&cfg)
	}
	for _, s := range ofLosses {
		if err == nil {
			err = Set(&cfg, s)
		}
	}
	if err == nil {
		err = cfg.Validate()
	}
	return cfg, hint.AsMisuse(err)
}

// readBase reads the settings that the flags change: a recipe, a file, own, or none.
func (a Asked) readBase(own string) (name string, text []byte, err error) {
	name = a.getFlagText("config")
	if recipe := a.getFlagText("recipe"); recipe != "" {
		if name != "" {
			return "", nil, hint.Misused("recipe and config are both whole sets of settings: give only one (winnow " +
				"recipes NAME prints a recipe to change)")
		}
		r, err := FindRecipe(recipe)
		return "recipe " + r.Name, []byte(r.Text), hint.AsMisuse(err)
	}
	if name == "" {
		name = own
	}
	if name == "" {
		return "", nil, nil
	}
	if text, err = regular.ReadFile(name, 1<<20); err != nil {
		err = fmt.Errorf("config: %w", err)
	}
	return name, text, err
}

// changeConfig applies the flags to a configuration.
func (a Asked) changeConfig(cfg *Run) error {
	if a.isGiven("epochs") && a.isGiven("steps") {
		return fmt.Errorf("epochs and steps both give the length: give only one")
	}
	if a.isGiven("loss") {
		cfg.Losses, cfg.Finetune.Loss = nil, GivenLoss
	}
	for _, f := range Flags {
		for _, text := range a[f.Name] {
			if f.Key == "" {
				break
			}
			value := text
			if text != Auto {
				value += f.Unit
			}
			err := SetText(cfg, f.Key, value)
			if err != nil && f.Unit != "" {
				err = fmt.Errorf("found %q, expected a number of%s or %s", text, f.Unit, Auto)
			}
			if err != nil {
				return fmt.Errorf("--%s: %w", f.Name, err)
			}
		}
	}
	if a.isGiven("noise-rate") && cfg.HasPeers() {
		cfg.Peers.Rate = cfg.Filter.Rate
	}
	return nil
}

// Enough returns an error if the flags contradict each other or the resulting configuration is incomplete.
func (a Asked) Enough(cfg Run) error {
	if !cfg.Finetune.On() {
		if err := a.NeedsBackbone(); err != nil {
			return err
		}
	}
	return Needs(cfg)
}

// Needs returns an error for a configuration without a manifest. Features and backbone may be missing: the run then
// chooses a backbone and computes the features.
func Needs(cfg Run) error {
	if cfg.Data.Manifest == "" {
		return hint.Misused("%s is missing: expected a manifest, or a folder with a subfolder of images for each class",
			Key("data.manifest"))
	}
	return nil
}

// NeedsBackbone returns an error for flags about a backbone if the training neither trains one nor computes features.
func (a Asked) NeedsBackbone() error {
	for _, f := range Flags {
		if f.tunes && a.isGiven(f.Name) {
			return hint.Misused("%s needs a backbone that is trained: add %s, or name the first stage to train",
				Key(f.Key), Key("finetune.weights=all"))
		}
	}
	if a.isGiven("model") && a.isGiven("features") {
		return hint.Misused("%s is the backbone to train or to compute features with: add %s, or leave %s out",
			Key("data.model"), Key("finetune.weights=all"), Key("data.features"))
	}
	return nil
}

// With returns a copy with one more value: of a flag by its name, or of a setting by its key. Separate losses by +.
func (a Asked) With(key, value string) Asked {
	with := maps.Clone(a)
	switch {
	case key == "loss":
		with[key] = strings.Split(value, "+")
	case slices.Contains(Names(), key):
		with[key] = []string{value}
	default:
		with["set"] = append(slices.Clone(a["set"]), key+"="+value)
	}
	return with
}

// String returns the flags as part of a command line.
func (a Asked) String() string {
	var words []string
	for _, f := range Flags {
		for _, value := range a[f.Name] {
			words = append(words, "--"+f.Name+" "+value)
		}
	}
	return strings.Join(words, " ")
}
