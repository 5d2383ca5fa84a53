package settings_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"winnow/internal/hint"
	"winnow/run/config"
	"winnow/run/settings"
)

// Flags override settings; settings of losses are for those that the flag names.
func TestConfig(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(file, []byte("solver:\n  lr: 0.5\nhead:\n  out: 8\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	asked := settings.Asked{"config": {file}, "set": {"losses.0.weight=2", "solver.lr=0.25", "bank.size=7"},
		"loss":   {"triplet"},
		"epochs": {"3"}, "paper-variant": {"false"}, "seed": {"9"}}
	c, err := asked.Config("")
	if err != nil || c.Solver.LR.Value != .25 || c.Head.Out != 8 || len(c.Losses) != 1 || c.Losses[0].Weight != 2 ||
		c.Length != config.LastsEpochs(3) || c.Seed != 9 || c.Bank.Size != 7 {
		t.Errorf("%v: %+v", err, c)
	}
	if c, err = (settings.Asked{}).Config(file); err != nil || c.Solver.LR.Value != .5 {
		t.Errorf("own: %v: %v", err, c.Solver.LR)
	}
	with := asked.With("lr", "0.125").With("loss", "triplet+contrastive:bank").With("bank.size", "5")
	if c, err = with.Config(""); err != nil || c.Solver.LR.Value != .125 || len(c.Losses) != 2 || c.Bank.Size != 5 {
		t.Errorf("with: %v: %+v", err, c)
	}
	if c, err = asked.Config(""); err != nil || c.Bank.Size != 7 {
		t.Errorf("With has changed what it began with: %v %+v", err, c)
	}
	for want, asked := range map[string]settings.Asked{
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
	if err := settings.Needs(c); err == nil || !strings.HasPrefix(err.Error(), "data.manifest is missing") {
		t.Error(err)
	}
	if of := (settings.Asked{"model": {"x"}, "augment": {"flip"}}).OfHead(); len(of) != 1 || of.NeedsBackbone() != nil {
		t.Error(of)
	}
	if err := (settings.Asked{"model": {"x"}, "features": {"f"}}).NeedsBackbone(); err == nil ||
		(settings.Asked{"model": {"x"}}).NeedsBackbone() != nil {
		t.Error(err)
	}
}

func TestCommand(t *testing.T) {
	asked := settings.Asked{"set": {"length=3 epochs", "a=it's"}, "manifest": {"m.csv"}, "paper-variant": {"true"},
		"loss": {"triplet", "contrastive:bank"}}
	want := `winnow train --manifest m.csv --set 'length=3 epochs' --set 'a=it'\''s' ` +
		`--loss triplet --loss contrastive:bank --paper-variant=true --out ''`
	if got := strings.TrimSuffix(want, " --out ''"); asked.Command("") != got {
		t.Errorf("%s\nexpected\n%s", asked.Command(""), got)
	}
	if got := asked.Command("a b"); !strings.HasSuffix(got, " --out 'a b'") {
		t.Error(got)
	}
}

// Settings in messages are written as the flags that give them.
func TestSpell(t *testing.T) {
	for key, want := range map[config.Key]string{
		"solver.lr": "--lr", "solver.lr=0.1": "--lr 0.1", "length=4 epochs": "--epochs 4", "clip=1": "--set clip=1",
	} {
		if got := settings.Spell(key); got != want {
			t.Errorf("%s: %s, expected %s", key, got, want)
		}
	}
}

// The flags that are the text of a setting name one.
func TestFlagsHaveKeys(t *testing.T) {
	flat := config.Flatten(config.Default())
	for _, f := range settings.Flags {
		_, scalar := flat[f.Key]
		whole := f.Key == "losses" || f.Key == "sampler"
		if f.Key != "" && !scalar && !whole {
			t.Errorf("--%s: there is no setting %s", f.Name, f.Key)
		}
	}
}
