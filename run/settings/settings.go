// Package settings puts the configuration of a training together from what a person gives: a recipe or a file, settings by
// key, and the flags of winnow train by their names. It knows nothing of a command line.
package settings

import (
	"encoding"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"winnow/backbone"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/recipes"
)

// Flags are those that make up a training, in the order of the help.
var Flags = strings.Fields("manifest root features finetune model backbone-lr augment cache-limit recipe config set method loss filter screen noise-rate " +
	"dim hidden init epochs steps batch lr paper-variant seed")

// Asked are flags as they were given, by name, without the dashes; set and loss may have several values.
type Asked map[string][]string

// is reports whether a flag is given.
func (a Asked) is(flag string) bool { return len(a[flag]) > 0 }

// text is a flag's value, "" where it is not given.
func (a Asked) text(flag string) string {
	if !a.is(flag) {
		return ""
	}
	return a[flag][0]
}

// Config returns the configuration: defaults, recipe or file, set, the other flags. own is read where neither recipe nor config is
// named; "" is none. What is wrong is a misuse, but for what stands in files.
func (a Asked) Config(own string) (config.Run, error) {
	name, text, err := a.read(own)
	if err != nil {
		return config.Run{}, err
	}
	if _, err := config.Parse(name, text, nil); err != nil { // what stands in a file is no misuse
		return config.Run{}, err
	}
	settings, ofLosses := slices.Clone(a["set"]), []string(nil)
	for flag, key := range map[string]string{"method": "method", "finetune": "finetune.weights", "filter": "filter.scorer", "screen": "screen"} { // they bring defaults
		if a.is(flag) {
			settings = append(settings, fmt.Sprintf("%s=%q", key, a.text(flag)))
		}
	}
	if a.is("loss") { // settings of losses are of those that loss names
		isLoss := func(s string) bool { return strings.HasPrefix(s, "losses.") }
		ofLosses = slices.DeleteFunc(slices.Clone(settings), func(s string) bool { return !isLoss(s) })
		settings = slices.DeleteFunc(settings, isLoss)
	}
	cfg, err := config.Parse(name, text, settings)
	if err == nil {
		cfg.Data = folder.Locate(filepath.Dir(name), cfg.Data) // of a run that may have moved
		err = a.change(&cfg)
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

// read reads what set and the flags change: a recipe, a file, own, or nothing.
func (a Asked) read(own string) (name string, text []byte, err error) {
	name = a.text("config")
	if recipe := a.text("recipe"); recipe != "" {
		if name != "" {
			return "", nil, hint.Misused("--recipe and --config are both whole sets of settings: expected one (winnow recipes show prints a recipe to change)")
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
	if text, err = regular.ReadFile(name, mostText); err != nil {
		err = fmt.Errorf("config: %w", err)
	}
	return name, text, err
}

// mostText is the largest configuration in bytes.
const mostText = 1 << 20

// change changes what the flags name that bring no defaults.
func (a Asked) change(cfg *config.Run) (err error) {
	for flag, to := range map[string]*string{
		"manifest": &cfg.Data.Manifest, "root": &cfg.Data.Root, "features": &cfg.Data.Features, "model": &cfg.Data.Model,
		"augment": &cfg.Finetune.Augment, "init": &cfg.Head.Init,
	} {
		if a.is(flag) {
			*to = a.text(flag)
		}
	}
	if a.is("epochs") && a.is("steps") {
		return fmt.Errorf("--epochs and --steps both give the length: expected one")
	}
	steps := 0
	for _, f := range []struct {
		name, what string
		read       func(text string) error
	}{
		{"dim", "a whole number", func(text string) error { cfg.Head.Out, err = strconv.Atoi(text); return err }},
		{"steps", "a whole number", func(text string) error { steps, err = strconv.Atoi(text); return err }},
		{"seed", "a whole number", func(text string) error { cfg.Seed, err = strconv.ParseUint(text, 0, 64); return err }},
		{"paper-variant", "true or false", func(text string) error { cfg.PaperVariant, err = strconv.ParseBool(text); return err }},
	} {
		if a.is(f.name) && f.read(a.text(f.name)) != nil {
			return fmt.Errorf("--%s: found %q, expected %s", f.name, a.text(f.name), f.what)
		}
	}
	switch {
	case a.is("epochs"):
		if err := cfg.Length.UnmarshalEpochs(a.text("epochs")); err != nil {
			return fmt.Errorf("--epochs: %w", err)
		}
	case a.is("steps"):
		cfg.Length = config.LastsSteps(steps)
	}
	for _, f := range []struct {
		name string
		to   encoding.TextUnmarshaler
	}{{"lr", &cfg.Solver.LR}, {"backbone-lr", &cfg.BackboneSolver.LR}, {"noise-rate", &cfg.Filter.Rate}, {"cache-limit", &cfg.Finetune.CacheLimit}} {
		if a.is(f.name) {
			if err := f.to.UnmarshalText([]byte(a.text(f.name))); err != nil {
				return fmt.Errorf("--%s: %w", f.name, err)
			}
		}
	}
	if a.is("noise-rate") && cfg.HasPeers() {
		cfg.Peers.Rate = cfg.Filter.Rate
	}
	if a.is("hidden") {
		if cfg.Head.Hidden, err = config.ParseWidths(a.text("hidden")); err != nil {
			return fmt.Errorf("--hidden: %w", err)
		}
	}
	if a.is("batch") {
		if err := cfg.Sampler.SetBatch(a.text("batch")); err != nil {
			return fmt.Errorf("--batch: %w", err)
		}
	}
	if a.is("loss") {
		cfg.Losses, cfg.Finetune.Loss = nil, config.GivenLoss
	}
	for _, text := range a["loss"] {
		l, err := config.ParseLoss(text)
		if err != nil {
			return err
		}
		cfg.Losses = append(cfg.Losses, l)
	}
	return nil
}

// Enough refuses flags and the configuration that they make where too little is named, or what does not go together.
func (a Asked) Enough(cfg config.Run) error {
	if !cfg.Finetune.On() {
		if err := a.NeedsBackbone(); err != nil {
			return err
		}
	}
	return Needs(cfg)
}

// Needs refuses a configuration that names too little to be trained. Features and backbone may be missing: a backbone is chosen, and
// makes the features.
func Needs(cfg config.Run) error {
	if cfg.Data.Manifest == "" {
		return hint.Misused("--manifest is missing: expected a manifest, or a folder with a folder of images for each class")
	}
	return nil
}

// ofTraining are flags that are about a backbone that is trained.
var ofTraining = []string{"backbone-lr", "augment", "cache-limit"}

// OfHead returns what of the flags is about a head.
func (a Asked) OfHead() Asked {
	of := maps.Clone(a)
	for _, flag := range ofTraining {
		delete(of, flag)
	}
	return of
}

// NeedsBackbone refuses flags that are about a backbone, where none is trained and none is to look at images.
func (a Asked) NeedsBackbone() error {
	for _, flag := range ofTraining {
		if a.is(flag) {
			return hint.Misused("--%s is about a backbone that is trained: add --finetune all, or a stage", flag)
		}
	}
	if a.is("model") && a.is("features") {
		return hint.Misused("--model is the backbone that is trained, or that makes the features: add --finetune all, or leave --features away")
	}
	return nil
}

// With returns the same with one setting more: a flag by its name, or a setting by its key. Several losses are parted by +.
func (a Asked) With(key, value string) Asked {
	with := maps.Clone(a)
	switch {
	case key == "loss":
		with[key] = strings.Split(value, "+")
	case slices.Contains(Flags, key):
		with[key] = []string{value}
	default:
		with["set"] = append(slices.Clone(a["set"]), key+"="+value)
	}
	return with
}

// Command returns the line that trains so, into a folder where one is named.
func (a Asked) Command(out string) string {
	words := []string{"winnow", "train"}
	for _, flag := range Flags {
		for _, value := range a[flag] {
			if flag == "paper-variant" {
				words = append(words, "--paper-variant="+value)
				continue
			}
			words = append(words, "--"+flag, shellWord(value))
		}
	}
	if out != "" {
		words = append(words, "--out", shellWord(out))
	}
	return strings.Join(words, " ")
}

// shellWord writes a word as a shell reads it back.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:,=+@%", r)
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
