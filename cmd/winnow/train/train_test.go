package train

import (
	"strings"
	"testing"

	"winnow/cmd/winnow/term/termtest"
	"winnow/run/config"
)

// asked returns the options of a command line.
func asked(t *testing.T, line string) (*Options, error) {
	t.Helper()
	return termtest.Asked(t, newTrainCommand, strings.Fields(line)...)
}

func TestOptions(t *testing.T) {
	o, err := asked(t, "--manifest m.csv --features f --out runs/a --loss triplet:0.5 --set "+
		"losses.0.settings.margin=0.1 --set bank.size=0 --filter none --noise-rate auto --dim 64 "+
		"--init random --steps 9 --batch 8x2 --lr 0.5 --seed 7 --overwrite --json")
	c := o.Config
	switch {
	case err != nil:
		t.Fatal(err)
	case o.Out != "runs/a" || !o.Overwrite || o.Resume || o.Defaults || !o.JSON || o.Recipe != "":
		t.Errorf("%+v", o)
	case c.Data != config.Data{Manifest: "m.csv", Features: "f"} || c.Filter.Scorer != config.NoFilter ||
		!c.Filter.Rate.Auto || c.Seed != 7:
		t.Errorf("%+v", c)
	case len(c.Losses) != 1 || c.Losses[0].Name != "triplet" || c.Losses[0].Weight != 0.5 ||
		c.Losses[0].Settings["margin"] != 0.1:
		t.Errorf("losses: %+v", c.Losses)
	case c.Head.Out != 64 || c.Head.Init != "random" ||
		c.Solver.LR.Value != 0.5:
		t.Errorf("head: %+v, solver: %+v", c.Head, c.Solver)
	case c.Length != config.LastsSteps(9) || c.Sampler.Classes != 8 || c.Sampler.Images != 2:
		t.Errorf("length %v, sampler %+v", c.Length, c.Sampler)
	}
	o, err = asked(t, "--manifest m.csv --root r --model mobilenetv2 --finetune layer4 "+
		"--augment flip --cache-limit 1GiB --backbone-lr 1e-3 --epochs 2 --out a --resume")
	c = o.Config
	if err != nil || !o.Resume || c.Data != (config.Data{Manifest: "m.csv", Root: "r", Model: "mobilenetv2"}) ||
		c.Finetune.Weights != "layer4" || c.Finetune.Augment != "flip" ||
		c.Finetune.CacheLimit != 1<<30 || c.BackboneSolver.LR.Value != 1e-3 || c.Length != config.LastsEpochs(2) {
		t.Errorf("%v: %+v", err, o)
	}
	if o, err = asked(t, "--method co-teaching --noise-rate 0.3 --batch 50 --defaults"); err != nil || !o.Defaults ||
		o.Config.Peers.Rate.Share != 0.3 || o.Config.Sampler.Rows != 50 {
		t.Errorf("%v: %+v", err, o)
	}
	if o, err = asked(t, "--loss scl_rhe --paper-variant --defaults"); err != nil || !o.Config.PaperVariant {
		t.Errorf("%v: %+v", err, o)
	}
	if o, err = asked(t, "--epochs auto --defaults"); err != nil || !o.Config.Length.Auto {
		t.Errorf("%v: %+v", err, o)
	}
	if o, err = asked(t, "--recipe prism --defaults"); err != nil || o.Recipe != "prism" ||
		o.Config.Filter.Scorer != "vmf" {
		t.Errorf("%v: %+v", err, o)
	}
}

func TestMisuse(t *testing.T) {
	const fine = "--manifest m --features f --out o "
	for want, args := range map[string]string{
		"takes one manifest or folder of images and flags, found \"x y \"": "x y",
		"found \"x m\"":                               "x --manifest m",
		"--manifest is missing":                       "--features f --out o",
		"--out is missing":                            "--manifest m --features f",
		"--model is the backbone that is trained, or": "--manifest m --features f --out o --model x",
		"contradict each other":                       fine + "--resume --overwrite",
		"both give the length":                        fine + "--epochs 1 --steps 2",
		"expected a number of epochs or auto":         fine + "--epochs 1x",
		"--batch: found":                              fine + "--batch 16",
		"--noise-rate: found":                         fine + "--noise-rate x",
		"--cache-limit: found":                        fine + "--cache-limit x",
		"augmentation \"blur\" is unknown":            fine + "--augment blur",
		"losses: found 1, expected none":              fine + "--method tcl --loss triplet",
		"are both whole sets of settings":             fine + "--recipe prism --config c",
		"unknown key nix":                             fine + "--set nix=1",
	} {
		if _, err := asked(t, args); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", args, err, want)
		}
	}
}
