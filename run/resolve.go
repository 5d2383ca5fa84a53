package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/internal/lock"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/run/tuning"
	"winnow/train"
)

// Resolve prepares a training: it takes the data from in or reads the files that the configuration names, computes
// missing features, screens the labels, estimates rates, chooses the settings left open, and builds the parts. The
// only files that it writes are features. Its errors carry hints for the user. The caller closes the training.
func Resolve(ctx context.Context, cfg config.Run, in Input, o Options) (*Training, error) {
	if o.Note == nil {
		o.Note = func(string, ...any) {}
	}
	if o.Watch == nil {
		o.Watch = ignoreProgress
	}
	r := &Training{Plan: Plan{Config: cfg}, options: o, start: time.Now(), backbone: in.Backbone}
	r.kept = in.Data == nil && o.Dir != ""
	if r.owns = in.Backbone == nil; r.owns {
		r.backbone = tuning.Stored{}
	}
	if err := r.resolveInput(ctx, in); err != nil {
		return nil, errors.Join(r.explainError(err), r.Close())
	}
	return r, nil
}

func (r *Training) resolveInput(ctx context.Context, in Input) error {
	if err := r.Config.Validate(); err != nil {
		return err
	}
	if err := r.readInput(ctx, in); err != nil {
		return err
	}
	r.Data.white = &whitenings{}
	for _, step := range []func(context.Context) error{
		r.chooseByData, r.screenLabels, r.findNoise, r.earlierRates, r.prepareHead, r.buildParts, r.resumeAndNote,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// readInput sets Data and the backbone, from in or from the files that the configuration names.
func (r *Training) readInput(ctx context.Context, in Input) (err error) {
	if in.Data != nil {
		return r.takeData(in)
	}
	d := in.Manifest
	if d == nil {
		if d, err = datasets.ReadFile(r.Config.Data.Manifest, datasets.ReadOptions{
			Root: location.At(r.Config.Data.Root), Note: r.options.Note}); err != nil {
			return err
		}
		r.Reading = d.Reading
	}
	if d, err = r.replaceDecided(d); err != nil {
		return err
	}
	whole := d
	r.Tests = len(whole.Labelled(datasets.Test)) + len(whole.Labelled(datasets.Query))
	v := &r.Config.Validation
	auto := v.HoldOut == config.AutoHoldOut
	if auto {
		if v.HoldOut = v.Share(); r.Tests > 0 && !r.Config.Finetune.On() {
			v.HoldOut = 0
		}
	}
	d, held := whole.WithValidation(v.Share(), r.Config.Seed, r.checked)
	if auto && v.HoldOut > 0 && held.Images < datasets.LeastChoosing && len(whole.Select(datasets.Validation)) == 0 {
		v.HoldOut = config.SmallHoldOut
		d, held = whole.WithValidation(v.Share(), r.Config.Seed, r.checked)
		if r.Tests > 0 && held.Images < datasets.LeastChoosing { // the test images measure
			v.HoldOut, d, held = 0, whole, datasets.Held{}
		}
	}
	if held.Images > 0 {
		goal := "choose the best checkpoint"
		if r.blind = held.Images < datasets.LeastChoosing; r.blind {
			goal = "measure whether training helped; too few to choose the best checkpoint, so the last is kept"
		}
		r.options.Note("no validation split: %s, are held out to %s (%s trains on all)", held, goal,
			config.Key("validation.hold_out=0"))
	}
	if err := checkLearnable(d); err != nil {
		return err
	}
	read := r.readHead
	if r.Config.Finetune.On() {
		read = r.readNetwork
	}
	err = read(ctx, d)
	r.Data.trustRows(r.checked)
	r.options.About.Features = r.chooseFeaturesFolder()
	return err
}

// takeData uses the data of the caller, locks the run's folder if there is one, and opens the network to fine-tune.
func (r *Training) takeData(in Input) (err error) {
	r.Data = *in.Data
	if r.options.Dir != "" {
		if r.folder, err = lock.Folder(r.options.Dir); err != nil {
			return fmt.Errorf("train: %w", err)
		}
	}
	if r.owns && r.Config.Finetune.On() {
		_, err = r.openNetwork(r.Data.Paths)
	}
	return err
}

// readHead reads the data for training a head on stored features, and makes the run's folder. If the configuration
// names no features, readHead computes them from the images in that folder.
func (r *Training) readHead(ctx context.Context, d *datasets.Dataset) (err error) {
	if r.Config.Data.Features == "" {
		if err := r.lookAtImages(ctx, d); err != nil {
			return err
		}
	}
	if r.Data, r.free, err = loadMapped(ctx, d, r.chooseFeaturesFolder()); err != nil {
		return err
	}
	if r.options.Host.Runtime != nil { // without it, Go multiplies the matrices
		rt, err := r.options.Host.Runtime()
		if err != nil {
			return err
		}
		r.options.About.ORT = rt.Version()
	}
	return r.lockRunFolder()
}

// lookAtImages makes the run's folder, and computes the features of the images in it.
func (r *Training) lookAtImages(ctx context.Context, d *datasets.Dataset) error {
	host := r.options.Host.Complete()
	host.Note = r.options.Note
	e, err := ExtractionOf(ctx, &r.Config, d, host, r.chooseFeaturesFolder())
	if err != nil {
		return err
	}
	if err := r.lockRunFolder(); err != nil {
		return err
	}
	return r.makeFeatures(ctx, e)
}

// readNetwork reads the data for fine-tuning: like readHead, but it also opens the network. It makes all checks before
// it computes features.
func (r *Training) readNetwork(ctx context.Context, d *datasets.Dataset) (err error) {
	if err := chooseBackbone(&r.Config.Data, d, r.options.Note); err != nil {
		return err
	}
	network, err := r.openNetwork(d.Paths())
	if err != nil {
		return err
	}
	if err := r.lockRunFolder(); err != nil {
		return err
	}
	if r.Config.Data.Features == "" {
		e := network.Extraction(r.chooseFeaturesFolder())
		host := r.options.Host.Complete()
		host.Note = r.options.Note
		if err := e.Fit(ctx, host, func() (*datasets.Dataset, error) { return d, nil }); err != nil {
			return err
		}
		if err := r.makeFeatures(ctx, e); err != nil {
			return err
		}
	}
	if r.Data, err = Load(ctx, d, r.chooseFeaturesFolder(), false); err == nil && len(r.Data.Key.Views) > 1 {
		r.options.Note("only the centre of the %d stored views of each image is used: fine-tuning reads the images "+
			"themselves and augments them (%s)", len(r.Data.Key.Views), config.Key("finetune.augment"))
	}
	return err
}

// openNetwork opens the network to fine-tune, and stores the settings that it chose in the configuration.
func (r *Training) openNetwork(paths []string) (*tuning.Live, error) {
	host := r.options.Host.Complete()
	network, err := tuning.Open(r.Config, paths, tuning.Config{Note: host.Note, Watch: r.options.Watch})
	if err != nil {
		return nil, err
	}
	r.backbone, r.Config.Finetune = network, network.Settings
	if network.Drawn && r.Config.BackboneSolver.LR.Choose == train.Usual {
		r.options.Note("the network is untrained: its learning rate is higher than that of a pretrained network (%s "+
			"sets another)", config.Key("backbone_solver.lr"))
	}
	rt, err := host.Runtime()
	if err != nil {
		return nil, err
	}
	r.options.About.ORT = rt.Version()
	network.Use(rt)
	return network, nil
}

// ExtractionOf returns the extraction of the features that a training without named features starts from: of all images
// of a manifest, into the folder dir. If the configuration names no backbone, ExtractionOf chooses one and stores its
// name in the configuration.
func ExtractionOf(ctx context.Context, cfg *config.Run, d *datasets.Dataset, h extraction.Host,
	dir string) (*extraction.Extraction, error) {
	h = h.Complete()
	all := func() (*datasets.Dataset, error) { return d, nil }
	if cfg.Finetune.On() {
		if err := chooseBackbone(&cfg.Data, d, h.Note); err != nil {
			return nil, err
		}
		live, err := tuning.Open(*cfg, d.Paths(), tuning.Config{Note: h.Note})
		if err != nil {
			return nil, err
		}
		e := live.Extraction(dir)
		return e, errors.Join(e.Fit(ctx, h, all), live.Close())
	}
	root, err := imageroot.Open(ctx, imageroot.Resolve(location.At(cfg.Data.Root), location.At(cfg.Data.Manifest)))
	if err != nil {
		return nil, hint.With(err, "features are computed from the images: name their folder with %s, or a feature "+
			"store of winnow extract with %s", config.Key("data.root"), config.Key("data.features"))
	}
	if err := d.CheckList(ctx, root); err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Data.Manifest, err)
	}
	if err := chooseBackbone(&cfg.Data, d, h.Note); err != nil {
		return nil, err
	}
	e, err := extraction.Look(cfg.Data.Model, root, d.Paths(), h)
	if err == nil {
		e.Out = dir
		err = e.Fit(ctx, h, all)
	}
	return e, err
}

