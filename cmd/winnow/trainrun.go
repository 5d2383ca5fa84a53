package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"winnow/features"
	"winnow/filters"
	"winnow/filters/correction"
	"winnow/head"
	"winnow/internal/config"
	"winnow/losses"
	"winnow/train"
)

// Files of a run's folder, beside those of the train package.
const (
	bestHeadFile = "head.winnow"
	lastHeadFile = "last.winnow"
	configFile   = "config.yaml"
	runFile      = "run.json"
	resultFile   = "result.json"
)

// trainOptions say where a run is kept and who watches it.
type trainOptions struct {
	Dir       string // "": nothing is kept
	Resume    bool
	Last      bool                       // the run's head is left as it ended, whatever validation says
	Tuning    *tuning                    // the backbone that is trained too; nil: the head alone, on stored features
	Begun     func(plan trainPlan) error // everything is built and nothing written yet
	Stepped   func(train.Step)
	Validated func(train.Validation)
	Diagnosed func(train.Diagnosis)
	Weighed   func(train.Weighing)
}

// trainPlan is what a run will do, as far as the data decide it.
type trainPlan struct {
	Config       config.Run
	Steps, Epoch int  // of the run, of an epoch
	Resumed      int  // steps done before
	Validates    bool // there is a validation split
	Rests        int  // steps in which the backbone rests
}

// trained is what a run came to.
type trained struct {
	train.Result
	Config config.Run     // as it was run
	Head   *head.Head     // the best by validation, or the last: see trainOptions
	Filter filters.Config // as it was run; Scorer is config.NoFilter without one

	Corrections int // labels changed; an image counts as often as its label was
}

// closingEncoder is an encoder that holds memory outside Go.
type closingEncoder interface {
	train.Encoder
	Close() error
}

// trainRun trains a head, and the backbone if opts say so, on data as a configuration says. It is the one way to
// train: winnow train and winnow demo both come here.
func trainRun(ctx context.Context, cfg config.Run, data trainData, opts trainOptions) (trained, error) {
	if err := cfg.Validate(); err != nil {
		return trained{}, err
	}
	if _, err := resolveRate(&cfg, data); err != nil {
		return trained{}, err
	}
	cfg.Head.In = data.Train.Dim()
	cfg.Head.Out = min(cfg.Head.Out, cfg.Head.In) // more dimensions than the features have would stay empty
	h, err := head.New(cfg.Head, data.Train.X, train.Rand(cfg.Seed, "head", 0))
	if err != nil {
		return trained{}, err
	}
	sampler, err := train.NewSampler(cfg.Sampler, data.Train.Labels, cfg.Seed)
	if err != nil {
		return trained{}, err
	}
	tc, err := buildRun(cfg, data, sampler)
	if err != nil {
		return trained{}, err
	}
	if tc.Validate, err = validator(cfg, data, h, opts.Tuning); err != nil {
		return trained{}, err
	}
	if opts.Tuning != nil { // the encoder may take minutes to be ready
		if err := willTrain(cfg, tc, sampler.Batches(), opts); err != nil {
			return trained{}, err
		}
	}
	encoder, err := openLearner(ctx, &tc, h, cfg, data, opts.Tuning)
	if err != nil {
		return trained{}, err
	}
	defer encoder.Close()
	tc.Encoder = visited(encoder, cfg, data, tc.Clock)
	if tc.SelfPaced, err = selfPacing(cfg, data, sampler.Batches(), h, opts.Tuning); err != nil {
		return trained{}, err
	}
	tc.Dir, tc.Stepped, tc.Validated, tc.Diagnosed, tc.Weighed = opts.Dir, opts.Stepped, opts.Validated, opts.Diagnosed, opts.Weighed
	t, err := train.New(tc)
	if err != nil {
		return trained{}, err
	}
	if opts.Dir != "" {
		t.SaveHead = func(best bool) error {
			name := lastHeadFile
			if best {
				name = bestHeadFile
			}
			if err := writeCorrections(opts.Dir, tc.Corrector, data); err != nil {
				return err
			}
			return opts.Tuning.save(opts.Dir, name, h, headMeta(cfg, data))
		}
	}
	if opts.Resume {
		if _, err := t.Resume(); err != nil {
			return trained{}, err
		}
	}
	if opts.Begun != nil {
		plan := trainPlan{Config: cfg, Steps: tc.Steps, Epoch: sampler.Batches(), Resumed: t.Done(), Validates: tc.Validate != nil}
		if opts.Tuning != nil {
			plan.Rests = cfg.Finetune.Start.In(plan.Epoch)
		}
		if err := opts.Begun(plan); err != nil {
			return trained{}, err
		}
	}
	result, err := t.Run(ctx)
	if err != nil {
		return trained{Result: result, Config: cfg, Head: h}, err
	}
	if !opts.Last {
		t.UseBest()
	}
	if tc.SelfPaced != nil && opts.Dir != "" {
		if err := writeWeights(opts.Dir, data, tc.SelfPaced.Weights); err != nil {
			return trained{}, err
		}
	}
	if opts.Tuning != nil && opts.Dir != "" && !opts.Tuning.matches(opts.Dir, bestHeadFile) { // an earlier run was cut off between the two
		if err := t.SaveHead(true); err != nil {
			return trained{}, err
		}
	}
	out := trained{Result: result, Config: cfg, Head: h, Filter: cfg.Filter.In(sampler.Batches())}
	if tc.Corrector != nil {
		out.Corrections = len(tc.Corrector.Corrections())
	}
	return out, nil
}

