// Package run turns a resolved configuration and data into a training run: it builds the head, the backbone where
// that is trained too, sampler, losses, filter and solvers that the configuration names, hands them to package train, and
// leaves a run's folder. Every command that trains comes here. True labels are not in what it makes of a dataset.
package run

import (
	"context"
	"errors"
	"fmt"

	"winnow/extraction"
	"winnow/filters"
	"winnow/head"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/tuning"
	"winnow/train"
)

// Options say where a run is kept, who watches it, and, for [Open], what computes and reports on the way.
type Options struct {
	Dir       string // "": nothing is kept
	Winnow    string // its version, for what is kept
	Resume    bool
	Overwrite bool           // Open: an earlier run in Dir goes when this one begins
	Last      bool           // the run's head is left as it ended, whatever validation says
	Tuning    *tuning.Tuning // the backbone that is trained too; nil: the head alone, on stored features; Open sets it

	Host  extraction.Host                                          // Open: without Runtime the one that is found trains a backbone
	About folder.Facts                                             // Open: what the caller knows for run.json: device, threads, recipe
	Note  func(format string, args ...any)                         // Open: takes what a person may want to know of data and plan; nil: nobody
	Watch func(what string) (at func(done, total int), end func()) // Open: shows what takes long before a backbone is trained

	Begun     func(plan Plan) error // everything is built and nothing written yet
	Stepped   func(train.Step)
	Validated func(train.Validation)
	Diagnosed func(train.Diagnosis)
	Weighed   func(train.Weighing)
}

// Plan is what a run will do, as far as the data decide it.
type Plan struct {
	Config       config.Run
	Steps, Epoch int  // of the run, of an epoch
	Resumed      int  // steps done before
	Labelled     int  // training images with a label
	Validates    bool // there is a validation split
	Rests        int  // steps in which the backbone rests
}

// Outcome is what a run came to.
type Outcome struct {
	train.Result
	Config config.Run     // as it was run
	Head   *head.Head     // the best by validation, or the last: see Options
	Filter filters.Config // as it was run; Scorer is config.NoFilter without one

	Corrections int // labels changed; an image counts as often as its label was
}

// closingEncoder is an encoder that holds memory outside Go.
type closingEncoder interface {
	train.Encoder
	Close() error
}

// Run trains a head, and the backbone if opts say so, on data as a configuration says. It is the one way to
// train: winnow train and winnow demo both come here.
func Run(ctx context.Context, cfg config.Run, data Data, opts Options) (Outcome, error) {
	out, err := run(ctx, cfg, data, opts)
	if err != nil {
		err = explain(err, data, opts.Dir, opts.Tuning != nil)
	}
	return out, err
}

