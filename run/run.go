// Package run trains: it builds the head, the backbone where that is trained too, sampler, losses, filter and solvers that a
// configuration names, hands them to package train, and leaves a run's folder. [Train] does so from the files that the
// configuration names, [Run] on data in memory; a [Session] is for callers that want the data and the last state, too. True
// labels are in nothing that a training is given.
package run

import (
	"context"
	"errors"
	"fmt"

	"winnow/head"
	"winnow/internal/lock"
	"winnow/run/comparison"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/tuning"
	"winnow/train"
)

// Run trains a head alone, on stored features, as a configuration says. A backbone is trained by [Train] or a [Session].
func Run(ctx context.Context, cfg config.Run, data Data, opts Options) (Outcome, error) {
	if opts.Dir != "" {
		held, err := lock.Folder(opts.Dir)
		if err != nil {
			return Outcome{}, fmt.Errorf("train: %w", err)
		}
		defer held.Close()
	}
	return RunOn(ctx, tuning.Stored{}, cfg, data, opts)
}

// RunOn trains a head on a backbone, which the caller closes. Its errors say what a person can do about them.
func RunOn(ctx context.Context, backbone tuning.Backbone, cfg config.Run, data Data, opts Options) (Outcome, error) {
	r := &training{backbone: backbone, cfg: cfg, data: data, opts: opts}
	out, err := r.run(ctx)
	if err != nil {
		err = explain(err, data, opts.Dir, r.tuned())
	}
	return out, err
}

// training is a run on its way: it is prepared and built, its loop runs, and it is finished.
type training struct {
	backbone tuning.Backbone
	cfg      config.Run
	data     Data
	opts     Options

	head    *head.Head
	sampler *train.Sampler
	epoch   int // steps
	clock   *train.Clock
	encoder tuning.Encoder
	config  train.Config
	trainer *train.Trainer
	timing  bool // a batch is timed, and the network does not rest

	rates   *folder.RateTest // where learning rates were to be found, and were not before
	resting func() bool      // in a test of learning rates: whether the network rests; else nil
}

func (r *training) run(ctx context.Context) (Outcome, error) {
	if err := r.prepare(ctx); err != nil {
		return Outcome{}, err
	}
	if err := r.build(ctx); err != nil {
		return Outcome{}, err
	}
	defer r.encoder.Close()
	if err := r.begin(ctx); err != nil {
		return Outcome{}, err
	}
	result, err := r.trainer.Run(ctx)
	if err != nil {
		return Outcome{Result: result, Config: r.cfg, Head: r.head}, err
	}
	return r.finish(result)
}

// tuned reports whether the backbone is trained too.
func (r *training) tuned() bool { return len(r.backbone.Weights()) > 0 }

// prepare completes the configuration with what the data decide, and makes the head and the sampler.
func (r *training) prepare(ctx context.Context) (err error) {
	if err := r.cfg.Validate(); err != nil {
		return err
	}
	r.cfg.ResolveLoss(false, false, 0) // a session knows better, before this
	r.cfg.ResolveUsualLR(false)
	if _, err := Screen(ctx, &r.cfg, &r.data, nil, nil); err != nil {
		return err
	}
	if _, err := ResolveRate(ctx, &r.cfg, r.data); err != nil {
		return err
	}
	r.cfg.Head.In = r.data.Train.Dim()
	r.cfg.Head.Out = min(r.cfg.Head.Out, r.cfg.Head.In) // more dimensions than the features have would stay empty
	if r.head, err = head.New(ctx, r.cfg.Head, r.data.Train.X, train.Rand(r.cfg.Seed, "head", 0)); err != nil {
		return err
	}
	if !r.varies() {
		r.cfg.Sampler.Views = 1
	}
	if r.sampler, err = r.cfg.Sampler.New(r.data.Train.Labels, r.cfg.Seed); err != nil {
		return err
	}
	r.epoch, r.clock = r.sampler.Batches(), new(train.Clock)
	r.cfg.ResolveLength(r.epoch * r.sampler.Images())
	return nil
}

// varies reports whether an image can be seen in several views: augmented, or stored.
func (r *training) varies() bool {
	if r.tuned() {
		return r.cfg.Finetune.Augment != config.NoAugmentation
	}
	return r.data.Views() > 1
}

// build builds everything that the trainer is given. Where it fails nothing is left open.
func (r *training) build(ctx context.Context) (err error) {
	if err := r.buildConfig(); err != nil {
		return err
	}
	if r.config.Validate, err = r.validator(); err != nil {
		return err
	}
	if r.tuned() { // the encoder may take minutes to be ready
		if err := r.willTrain(); err != nil {
			return err
		}
	}
	if r.encoder, err = r.openEncoder(ctx); err != nil {
		return err
	}
	if err := r.buildTrainer(ctx); err != nil {
		return errors.Join(err, r.encoder.Close())
	}
	return nil
}

// buildTrainer gives the encoder a trainer, with what it keeps and who watches.
func (r *training) buildTrainer(ctx context.Context) (err error) {
	if err := r.findRates(ctx); err != nil {
		return err
	}
	if r.config.Groups == nil {
		if r.config.Groups, err = r.buildGroups(r.encoder); err != nil {
			return err
		}
	}
	r.config.Encoder = r.visited()
	if r.config.SelfPaced, err = r.selfPacing(); err != nil {
		return err
	}
	o := r.opts
	r.config.Dir, r.config.Stepped, r.config.Validated, r.config.Diagnosed, r.config.Weighed, r.config.Written = o.Dir, o.Stepped, o.Validated, o.Diagnosed, o.Weighed, o.Written
	if o.Dir != "" {
		if err := r.recordSamples(); err != nil {
			return err
		}
	}
	if err := r.fillBank(ctx); err != nil {
		return err
	}
	r.config.Refit = r.refit()
	if r.trainer, err = train.New(r.config); err != nil {
		return err
	}
	if o.Dir != "" {
		r.trainer.SaveHead = r.save
	}
	return nil
}

