package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/features"
	"winnow/run"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/tuning"
	"winnow/train"
)

// arms are the treatments of wrong labels: the settings that differ from the defaults of a fine-tuning.
var arms = map[string][]string{
	"default":     nil, // screened, a filled bank
	"no filter":   {"screen=none", "filter.scorer=none", "bank.fill=false"},
	"empty bank":  {"screen=none", "bank.fill=false"},
	"filled bank": {"screen=none"},
	"told":        nil,             // the default, told the share of wrong labels
	"no copies":   {"screen=none"}, // as filled, with a bank as large as the set
	"head alone":  {"screen=none", "backbone_solver.lr=0"},
	"warm-up":     {"schedule.warm_up=40 steps", "backbone_schedule.warm_up=40 steps"}, // and the defaults
	"slow head":   {"screen=none", "solver.lr=3e-5"},
	"no bank":     {"screen=none", "filter.scorer=none", "bank.fill=false", "bank.size=0"}, // nor its loss term
}

// trainings runs the training of a cell.
func trainings(ctx context.Context, args []string) error {
	f, here := newFlags("train")
	var c cell
	f.StringVar(&c.set, "set", "", "images and network, as the tables call them")
	f.StringVar(&c.noise, "noise", "", "the labels' noise, as the tables call it")
	f.StringVar(&c.arm, "arm", "default", "one of: "+strings.Join(slices.Sorted(maps.Keys(arms)), ", "))
	manifest := f.String("manifest", "", "its manifest, with true labels")
	root := f.String("root", "", "its images")
	store := f.String("features", "", "the network's features of these images")
	weights := f.String("weights", config.AllWeights, "what is trained of the network")
	epochs := f.Int("epochs", 4, "epochs of all training images")
	augment := f.String("augment", config.AutoAugmentation, "none, auto or a recipe")
	choice := f.Bool("choice", false, "record what validation would choose by partly wrong labels")
	probe := f.Int("probe", 1000, "largest number of training images whose retrieval is measured after each epoch")
	f.Parse(args)
	if err := need(f, "set", "noise", "manifest", "root", "features"); err != nil {
		return err
	}
	if _, ok := arms[c.arm]; !ok {
		return fmt.Errorf("train: -arm %q is none of %s", c.arm, strings.Join(slices.Sorted(maps.Keys(arms)), ", "))
	}
	done, err := readTable(*here, "retrieval")
	if err != nil || len(done.of(c)) > 0 {
		return err
	}
	cfg, err := config.Load("", append([]string{"finetune.weights=" + *weights, "finetune.augment=" + *augment},
		arms[c.arm]...))
	if err != nil {
		return err
	}
	cfg.Data = config.Data{Manifest: *manifest, Root: *root, Features: *store}
	d, err := datasets.ReadFile(*manifest, datasets.ReadOptions{})
	if err != nil {
		return err
	}
	data, err := run.Load(ctx, d, *store, false)
	if err != nil {
		return err
	}
	epoch := data.Train.Len() / (cfg.Sampler.Classes * cfg.Sampler.Images)
	if c.arm == "no copies" {
		cfg.Bank.Size = data.Train.Len()
	}
	for _, s := range []string{"length=%d steps", "validation.every=%d steps", "diagnostics.every=%d steps"} {
		n := epoch
		if strings.HasPrefix(s, "length") {
			n *= *epochs
		}
		if err := config.Set(&cfg, fmt.Sprintf(s, n)); err != nil {
			return err
		}
	}
	if c.arm == "told" {
		cfg.Filter.Rate = config.GivenRate(shareWrong(d))
	}
	if c.arm == "no bank" {
		cfg.Losses = cfg.Losses[:1]
	}
	o := &observer{d: d, epoch: epoch, probed: max(*probe, 1)}
	if *choice {
		o.choice = newChoices(d, data.Validation)
	}
	out, err := follow(ctx, cfg, data, o)
	if err != nil {
		return err
	}
	log.Printf("%s: %d steps, best %.4f at %d", c, out.Step, out.BestScore, out.BestStep)
	found := o.end()
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if name != "retrieval" {
			if err := write(*here, name, c, found[name]); err != nil {
				return err
			}
		}
	}
	return write(*here, "retrieval", c, found["retrieval"]) // the last file: the cell is done
}

// shareWrong returns the share of wrong labels among the training images'.
func shareWrong(d *datasets.Dataset) float64 {
	wrong, all := 0, 0
	for _, s := range d.Samples {
		if s.Split == datasets.Train && s.Label != datasets.Unlabelled && s.True != datasets.Unlabelled {
			if all++; s.Label != s.True {
				wrong++
			}
		}
	}
	return float64(wrong) / float64(max(all, 1))
}