// ignoreProgress shows no progress.
func ignoreProgress(string) (func(done, total int), func()) { return func(int, int) {}, func() {} }

// chooseBackbone chooses a backbone for the images of a manifest if the configuration names neither one nor features.
func chooseBackbone(from *config.Data, d *datasets.Dataset, note func(string, ...any)) error {
	if from.Model != "" || from.Features != "" {
		return nil
	}
	name, why, err := extraction.Choose(d.Classes)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	from.Model = name
	note("the backbone is %s, %s (%s names another)", name, why, config.Key("data.model"))
	return nil
}

// chooseFeaturesFolder returns the folder of the feature store: the configured folder, or a folder inside the run's.
func (r *Training) chooseFeaturesFolder() string {
	return cmp.Or(r.Config.Data.Features, filepath.Join(r.options.Dir, folder.OwnFeatures))
}

// lockRunFolder makes the run's folder and locks it, once. An unfinished run in the folder makes Resume true; it
// continues only if its settings are the same.
func (r *Training) lockRunFolder() (err error) {
	if r.folder == nil && r.kept {
		r.folder, r.stops, err = folder.Prepare(r.options.Dir, r.options.Resume, r.options.Overwrite)
		r.options.Resume = r.options.Resume || r.stops
	}
	return err
}

// makeFeatures computes the features that the run starts from, unless the folder has them. It replaces features of
// another backbone or of other images only with the option Overwrite.
func (r *Training) makeFeatures(ctx context.Context, e *extraction.Extraction) error {
	if !r.kept {
		return errors.New("train: neither stored features nor a folder to compute them in: name one of the two")
	}
	return MakeFeatures(ctx, e, r.options.Overwrite, r.options.Host, r.options.Note)
}

