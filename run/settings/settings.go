// Package settings makes the configuration of a training out of a recipe or a file, settings by key, and the flags of
// winnow train by name. It reads no command line.
package settings

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"winnow/backbone"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/recipes"
)

// Kind is what a flag takes.
type Kind int

const (
	Text   Kind = iota
	Texts       // may be repeated
	Whole       // an integer
	Seed        // an integer from 0 to 2^64-1
	Switch      // true or false
)

// Flag is a flag that makes up a training.
type Flag struct {
	Name string // without the dashes
	Kind Kind
	Key  string // the setting that it gives; "": it gives many
	Unit string // follows the number in the setting

	decides bool // other settings have other defaults by it
	tunes   bool // is about a backbone that is trained
}

// Flags are all of them, in the order of the help.
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

// Names lists the names of the flags.
func Names() []string {
	var names []string
	for _, f := range Flags {
		names = append(names, f.Name)
	}
	return names
}

// Spell writes a setting as the flag that gives it.
func Spell(key config.Key) string {
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

// Asked has the flags that were given, by name, without the dashes. Some may have several values.
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

// Config returns the configuration: defaults, changed by recipe or file, then by set, then by the other flags. own is
// the file to read if neither recipe nor config is given; "" is none. Errors are misuse, except those in files.
func (a Asked) Config(own string) (config.Run, error) {
	name, text, err := a.readBase(own)
	if err != nil {
		return config.Run{}, err
	}
	if _, err := config.Parse(name, text, nil); err != nil { // an error in a file is not misuse
		return config.Run{}, err
	}
	settings, ofLosses := slices.Clone(a["set"]), []string(nil)
	for _, f := range Flags {
		if f.decides && a.isGiven(f.Name) {
			settings = append(settings, fmt.Sprintf("%s=%q", f.Key, a.getFlagText(f.Name)))
		}
	}
	if a.isGiven("loss") { // settings of losses are for those that the flag names
		isLoss := func(s string) bool { return strings.HasPrefix(s, "losses.") }
		ofLosses = slices.DeleteFunc(slices.Clone(settings), func(s string) bool { return !isLoss(s) })
		settings = slices.DeleteFunc(settings, isLoss)
	}
	cfg, err := config.Parse(name, text, settings)
	if err == nil {
		cfg.Data = folder.Locate(filepath.Dir(name), cfg.Data) // a run may have moved
		err = a.changeConfig(&cfg)
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
	return cfg, hint.AsMisuse(err)
}

// readBase reads what the flags change: a recipe, a file, own, or nothing.
func (a Asked) readBase(own string) (name string, text []byte, err error) {
	name = a.getFlagText("config")
	if recipe := a.getFlagText("recipe"); recipe != "" {
		if name != "" {
			return "", nil, hint.Misused("recipe and config are both whole sets of settings: expected one (winnow " +
				"recipes NAME prints a recipe to change)")
		}
		r, err := recipes.Find(recipe)
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

// changeConfig sets what the flags give.
func (a Asked) changeConfig(cfg *config.Run) error {
	if a.isGiven("epochs") && a.isGiven("steps") {
		return fmt.Errorf("epochs and steps both give the length: expected one")
	}
	if a.isGiven("loss") {
		cfg.Losses, cfg.Finetune.Loss = nil, config.GivenLoss
	}
	for _, f := range Flags {
		for _, text := range a[f.Name] {
			if f.Key == "" {
				break
			}
			value := text
			if text != config.Auto {
				value += f.Unit
			}
			err := config.SetText(cfg, f.Key, value)
			if err != nil && f.Unit != "" {
				err = fmt.Errorf("found %q, expected a number of%s or %s", text, f.Unit, config.Auto)
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

// Enough refuses flags, and the configuration that they make, if something is missing or if they contradict each other.
func (a Asked) Enough(cfg config.Run) error {
	if !cfg.Finetune.On() {
		if err := a.NeedsBackbone(); err != nil {
			return err
		}
	}
	return Needs(cfg)
}

// Needs refuses a configuration without a manifest. Features and backbone may be missing: a backbone is chosen, and
// makes the features.
func Needs(cfg config.Run) error {
	if cfg.Data.Manifest == "" {
		return hint.Misused("%s is missing: expected a manifest, or a folder with a folder of images for each class",
			config.Key("data.manifest"))
	}
	return nil
}

// OfHead returns the flags without those about a backbone that is trained.
func (a Asked) OfHead() Asked {
	of := maps.Clone(a)
	for _, f := range Flags {
		if f.tunes {
			delete(of, f.Name)
		}
	}
	return of
}

// NeedsBackbone refuses flags about a backbone that is trained or that makes the features, for trainings without one.
func (a Asked) NeedsBackbone() error {
	for _, f := range Flags {
		if f.tunes && a.isGiven(f.Name) {
			return hint.Misused("%s is about a backbone that is trained: add %s, or a stage", config.Key(f.Key),
				config.Key("finetune.weights=all"))
		}
	}
	if a.isGiven("model") && a.isGiven("features") {
		return hint.Misused("%s is the backbone that is trained, or that makes the features: add %s, or leave %s out",
			config.Key("data.model"), config.Key("finetune.weights=all"), config.Key("data.features"))
	}
	return nil
}

// With returns a copy with one more setting: a flag by its name, or a setting by its key. Losses are separated by +.
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

// Command returns the command line of this training, into the folder out unless that is "".
func (a Asked) Command(out string) string {
	words := []string{"winnow", "train"}
	for _, f := range Flags {
		for _, value := range a[f.Name] {
			if f.Kind == Switch {
				words = append(words, "--"+f.Name+"="+value)
				continue
			}
			words = append(words, "--"+f.Name, shellWord(value))
		}
	}
	if out != "" {
		words = append(words, "--out", shellWord(out))
	}
	return strings.Join(words, " ")
}

// shellWord quotes a word for a shell.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
			strings.ContainsRune("_-./:,=+@%", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
