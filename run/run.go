// Package run trains embeddings. [Resolve] makes a [Training] from a configuration and data: it builds the head, the
// sampler, the losses, the filter, the solvers and, for fine-tuning, the backbone for package train. [Training.Run]
// runs it and writes the folder of the run. [Train] does both. A training never sees true labels.
package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"winnow/datasets"
	"winnow/features"
	"winnow/head"
	"winnow/internal/interrupt"
	"winnow/internal/lookup"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/tuning"
	"winnow/train"
)

// Train resolves a training, runs it and closes it.
func Train(ctx context.Context, cfg config.Run, in Input, o Options, observers ...train.Observer) (Outcome, error) {
	r, err := Resolve(ctx, cfg, in, o)
	if err != nil {
		return Outcome{}, err
	}
	out, err := r.Run(ctx, observers...)
	return out, errors.Join(err, r.Close())
}

// Training is a resolved training: its plan, its data, and the parts with which it can be run once.
type Training struct {
	Plan
	Data  Data
	Tests int // labelled images of the test split, or queries

	options  Options
	backbone tuning.Backbone
	owns     bool                     // Close also closes the backbone
	kept     bool                     // the training writes all files of a run's folder
	checked  map[int]datasets.Checked // decisions of people by position in the manifest
	blind    bool                     // the images held out are too few to choose the state
	free     func() error             // releases memory-mapped vectors of Data; nil: they are in memory
	folder   io.Closer                // the lock of the folder; nil: not locked
	stops    bool                     // the folder holds a stopped training, and the option Resume was not given
	start    time.Time

	asked    sizes             // the configured sizes, written to config.yaml; the data may reduce them
	screened []folder.Screened // labels that screening removed
	earlier  *folder.RateTest  // result of an earlier part of the run

	head    *head.Head
	sampler *train.Sampler
	clock   *train.Clock
	encoder tuning.Encoder // nil before it is built, and after the run
	loop    train.Config
	trainer *train.Trainer
	resting func() bool // reports whether the backbone is frozen; set only during a test of learning rates
}

// sizes holds settings that the data limit.
type sizes struct{ in, out, views int }

// Run trains; call it once. With a manifest and a folder, it writes all files of a run, including result.json.
func (r *Training) Run(ctx context.Context, observers ...train.Observer) (Outcome, error) {
	out, err := r.runTraining(ctx, observers)
	return out, r.explainError(err)
}

func (r *Training) runTraining(ctx context.Context, observers []train.Observer) (out Outcome, err error) {
	if r.kept {
		if err = r.beginFolder(); err != nil {
			return out, err
		}
	}
	r.trainer.Observe = train.Together(observers...)
	release := interrupt.Keep() // on a signal, wait until the steps since the last checkpoint are saved
	defer release()
	result, err := r.trainer.Run(ctx)
	if err == nil {
		out, err = r.finishFolder(result)
	} else {
		out = Outcome{Result: result, Config: r.Config, Head: r.head}
	}
	err = errors.Join(err, r.closeEncoder())
	if err != nil || !r.kept {
		return out, err
	}
	if out.Summary, err = r.judgeResult(ctx, out); err != nil {
		return out, err
	}
	out.Summary.Seconds = time.Since(r.start).Seconds()
	return out, folder.Finish(r.options.Dir, out.Summary)
}

// Close frees the memory of the networks and releases the folder.
func (r *Training) Close() error {
	err := r.closeEncoder()
	if r.owns {
		err = errors.Join(err, r.backbone.Close())
	}
	if r.free != nil {
		err = errors.Join(err, r.free())
		r.free = nil
	}
	if r.folder != nil {
		err = errors.Join(err, r.folder.Close())
	}
	return err
}

func (r *Training) closeEncoder() (err error) {
	if r.encoder != nil {
		err, r.encoder = r.encoder.Close(), nil
	}
	return err
}

// Now returns a set of images with the backbone's current features, which are the stored features if it is not trained.
func (r *Training) Now(ctx context.Context, set features.Set) (features.Set, error) {
	return r.backbone.Now(ctx, set)
}

// isTuned reports whether the backbone is trained.
func (r *Training) isTuned() bool { return len(r.backbone.Weights()) > 0 }

// buildParts builds the configuration, the encoder and the trainer.
func (r *Training) buildParts(ctx context.Context) (err error) {
	if err := r.buildConfig(); err != nil {
		return err
	}
	if r.loop.Validate, err = r.newValidator(); err != nil {
		return err
	}
	if r.isTuned() { // check now, because opening the encoder may take minutes
		if err := r.willTrain(); err != nil {
			return err
		}
	}
	if r.encoder, err = r.openEncoder(ctx); err != nil {
		return err
	}
	return r.buildTrainer(ctx)
}