// MakeFeatures computes the features that trainings start from, unless the folder of e has them. It replaces features
// of another backbone or of other images only if overwrite is true.
func MakeFeatures(ctx context.Context, e *extraction.Extraction, overwrite bool, h extraction.Host,
	note func(string, ...any)) error {
	if from, err := e.CopyStore(h); err != nil {
		return err
	} else if from != "" {
		note("using the features in %s, which has those of these images", from)
	} else if old, err := features.Open(e.Out); err != nil || old.Key.Differs(e.Key()) != "" {
		e.Overwrite = overwrite
		note("making the features of the backbone before training, into %s", e.Out)
	}
	_, err := e.Store(ctx, h)
	return err
}

// chooseByData chooses by the data the loss, the learning rate and the length, if the configuration leaves them open.
func (r *Training) chooseByData(context.Context) error {
	r.tellData()
	live, opened := r.backbone.(*tuning.Live)
	drawn, labelled := opened && live.Drawn, r.Data.Train.Len()-r.Data.Unlabelled
	if r.Config.ResolveLoss(drawn, drawn && r.Data.isClosedSet(), labelled/max(len(r.Data.Classes), 1)) {
		r.options.Note("the loss is cross entropy: the network starts from random weights, and validation has the "+
			"classes of training (%s chooses another)", config.Key("losses"))
	}
	r.Config.ResolveUsualLR(drawn)
	if opened && (r.blind || r.Data.Validation.Len() == 0) && r.Config.ResolveBlindLength(drawn, labelled) {
		r.options.Note("no images choose the best checkpoint, so training takes %s: a pretrained network may overfit "+
			"after that (%s sets another length)", r.Config.Length, config.Key("length"))
	}
	return r.Config.Validate()
}