// begin goes on where the run was stopped, if it is to be resumed, and tells what will be done.
func (r *training) begin(ctx context.Context) (err error) {
	if r.opts.Resume {
		if _, err := r.trainer.Resume(); err != nil {
			return err
		}
	}
	if r.opts.Begun == nil {
		return nil
	}
	plan := Plan{
		Config: r.cfg, Steps: r.config.Steps, Epoch: r.epoch, Resumed: r.trainer.Done(),
		Rates:    r.rates,
		Labelled: r.data.Train.Len() - r.data.Unlabelled, Validates: r.config.Validate != nil, Sum: r.sum(),
	}
	if r.tuned() {
		plan.Rests = r.cfg.Finetune.Start.In(r.epoch)
	}
	if f := r.config.Refit; f != nil && f.After < r.config.Steps {
		plan.Refits = f.After
	}
	if r.tuned() && !r.cfg.IsSelective() { // a step of these fills queues
		if plan.Duration, err = r.duration(plan); err != nil {
			return err
		}
	}
	if plan.Validates && r.cfg.Validation.Measure == config.MeasureP1 {
		if plan.Untrained, err = comparison.MeasureUntrained(ctx, r.head.Config(), r.data.Train, r.data.Validation); err != nil {
			return err
		}
	}
	return r.opts.Begun(plan)
}

// save writes the state that validation chose, or the last one, which goes with the checkpoint.
func (r *training) save(best bool) error {
	name := folder.BestHeadFile
	if !best {
		name = folder.LastHeadFile
		if r.opts.Saving != nil {
			if err := r.opts.Saving(); err != nil {
				return err
			}
		}
		if err := r.writeSamples(); err != nil {
			return err
		}
	}
	if err := r.writeCorrections(); err != nil {
		return err
	}
	return r.backbone.Save(r.opts.Dir, name, r.head, r.headMeta())
}

// finish takes the state that validation chose and completes the folder.
func (r *training) finish(result train.Result) (Outcome, error) {
	if r.opts.Ended != nil {
		if err := r.opts.Ended(r.head); err != nil {
			return Outcome{}, err
		}
	}
	if !r.opts.Last {
		r.trainer.UseBest()
	}
	if dir := r.opts.Dir; dir != "" {
		if r.config.SelfPaced != nil {
			if err := folder.WriteWeights(dir, finalWeights(r.data, r.config.SelfPaced.Weights)); err != nil {
				return Outcome{}, err
			}
		}
		if !r.backbone.Matches(dir, folder.BestHeadFile) { // an earlier run was cut off between the two
			if err := r.save(true); err != nil {
				return Outcome{}, err
			}
		}
	}
	result.OfAverage = result.OfAverage && !r.opts.Last
	out := Outcome{Result: result, Config: r.cfg, Head: r.head, Filter: r.cfg.Filter.In(r.epoch)}
	if r.config.Corrector != nil {
		out.Corrections = len(r.config.Corrector.Corrections())
	}
	return out, nil
}

// willTrain returns an error where a fine-tuning could not go on, as far as that is known before its encoder is there.
func (r *training) willTrain() error {
	if start := r.cfg.Finetune.Start.In(r.epoch); start >= r.config.Steps {
		return fmt.Errorf("train: finetune.start: the backbone would rest for %d steps and the run has %d: it would never be trained", start, r.config.Steps)
	}
	if r.opts.Resume && r.opts.Dir != "" && !r.cfg.NeedsLR() {
		return train.SameRun(r.opts.Dir, r.config.Identity)
	}
	return nil
}

// openEncoder makes what is trained, with its loss and who steps it where the method has its own.
func (r *training) openEncoder(ctx context.Context) (encoder tuning.Encoder, err error) {
	switch {
	case r.cfg.IsSelective():
		return r.openSelective(ctx)
	case r.cfg.HasPeers():
		return r.openPeers(ctx)
	}
	return r.backbone.Encoder(ctx, r.head, r.input())
}

// input is what an encoder of the run is asked for.
func (r *training) input() tuning.Input {
	return tuning.Input{
		Train: r.data.Train, Stored: r.data.Stored, Batch: r.sampler.Size(),
		Resting: r.networkRests, Source: r.clock.SourceAhead(r.cfg.Seed, "augment"),
	}
}

// networkRests reports whether the network rests in the running step.
func (r *training) networkRests() bool {
	if r.resting != nil {
		return r.resting()
	}
	return !r.timing && r.clock.Step() <= r.cfg.Finetune.Start.In(r.epoch)
}

// visited returns the encoder of all stored views as one of the training rows, which draws a view at each visit. The
// methods of package selective draw theirs themselves.
func (r *training) visited() train.Encoder {
	if r.data.Views() == 1 || r.cfg.IsSelective() {
		return r.encoder
	}
	return &viewed{Encoder: r.encoder, Rows: r.data.Train.Len(), Views: r.data.Views(), Source: r.clock.Source(r.cfg.Seed, "stored view"), Apart: r.cfg.Sampler.Views > 1}
}