// buildTrainer finds the learning rates, completes the configuration and makes the trainer.
func (r *Training) buildTrainer(ctx context.Context) (err error) {
	if err := r.findRates(ctx); err != nil {
		return err
	}
	if r.loop.Groups == nil {
		if r.loop.Groups, err = r.buildGroups(r.encoder); err != nil {
			return err
		}
	}
	r.loop.Encoder = r.newVisitEncoder()
	if r.loop.SelfPaced, err = r.selfPacing(); err != nil {
		return err
	}
	r.loop.Dir = r.options.Dir
	if err := r.fillBank(ctx); err != nil {
		return err
	}
	r.loop.Refit = r.newRefit()
	if r.trainer, err = train.New(r.loop); err != nil {
		return err
	}
	if r.options.Dir != "" {
		r.trainer.SaveHead = r.saveState
	}
	return nil
}

// resumeAndNote resumes a stopped run, completes the plan and notes it.
func (r *Training) resumeAndNote(ctx context.Context) (err error) {
	if r.options.Resume {
		resumed, err := r.trainer.Resume()
		_, other := errors.AsType[*train.OtherRunError](err)
		if r.stops && (other || err == nil && !resumed && folder.Sum(r.options.Dir) != r.hashIdentity()) {
			return folder.Taken(r.options.Dir) // another run, and the option Resume was not given
		}
		if err != nil {
			return err
		}
		r.options.Overwrite = r.options.Overwrite || r.stops && !resumed // the training stopped before any checkpoint
	}
	r.Steps, r.Resumed, r.Validates, r.Sum = r.loop.Steps, r.trainer.Done(), r.loop.Validate != nil, r.hashIdentity()
	r.Images, r.Classes, r.Labelled = r.Data.Train.Len(), len(r.Data.Classes), r.Data.Train.Len()-r.Data.Unlabelled
	if r.isTuned() {
		r.Rests = r.Config.Finetune.Start.In(r.Epoch)
	}
	if f := r.loop.Refit; f != nil && f.After < r.Steps {
		r.Refits = f.After
	}
	if r.Validates && r.Config.Validation.Measure == config.MeasureP1 {
		white, err := r.Data.trainWhitening(ctx, r.Config.Head.Out, r.Config.Head.Bias)
		if err != nil {
			return err
		}
		if r.Untrained, err = folder.MeasureUntrained(ctx, white, r.Data.Validation); err != nil {
			return err
		}
	}
	if r.Rates != nil {
		r.options.Note("%s", r.Rates)
	}
	r.tellPlan()
	return nil
}

// beginFolder deletes the run to overwrite, and writes config.yaml and run.json. A resumed run keeps these files.
func (r *Training) beginFolder() error {
	dir := r.options.Dir
	if r.options.Overwrite {
		if err := folder.Clear(dir); err != nil {
			return err
		}
	}
	if r.Resumed > 0 && folder.Begun(dir) {
		return folder.GoOn(dir)
	}
	facts, err := r.completeFacts()
	if err != nil {
		return err
	}
	if r.Rates != nil {
		if err := folder.WriteRange(dir, r.Rates.Curve); err != nil {
			return err
		}
	}
	if r.Screening != nil {
		if facts.ScreenedSHA256, err = folder.WriteScreening(dir, r.screened); err != nil {
			return err
		}
	}
	if c := r.options.Checks; c != nil {
		if err := folder.WriteDecisions(dir, c); err != nil {
			return err
		}
	}
	cfg := r.Config // config.yaml gets the configured sizes, not those limited by the data
	cfg.Head.In, cfg.Head.Out, cfg.Sampler.Views = r.asked.in, r.asked.out, r.asked.views
	return folder.Begin(dir, cfg, r.Sum, facts)
}

