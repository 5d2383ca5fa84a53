package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/internal/lock"
	"winnow/internal/text"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/run/tuning"
	"winnow/train"
)

// Resolve decides what a training does: it takes data from in or reads what the configuration names, makes missing
// features, screens labels, estimates rates, chooses what is left open, and builds everything. It writes nothing but
// features into the folder. Errors say what a person can do. The caller closes the training.
func Resolve(ctx context.Context, cfg config.Run, in Input, o Options) (*Training, error) {
	if o.Note == nil {
		o.Note = func(string, ...any) {}
	}
	if o.Watch == nil {
		o.Watch = ignoreProgress
	}
	if o.Screenings == nil {
		o.Screenings = new(Screenings)
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
	long, err := r.readInput(ctx, in)
	if err != nil {
		return err
	}
	if long { // release the manifest
		runtime.GC()
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

// readInput sets Data and the backbone. long reports whether it read a large manifest.
func (r *Training) readInput(ctx context.Context, in Input) (long bool, err error) {
	if in.Data != nil {
		return false, r.takeData(in)
	}
	d := in.Manifest
	if d == nil {
		if d, err = datasets.ReadFile(r.Config.Data.Manifest, datasets.ReadOptions{
			Root: location.At(r.Config.Data.Root), Note: r.options.Note}); err != nil {
			return false, err
		}
		r.Reading = d.Reading
		if long = len(d.Samples) > 1<<20; long { // else the garbage of reading would stay until the heap has doubled
			runtime.GC()
		}
	}
	if d, err = r.replaceDecided(d); err != nil {
		return long, err
	}
	d, held := d.WithValidation(r.Config.Validation.Share(), r.Config.Seed)
	if r.heldOut = held.Images > 0; r.heldOut {
		r.options.Note("no validation split: %s, are held out to find the best state (%s trains on all)", held,
			config.Key("validation.hold_out=0"))
	}
	if err := checkLearnable(d); err != nil {
		return long, err
	}
	read := r.readHead
	if r.Config.Finetune.On() {
		read = r.readNetwork
	}
	err = read(ctx, d)
	r.Data.trustRows(r.trusted)
	r.options.About.Features = r.chooseFeaturesFolder()
	return long, err
}

// takeData uses the caller's data.
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

// readHead reads the data of a head on stored features, then makes the folder. If no features are named, it makes them
// there from the images.
func (r *Training) readHead(ctx context.Context, d *datasets.Dataset) (err error) {
	if r.Config.Data.Features == "" {
		if err := r.lookAtImages(ctx, d); err != nil {
			return err
		}
	}
	if r.Data, r.free, err = loadViewed(ctx, d, r.chooseFeaturesFolder()); err != nil {
		return err
	}
	if r.options.Host.Runtime != nil { // else Go computes the products
		rt, err := r.options.Host.Runtime()
		if err != nil {
			return err
		}
		r.options.About.ORT = rt.Version()
	}
	return r.lockRunFolder()
}

// lookAtImages makes the folder, and in it the features of the images.
func (r *Training) lookAtImages(ctx context.Context, d *datasets.Dataset) error {
	host := r.options.Host.Complete()
	host.Note = r.options.Note
	e, err := ExtractionOf(
		ctx,
		&r.Config,
		d,
		host,
		func(func(features.Key) bool) string { return r.chooseFeaturesFolder() },
	)
	if err != nil {
		return err
	}
	if err := r.lockRunFolder(); err != nil {
		return err
	}
	return r.makeFeatures(ctx, e)
}

// readNetwork is readHead for a network that is trained too. It checks everything before it makes features.
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
		r.options.Note("of the %d stored views of each image only the centre is used: fine-tuning reads the images "+
			"themselves, varied by %s", len(r.Data.Key.Views), config.Key("finetune.augment"))
	}
	return err
}

// openNetwork opens the network that the configuration trains, and takes over its choices.
func (r *Training) openNetwork(paths []string) (*tuning.Live, error) {
	host := r.options.Host.Complete()
	network, err := tuning.Open(r.Config, paths, tuning.Config{Note: host.Note, Watch: r.options.Watch})
	if err != nil {
		return nil, err
	}
	r.backbone, r.Config.Finetune = network, network.Settings
	if network.Drawn && r.Config.BackboneSolver.LR.Choose == train.Usual {
		r.options.Note("the network has learned nothing yet: its learning rate is higher than a trained one's (%s "+
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

// ExtractionOf returns how to make the features that a training starts from, if it names none, of all images of a
// manifest: by the backbone that the configuration names, or by one that is chosen and then named there. place returns
// the folder of the store; it is free, or holds features whose key is the same by the function that place is given.
func ExtractionOf(ctx context.Context, cfg *config.Run, d *datasets.Dataset, h extraction.Host,
	place func(same func(features.Key) bool) string) (*extraction.Extraction, error) {
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
		e := live.Extraction("")
		e.Out = place(e.Could)
		return e, errors.Join(e.Fit(ctx, h, all), live.Close())
	}
	root, err := imageroot.Open(ctx, imageroot.Resolve(location.At(cfg.Data.Root), location.At(cfg.Data.Manifest)))
	if err != nil {
		return nil, hint.With(err, "features are made of the images: name their folder with %s, or a store of winnow "+
			"extract with %s", config.Key("data.root"), config.Key("data.features"))
	}
	if err := d.CheckList(ctx, root); err != nil {
		return nil, fmt.Errorf("%s: %w", cfg.Data.Manifest, err)
	}
	if err := chooseBackbone(&cfg.Data, d, h.Note); err != nil {
		return nil, err
	}
	e, err := extraction.Look(cfg.Data.Model, root, d.Paths(), h)
	if err == nil {
		e.Out = place(func(k features.Key) bool { return k.Model == e.Model.SHA256 })
		err = e.Fit(ctx, h, all)
	}
	return e, err
}

// ignoreProgress shows no progress.
func ignoreProgress(string) (func(done, total int), func()) { return func(int, int) {}, func() {} }

// chooseBackbone names the backbone for a manifest's images if neither it nor features are named.
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

// chooseFeaturesFolder returns the folder of the store: the one that is named, or the run's own.
func (r *Training) chooseFeaturesFolder() string {
	return cmp.Or(r.Config.Data.Features, filepath.Join(r.options.Dir, folder.OwnFeatures))
}

// lockRunFolder makes the folder and locks it, once. An unfinished run there goes on if it turns out to be the same.
func (r *Training) lockRunFolder() (err error) {
	if r.folder == nil && r.kept {
		r.folder, r.left, err = folder.Prepare(r.options.Dir, r.options.Resume, r.options.Overwrite)
		r.options.Resume = r.options.Resume || r.left == folder.Stops
	}
	return err
}

// makeFeatures makes the features that the run starts from unless they are there. Those of another backbone or of other
// images are replaced only if the run is.
func (r *Training) makeFeatures(ctx context.Context, e *extraction.Extraction) error {
	if !r.kept {
		return errors.New("train: no features are named, and no folder to make them in: expected one of the two")
	}
	return MakeFeatures(ctx, e, r.options.Overwrite, r.options.Host, r.options.Note)
}

// MakeFeatures makes the features that trainings start from unless they are there. It replaces others if it may.
func MakeFeatures(ctx context.Context, e *extraction.Extraction, overwrite bool, h extraction.Host,
	note func(string, ...any)) error {
	if old, err := features.Open(e.Out); err != nil || old.Key.Differs(e.Key()) != "" {
		e.Overwrite = overwrite
		note("making the features of the backbone before training, into %s", e.Out)
	}
	_, err := e.Store(ctx, h)
	return err
}

// chooseByData chooses loss, rate and length by the data if the configuration leaves them open.
func (r *Training) chooseByData(context.Context) error {
	r.tellData()
	live, opened := r.backbone.(*tuning.Live)
	drawn, labelled := opened && live.Drawn, r.Data.Train.Len()-r.Data.Unlabelled
	if r.Config.ResolveLoss(drawn, drawn && r.Data.isClosedSet(), labelled/max(len(r.Data.Classes), 1)) {
		r.options.Note("the loss is cross entropy: the network is drawn, and validation asks for the classes that it "+
			"is trained on (%s chooses another)", config.Key("losses"))
	}
	r.Config.ResolveUsualLR(drawn)
	if opened && r.Data.Validation.Len() == 0 && r.Config.ResolveBlindLength(drawn, labelled) {
		r.options.Note("%s without a validation split: a pretrained network may learn the images by heart after that "+
			"(%s sets another length)", r.Config.Length, config.Key("length"))
	}
	return r.Config.Validate()
}

// screenLabels removes the labels that are flagged, or those that an earlier part of the run removed.
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
	start := time.Now()
	at, end := r.options.Watch("steps of judging labels")
	found, err := r.options.Screenings.screenOnce(ctx, &r.Config, &r.Data, before, at)
	end()
	r.Judging = time.Since(start)
	if found == nil || err != nil {
		return err
	}
	r.screened, r.Screening = found.List, &found.Screening
	r.options.Note("%s", found.Screening)
	return nil
}

// findNoise estimates the share of wrong labels if the configuration asks for it.
func (r *Training) findNoise(ctx context.Context) (err error) {
	if r.Noise, err = resolveRate(ctx, &r.Config, r.Data, enoughImages); err == nil && r.Noise != nil {
		r.options.Note("estimated from the features%s: about %s of the labels are wrong", r.Noise.Asked(), r.Noise)
	}
	return err
}

// earlierRates uses the learning rates that an earlier part of the run found.
func (r *Training) earlierRates(context.Context) error {
	facts, err := r.readEarlierFacts()
	if r.earlier = facts.RateTest; err == nil && r.earlier != nil {
		r.earlier.Resolve(&r.Config)
	}
	return err
}

// readEarlierFacts returns the facts of an earlier part of the run, if there is one to resume.
func (r *Training) readEarlierFacts() (folder.Facts, error) {
	if !r.options.Resume || !folder.Begun(r.options.Dir) {
		return folder.Facts{}, nil
	}
	return folder.ReadFacts(r.options.Dir)
}

// large is the memory in bytes from which the user is warned before a head is made.
const large = 1 << 30

// prepareHead makes the head and the sampler, and bounds the configuration's sizes by the data.
func (r *Training) prepareHead(ctx context.Context) (err error) {
	r.asked = sizes{r.Config.Head.In, r.Config.Head.Out, r.Config.Sampler.Views}
	r.Config.Head.In = r.Data.Train.Dim()
	r.Config.Head.Out = min(r.Config.Head.Out, r.Config.Head.In) // more dimensions would be empty
	if need := r.Config.Head.Need(r.Data.Train.Len()); need >= large {
		r.options.Note("a head from %d to %d values takes about %s of memory: fewer with %s", r.Config.Head.In,
			r.Config.Head.Out, text.Approx(need), config.Key("head.out"))
	}
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

// hasViews reports whether an image has several views: augmented, or stored.
func (r *Training) hasViews() bool {
	if r.isTuned() {
		return r.Config.Finetune.Augment != config.NoAugmentation
	}
	return r.Data.Views() > 1
}
