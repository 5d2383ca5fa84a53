package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/hint"
	"winnow/run/config"
)

// Flags override --set. Settings of losses apply to the losses that the flag names.
func TestConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("solver:\n  lr: 0.5\nhead:\n  out: 8\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	asked := config.Asked{"config": {file}, "set": {"losses.0.weight=2", "solver.lr=0.25", "bank.size=7"},
		"loss":   {"triplet"},
		"epochs": {"3"}, "paper-variant": {"false"}, "seed": {"9"}}
	c, err := asked.Config("")
	if err != nil || c.Solver.LR.Value != .25 || c.Head.Out != 8 || len(c.Losses) != 1 || c.Losses[0].Weight != 2 ||
		c.Length != config.LastsEpochs(3) || c.Seed != 9 || c.Bank.Size != 7 {
		t.Errorf("%v: %+v", err, c)
	}
	if c, err = (config.Asked{}).Config(file); err != nil || c.Solver.LR.Value != .5 {
		t.Errorf("own: %v: %v", err, c.Solver.LR)
	}
	with := asked.With("lr", "0.125").With("loss", "triplet+contrastive:bank").With("bank.size", "5")
	if c, err = with.Config(""); err != nil || c.Solver.LR.Value != .125 || len(c.Losses) != 2 || c.Bank.Size != 5 {
		t.Errorf("with: %v: %+v", err, c)
	}
	if c, err = asked.Config(""); err != nil || c.Bank.Size != 7 {
		t.Errorf("With changed the original flags: %v %+v", err, c)
	}
	for want, asked := range map[string]config.Asked{
		`--epochs: found "x"`:             {"epochs": {"x"}},
		`--dim: found "1.5"`:              {"dim": {"1.5"}},
		`--seed: found "-1"`:              {"seed": {"-1"}},
		`--steps: found ""`:               {"steps": {""}},
		`--paper-variant: found "maybe"`:  {"paper-variant": {"maybe"}},
		"both give the length":            {"epochs": {"1"}, "steps": {"1"}},
		"unknown key nix":                 {"set": {"nix=1"}},
		"are both whole sets of settings": {"recipe": {"prism"}, "config": {file}},
	} {
		if _, err := asked.Config(""); err == nil || !errors.As(err, new(hint.Misuse)) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, expected %q", asked, err, want)
		}
	}
	if err := config.Needs(c); err == nil || !strings.HasPrefix(err.Error(), "--manifest is missing") {
		t.Error(err)
	}
	if err := (config.Asked{"model": {"x"}, "features": {"f"}}).NeedsBackbone(); err == nil ||
		(config.Asked{"model": {"x"}}).NeedsBackbone() != nil {
		t.Error(err)
	}
}

// Messages name a setting by the flag that gives it.
func TestSpell(t *testing.T) {
	for key, want := range map[config.Key]string{
		"solver.lr": "--lr", "solver.lr=0.1": "--lr 0.1", "length=4 epochs": "--epochs 4", "clip=1": "--set clip=1",
	} {
		if got := key.String(); got != want {
			t.Errorf("%s: %s, expected %s", key, got, want)
		}
	}
}

// The key of every flag is an existing setting.
func TestFlagsHaveKeys(t *testing.T) {
	flat := config.Flatten(config.Default())
	for _, f := range config.Flags {
		_, scalar := flat[f.Key]
		whole := f.Key == "losses" || f.Key == "sampler"
		if f.Key != "" && !scalar && !whole {
			t.Errorf("--%s: there is no setting %s", f.Name, f.Key)
		}
	}
}