// willTrain says what would keep a fine-tuning from going on, as far as that is known before its encoder is there.
func willTrain(cfg config.Run, tc train.Config, epoch int, opts trainOptions) error {
	if start := cfg.Finetune.Start.In(epoch); start >= tc.Steps {
		return fmt.Errorf("train: finetune.start: the backbone would rest for %d steps and the run has %d: it would never be trained", start, tc.Steps)
	}
	if opts.Resume && opts.Dir != "" {
		return train.SameRun(opts.Dir, tc.Identity)
	}
	return nil
}

// openLearner gives a run what it trains and who steps it: networks that are its method, with their loss, or an
// encoder under the losses that it has.
func openLearner(ctx context.Context, tc *train.Config, h *head.Head, cfg config.Run, data trainData, t *tuning) (closingEncoder, error) {
	if cfg.Method != config.Metric {
		return openMethod(tc, h, cfg, data)
	}
	encoder, err := openEncoder(ctx, h, cfg, data, tc.Sampler, tc.Clock, t)
	if err != nil {
		return nil, err
	}
	if tc.Groups, err = buildGroups(cfg, h, encoder, tc.Terms, tc.Steps, tc.Sampler.Batches()); err != nil {
		return nil, errors.Join(err, encoder.Close())
	}
	return encoder, nil
}

// visited is an encoder of all stored views as one of the training rows, which draws a view at each visit. The
// methods of package selective draw theirs themselves.
func visited(e closingEncoder, cfg config.Run, data trainData, clock *train.Clock) train.Encoder {
	if data.views() == 1 || cfg.IsSelective() {
		return e
	}
	return &train.Viewed{Encoder: e, Rows: data.Train.Len(), Views: data.views(), Source: clock.Source(cfg.Seed, "stored view")}
}

// openEncoder is what a run trains: a head on stored features, or a head on a live backbone.
func openEncoder(ctx context.Context, h *head.Head, cfg config.Run, data trainData, sampler *train.Sampler, clock *train.Clock, t *tuning) (closingEncoder, error) {
	if t == nil {
		return head.NewEncoder(h, data.Stored, sampler.Size())
	}
	rests := cfg.Finetune.Start.In(sampler.Batches())
	return t.encoder(ctx, h, data.Train, sampler.Size(), func() bool { return clock.Step() <= rests }, clock.Source(cfg.Seed, "augment"))
}

// buildRun builds everything of a run but its encoder, its groups and its watchers.
func buildRun(cfg config.Run, data trainData, sampler *train.Sampler) (train.Config, error) {
	epoch := sampler.Batches()
	clock := new(train.Clock)
	tc := train.Config{
		Sampler: sampler, Steps: cfg.Length.In(epoch), Clip: cfg.Clip, StepIdle: cfg.StepIdle,
		ValidateEvery: max(cfg.Validation.Every.In(epoch), 1), CheckpointEvery: cfg.Checkpoint.In(epoch), LogEvery: cfg.LogEvery,
		DiagnoseEvery: cfg.Diagnostics.Every.In(epoch),
		Identity:      trainIdentity(cfg, data), Clock: clock, Now: time.Now,
	}
	if data.Validation.Len() > 0 {
		tc.Patience = cfg.Validation.Patience
	}
	classes := len(data.Classes)
	if cfg.Bank.Size > 0 {
		tc.Bank = features.NewBank(cfg.Bank.Size, cfg.Head.Out, classes)
	}
	env := filters.Env{Dim: cfg.Head.Out, Classes: classes}
	for i, l := range cfg.Losses {
		term, err := buildTerm(l, i, cfg, classes, epoch, clock)
		if err != nil {
			return tc, err
		}
		if proxied, ok := term.Loss.(losses.Proxied); ok && env.Proxies == nil {
			env.Proxies, env.PerClass = proxied.Proxies()
		}
		tc.Terms = append(tc.Terms, term)
	}
	if cfg.Filter.Scorer != config.NoFilter {
		filter, err := filters.New(cfg.Filter.In(epoch), env)
		if err != nil {
			return tc, err
		}
		tc.Filter = filter
	}
	if cfg.Correct.On() {
		corrector, err := correction.New(cfg.Correct.In(epoch), data.Train.Labels, classes)
		if err != nil {
			return tc, err
		}
		tc.Corrector = corrector
	}
	return tc, nil
}