// completeFacts returns the contents of run.json: the caller's facts, and the facts about configuration and data.
func (r *Training) completeFacts() (folder.Facts, error) {
	f, data := r.options.About, r.Data
	f.Winnow, f.Go, f.Started = r.options.Host.Winnow, runtime.Version(), r.start.UTC()
	f.NoiseRate, f.RateTest, f.Screening = r.Noise, cmp.Or(r.Rates, r.earlier), r.Screening
	f.Untrained = r.Untrained
	f.Seed, f.Manifest = r.Config.Seed, r.Config.Data.Manifest
	f.ImagesSHA256, f.FeaturesSHA256, f.FeaturesKey = data.Sum, data.StoreSum, data.Key
	f.Places = folder.PlacesOf(r.options.Dir, r.Config.Data, data.ModelFile)
	f.Images, f.Unlabelled, f.Validation = data.Train.Len(), data.Unlabelled, data.Validation.Len()
	f.Classes = data.Classes
	f.LeftOut, f.StepsPerEpoch, f.Steps = append([]lookup.LeftOut{}, data.LeftOut...), r.Epoch, r.Steps
	if share := r.backbone.Share(); share != nil {
		f.Backbone, f.TunedWeights = share.From, r.backbone.Weights()
	}
	var err error
	if f.ManifestSHA256, err = folder.FileSum(f.Manifest); err != nil {
		return f, fmt.Errorf("train: %w", err)
	}
	return f, nil
}

// saveState writes the weights of head and backbone: the best state by validation, or the last state, which belongs to
// the checkpoint.
func (r *Training) saveState(best bool) error {
	name := folder.BestHeadFile
	if !best {
		name = folder.LastHeadFile
		if err := r.passToObservers(Saving{}); err != nil {
			return err
		}
	}
	return r.backbone.Save(r.options.Dir, name, r.head, r.headMeta())
}

// passToObservers sends an event to the observers.
func (r *Training) passToObservers(fact any) error {
	if see := r.trainer.Observe; see != nil {
		return see(fact)
	}
	return nil
}

// finishFolder restores the best state by validation and completes the folder.
func (r *Training) finishFolder(result train.Result) (Outcome, error) {
	if err := r.passToObservers(Ended{r.head}); err != nil {
		return Outcome{}, err
	}
	if !r.options.Last {
		r.trainer.UseBest()
	}
	if dir := r.options.Dir; dir != "" {
		if r.loop.SelfPaced != nil {
			if err := folder.WriteWeights(dir, finalWeights(r.Data, r.loop.SelfPaced.Weights)); err != nil {
				return Outcome{}, err
			}
		}
		if !r.backbone.Matches(dir, folder.BestHeadFile) { // an earlier part was killed between writing the two files
			if err := r.saveState(true); err != nil {
				return Outcome{}, err
			}
		}
	}
	return Outcome{Result: result, Config: r.Config, Head: r.head, Filter: r.Config.Filter.In(r.Epoch)}, nil
}

// willTrain returns an error for a fine-tuning that cannot work. It makes only the checks that need no encoder.
func (r *Training) willTrain() error {
	if start := r.Config.Finetune.Start.In(r.Epoch); start >= r.loop.Steps {
		return fmt.Errorf("train: finetune.start: the backbone is frozen for the first %d steps, and the run has only "+
			"%d: lower finetune.start or train longer", start, r.loop.Steps)
	}
	if r.options.Resume && r.options.Dir != "" && !r.Config.NeedsLR() {
		return train.SameRun(r.options.Dir, r.loop.Identity)
	}
	return nil
}

// openEncoder makes the encoder. For methods of packages peers and selective it also sets their losses and solvers.
func (r *Training) openEncoder(ctx context.Context) (encoder tuning.Encoder, err error) {
	switch {
	case r.Config.IsSelective():
		return r.openSelective(ctx)
	case r.Config.HasPeers():
		return r.openPeers(ctx)
	}
	return r.backbone.Encoder(ctx, r.head, r.newEncoderInput())
}

// newEncoderInput returns the input for making an encoder of the run.
func (r *Training) newEncoderInput() tuning.Input {
	return tuning.Input{
		Train: r.Data.Train, Stored: r.Data.Stored, Batch: r.sampler.Size(),
		Resting: r.networkRests, Source: r.clock.SourceAhead(r.Config.Seed, "augment"),
	}
}

// networkRests reports whether the network is frozen in the current step.
func (r *Training) networkRests() bool {
	if r.resting != nil {
		return r.resting()
	}
	return r.clock.Step() <= r.Config.Finetune.Start.In(r.Epoch)
}

// newVisitEncoder returns an encoder that draws one stored view of a training row at each visit. The methods of package
// selective draw views themselves.
func (r *Training) newVisitEncoder() train.Encoder {
	if r.Data.Views() == 1 || r.Config.IsSelective() {
		return r.encoder
	}
	return &viewed{
		Encoder: r.encoder, Rows: r.Data.Train.Len(), Views: r.Data.Views(),
		Source: r.clock.Source(r.Config.Seed, "stored view"), Apart: r.Config.Sampler.Views > 1,
	}
}