// screenLabels removes the flagged labels. A resumed run removes the labels that its earlier part removed.
func (r *Training) screenLabels(ctx context.Context) error {
	var before *screening
	facts, err := r.readEarlierFacts()
	if err != nil {
		return err
	}
	if facts.Screening != nil {
		before = &screening{Screening: *facts.Screening}
		if before.List, err = folder.ReadScreening(r.options.Dir); err != nil {
			return err
		}
	}
	at, end := r.options.Watch("steps of scoring labels")
	found, err := screenTraining(ctx, &r.Config, &r.Data, before, at)
	end()
	if found == nil || err != nil {
		return err
	}
	r.screened, r.Screening = found.List, &found.Screening
	r.options.Note("%s", found.Screening)
	return nil
}

// findNoise estimates the noise rate if the configuration asks for an estimate.
func (r *Training) findNoise(ctx context.Context) (err error) {
	if r.Noise, err = resolveRate(ctx, &r.Config, r.Data, enoughImages); err == nil && r.Noise != nil {
		r.options.Note("estimated from the features%s: about %s of the labels are wrong", r.Noise.Asked(), r.Noise)
	}
	return err
}

// earlierRates uses the learning rates that the earlier part of a resumed run found.
func (r *Training) earlierRates(context.Context) error {
	facts, err := r.readEarlierFacts()
	if r.earlier = facts.RateTest; err == nil && r.earlier != nil {
		r.earlier.Resolve(&r.Config)
	}
	return err
}

// readEarlierFacts returns the facts that the earlier part of a resumed run stored, else empty facts.
func (r *Training) readEarlierFacts() (folder.Facts, error) {
	if !r.options.Resume || !folder.Begun(r.options.Dir) {
		return folder.Facts{}, nil
	}
	return folder.ReadFacts(r.options.Dir)
}

// prepareHead makes the head and the sampler, and limits the configured sizes by the data.
func (r *Training) prepareHead(ctx context.Context) (err error) {
	r.asked = sizes{r.Config.Head.In, r.Config.Head.Out, r.Config.Sampler.Views}
	r.Config.Head.In = r.Data.Train.Dim()
	r.Config.Head.Out = min(r.Config.Head.Out, r.Config.Head.In) // whitening yields at most In directions
	var white *head.Head
	if !r.Config.Head.Drawn() {
		if white, err = r.Data.trainWhitening(ctx, r.Config.Head.Out, r.Config.Head.Bias); err != nil {
			return err
		}
	}
	if r.head, err = head.NewWhitened(r.Config.Head, white, train.Rand(r.Config.Seed, "head", 0)); err != nil {
		return err
	}
	if !r.hasViews() {
		r.Config.Sampler.Views = 1
	}
	if r.sampler, err = r.Config.Sampler.New(r.Data.Train.Labels, r.Config.Seed); err != nil {
		return err
	}
	r.Epoch, r.clock = r.sampler.Batches(), new(train.Clock)
	r.Config.ResolveLength(r.Epoch * r.sampler.Images())
	return nil
}

// hasViews reports whether an image has several views: random augmentations in fine-tuning, else stored views.
func (r *Training) hasViews() bool {
	if r.isTuned() {
		return r.Config.Finetune.Augment != config.NoAugmentation
	}
	return r.Data.Views() > 1
}