// buildGroups gives head, losses and backbone each their solver. What an encoder trains beside the head is its
// backbone.
func buildGroups(cfg config.Run, h *head.Head, encoder train.Encoder, terms []train.Term, steps, epoch int) ([]train.Group, error) {
	var ofLosses, ofBackbone []*features.Param
	for _, term := range terms {
		ofLosses = append(ofLosses, term.Params...)
	}
	for _, p := range encoder.Params() {
		if !slices.Contains(h.Params(), p) {
			ofBackbone = append(ofBackbone, p)
		}
	}
	var groups []train.Group
	for _, g := range []struct {
		name     string
		params   []*features.Param
		solver   train.SolverConfig
		schedule config.Schedule
		start    int
	}{
		{train.HeadGroup, h.Params(), cfg.Solver, cfg.Schedule, 1},
		{train.LossGroup, ofLosses, cfg.LossSolver, cfg.LossSchedule, 1},
		{train.BackboneGroup, ofBackbone, cfg.BackboneSolver, cfg.BackboneSchedule, cfg.Finetune.Start.In(epoch) + 1},
	} {
		if len(g.params) == 0 {
			continue
		}
		solver, err := train.NewSolver(g.solver)
		if err != nil {
			return nil, err
		}
		plan, err := train.NewSchedule(g.schedule.In(epoch), g.solver.LR, steps-g.start+1, epoch)
		if err != nil {
			return nil, err
		}
		groups = append(groups, train.Group{Name: g.name, Params: g.params, Solver: solver, Schedule: plan, Start: g.start})
	}
	return groups, nil
}

// buildTerm builds one loss. Its parameters are named after it, as two losses may use the same names.
func buildTerm(l config.Loss, i int, cfg config.Run, classes, epoch int, clock *train.Clock) (train.Term, error) {
	loss, err := losses.New(l.Name, l.Settings, losses.Env{
		Dim: cfg.Head.Out, Classes: classes,
		Init: train.Rand(cfg.Seed, "loss "+l.Term(), 0), Step: clock.Source(cfg.Seed, "loss "+l.Term()),
	})
	if err != nil {
		return train.Term{}, err
	}
	entry, err := losses.Find(l.Name)
	if err != nil {
		return train.Term{}, err
	}
	term := train.Term{Name: l.Term(), Loss: loss, Weight: l.Weight, Bank: l.Against == config.AgainstBank, Start: l.Start.In(epoch) + 1, Unlabelled: entry.Unlabelled}
	if owner, ok := loss.(losses.Trainable); ok {
		term.Params = owner.Params()
		for _, p := range term.Params {
			p.Name = fmt.Sprintf("loss.%d.%s", i, p.Name)
		}
	}
	return term, nil
}

// trainIdentity is what a resumed run must share with the one that was stopped: every setting that changes
// a result, and the data by content instead of by where they lie.
func trainIdentity(cfg config.Run, data trainData) map[string]string {
	id := config.Flatten(cfg)
	elsewhere := []string{"data.manifest", "data.root", "data.features", "data.model", "checkpoint", "diagnostics.every"}
	unused := map[string]bool{"peers.": !cfg.HasPeers(), "selective.": !cfg.IsSelective(), "selfpaced.": !cfg.SelfPaced.On(), "correct.": !cfg.Correct.On()}
	maps.DeleteFunc(id, func(key, _ string) bool {
		for block, off := range unused {
			if off && strings.HasPrefix(key, block) {
				return true
			}
		}
		return slices.Contains(elsewhere, key)
	})
	if cfg.Finetune.On() {
		id["data.model"] = data.Key.Model
	}
	id["data.images"], id["data.features"] = data.Sum, data.StoreSum
	return id
}