// follow runs a training with an observer.
func follow(ctx context.Context, cfg config.Run, data run.Data, o *observer) (out run.Outcome, err error) {
	rt, err := ort.Open(ort.Config{})
	if err != nil {
		return out, err
	}
	defer rt.Close()
	live, err := tuning.Open(cfg, data.Paths, tuning.Config{Note: log.Printf, Watch: quiet})
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, live.Close()) }()
	live.Use(rt)
	out, err = trainOn(ctx, watched{live, o}, cfg, data, run.Options{Last: true},
		train.On(o.stepped), train.On(o.validated), train.On(o.diagnosed))
	return out, errors.Join(err, o.err)
}

// trainOn trains on a watched backbone, whose observer gets the plan before the first step.
func trainOn(ctx context.Context, on watched, cfg config.Run, data run.Data, opts run.Options,
	seen ...train.Observer) (out run.Outcome, err error) {
	t, err := run.Resolve(ctx, cfg, run.Input{Data: &data, Backbone: on}, opts)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	if err := on.o.begin(t.Plan); err != nil {
		return out, err
	}
	return t.Run(ctx, seen...)
}

func quiet(string) (func(int, int), func()) { return func(int, int) {}, func() {} }

// views measures how far each recipe's training views are from the evaluation's, in the network's features and in the
// whitened head's embedding.
func views(ctx context.Context, args []string) error {
	f, here := newFlags("views")
	set := f.String("set", "", "images and network, as the tables call them")
	manifest := f.String("manifest", "", "its manifest")
	root := f.String("root", "", "its images")
	model := f.String("model", "", "the network")
	weights := f.String("weights", config.AllWeights, "what is trained of it")
	keep := f.String("keep", "", "a folder for features")
	raw := f.Bool("raw", false, "only the network's features: of few images whitening says nothing")
	f.Parse(args)
	if err := need(f, "set", "manifest", "root", "model", "keep"); err != nil {
		return err
	}
	done, err := readTable(*here, "views")
	if err != nil {
		return err
	}
	for _, recipe := range backbone.Recipes() {
		c := cell{*set, "clean", recipe.Name}
		if len(done.of(c)) > 0 {
			continue
		}
		cfg, err := config.Load("", []string{"finetune.weights=" + *weights, "finetune.augment=" + recipe.Name,
			"length=1 steps", "screen=none", "filter.scorer=none",
			"bank.fill=false", "backbone_solver.lr=0"})
		if err != nil {
			return err
		}
		cfg.Data = config.Data{Manifest: *manifest, Root: *root, Model: *model}
		found, err := compareViews(ctx, cfg, filepath.Join(*keep, *set), *raw)
		if err != nil {
			return fmt.Errorf("%s: %w", c, err)
		}
		log.Printf("%s: %v", c, found)
		if err := write(*here, "views", c, [][]string{found}); err != nil {
			return err
		}
	}
	return nil
}

func compareViews(ctx context.Context, cfg config.Run, keep string, raw bool) ([]string, error) {
	d, err := datasets.ReadFile(cfg.Data.Manifest, datasets.ReadOptions{})
	if err != nil {
		return nil, err
	}
	rt, err := ort.Open(ort.Config{})
	if err != nil {
		return nil, err
	}
	defer rt.Close()
	live, err := tuning.Open(cfg, d.Paths(), tuning.Config{Note: log.Printf, Watch: quiet})
	if err != nil {
		return nil, err
	}
	defer live.Close()
	live.Use(rt)
	if live.Backbone.Preprocessing.Exact {
		keep += "-squashed"
	}
	host := extraction.Host{Runtime: func() (*ort.Runtime, error) { return rt, nil }}.Complete()
	if _, err := live.Extraction(keep).Store(ctx, host); err != nil {
		return nil, err
	}
	data, err := run.Load(ctx, d, keep, false)
	if err != nil {
		return nil, err
	}
	v, err := live.CompareViews(ctx, data.Train)
	if err != nil || raw {
		return append(line(v.Own, v.Others), "", ""), err
	}
	data.Validation = features.Set{}
	var own, others float64
	o := &observer{d: d, epoch: 1, probed: 100}
	o.firstViews = func(start, seen features.Set, rows []int) {
		n := float64(len(rows))
		for i, row := range rows {
			own += features.Dot(seen.Row(i), start.Row(row)) / n
			for _, other := range rows[:i] {
				others += features.Dot(start.Row(other), start.Row(row)) * 2 / (n * (n - 1))
			}
		}
	}
	_, err = trainOn(ctx, watched{live, o}, cfg, data, run.Options{})
	return line(v.Own, v.Others, own, others), err
}