func run(ctx context.Context, cfg config.Run, data Data, opts Options) (Outcome, error) {
	if err := cfg.Validate(); err != nil {
		return Outcome{}, err
	}
	if _, err := ResolveRate(&cfg, data); err != nil {
		return Outcome{}, err
	}
	cfg.Head.In = data.Train.Dim()
	cfg.Head.Out = min(cfg.Head.Out, cfg.Head.In) // more dimensions than the features have would stay empty
	h, err := head.New(cfg.Head, data.Train.X, train.Rand(cfg.Seed, "head", 0))
	if err != nil {
		return Outcome{}, err
	}
	sampler, err := train.NewSampler(cfg.Sampler, data.Train.Labels, cfg.Seed)
	if err != nil {
		return Outcome{}, err
	}
	tc, err := buildRun(cfg, data, sampler)
	if err != nil {
		return Outcome{}, err
	}
	if tc.Validate, err = validator(cfg, data, h, opts.Tuning); err != nil {
		return Outcome{}, err
	}
	if opts.Tuning != nil { // the encoder may take minutes to be ready
		if err := willTrain(cfg, tc, sampler.Batches(), opts); err != nil {
			return Outcome{}, err
		}
	}
	encoder, err := openLearner(ctx, &tc, h, cfg, data, opts.Tuning)
	if err != nil {
		return Outcome{}, err
	}
	defer encoder.Close()
	tc.Encoder = visited(encoder, cfg, data, tc.Clock)
	if tc.SelfPaced, err = selfPacing(cfg, data, sampler.Batches(), h, opts.Tuning); err != nil {
		return Outcome{}, err
	}
	tc.Dir, tc.Stepped, tc.Validated, tc.Diagnosed, tc.Weighed = opts.Dir, opts.Stepped, opts.Validated, opts.Diagnosed, opts.Weighed
	if opts.Dir != "" {
		if err := recordSamples(&tc, cfg, data, sampler.Batches()); err != nil {
			return Outcome{}, err
		}
	}
	t, err := train.New(tc)
	if err != nil {
		return Outcome{}, err
	}
	if opts.Dir != "" {
		t.SaveHead = func(best bool) error {
			name := folder.LastHeadFile
			if best {
				name = folder.BestHeadFile
			}
			if !best { // it goes with the checkpoint
				if err := writeSamples(opts.Dir, tc.Samples, data); err != nil {
					return err
				}
			}
			if err := writeCorrections(opts.Dir, tc.Corrector, data); err != nil {
				return err
			}
			return opts.Tuning.Save(opts.Dir, name, h, headMeta(cfg, data, opts.Winnow))
		}
	}
	if opts.Resume {
		if _, err := t.Resume(); err != nil {
			return Outcome{}, err
		}
	}
	if opts.Begun != nil {
		plan := Plan{Config: cfg, Steps: tc.Steps, Epoch: sampler.Batches(), Resumed: t.Done(), Labelled: data.Train.Len() - data.Unlabelled, Validates: tc.Validate != nil}
		if opts.Tuning != nil {
			plan.Rests = cfg.Finetune.Start.In(plan.Epoch)
		}
		if err := opts.Begun(plan); err != nil {
			return Outcome{}, err
		}
	}
	result, err := t.Run(ctx)
	if err != nil {
		return Outcome{Result: result, Config: cfg, Head: h}, err
	}
	if !opts.Last {
		t.UseBest()
	}
	if tc.SelfPaced != nil && opts.Dir != "" {
		if err := folder.WriteWeights(opts.Dir, finalWeights(data, tc.SelfPaced.Weights)); err != nil {
			return Outcome{}, err
		}
	}
	if opts.Tuning != nil && opts.Dir != "" && !opts.Tuning.Matches(opts.Dir, folder.BestHeadFile) { // an earlier run was cut off between the two
		if err := t.SaveHead(true); err != nil {
			return Outcome{}, err
		}
	}
	out := Outcome{Result: result, Config: cfg, Head: h, Filter: cfg.Filter.In(sampler.Batches())}
	if tc.Corrector != nil {
		out.Corrections = len(tc.Corrector.Corrections())
	}
	return out, nil
}

// willTrain says what would keep a fine-tuning from going on, as far as that is known before its encoder is there.
func willTrain(cfg config.Run, tc train.Config, epoch int, opts Options) error {
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
func openLearner(ctx context.Context, tc *train.Config, h *head.Head, cfg config.Run, data Data, t *tuning.Tuning) (closingEncoder, error) {
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
func visited(e closingEncoder, cfg config.Run, data Data, clock *train.Clock) train.Encoder {
	if data.Views() == 1 || cfg.IsSelective() {
		return e
	}
	return &train.Viewed{Encoder: e, Rows: data.Train.Len(), Views: data.Views(), Source: clock.Source(cfg.Seed, "stored view")}
}

// openEncoder is what a run trains: a head on stored features, or a head on a live backbone.
func openEncoder(ctx context.Context, h *head.Head, cfg config.Run, data Data, sampler *train.Sampler, clock *train.Clock, t *tuning.Tuning) (closingEncoder, error) {
	if t == nil {
		return head.NewEncoder(h, data.Stored, sampler.Size())
	}
	rests := cfg.Finetune.Start.In(sampler.Batches())
	return t.Encoder(ctx, h, data.Train, sampler.Size(), func() bool { return clock.Step() <= rests }, clock.Source(cfg.Seed, "augment"))
}
