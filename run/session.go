package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"time"

	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/extraction"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/run/mlflow"
	"winnow/run/tuning"
	"winnow/train"
)

// Train turns a configuration and the data that it names into a trained folder, which [folder.Open] opens again.
func Train(ctx context.Context, cfg config.Run, o Options) (folder.Result, error) {
	s, err := Open(ctx, cfg, o)
	if err != nil {
		return folder.Result{}, err
	}
	defer s.Close()
	_, result, err := s.Train(ctx)
	return result, err
}

// Session is a training that is about to begin: its data are read, its backbone is found, its folder is there.
type Session struct {
	Config config.Run
	Data   Data

	options  Options
	backbone tuning.Backbone
	free     func() error      // lets go of the vectors of Data, which are not to be looked at then; nil: they are the program's own
	folder   io.Closer         // held while the session is open; nil before it is
	noise    *folder.NoiseRate // where the rate was to be estimated
	rates    *folder.RateTest  // found by an earlier part of the run
	screened *Screening        // where labels were to be screened
	start    time.Time
	record   *mlflow.Run // nil: none
}

// Open reads what a configuration names and makes the folder. The caller closes the session.
func Open(ctx context.Context, cfg config.Run, o Options) (*Session, error) {
	d, err := datasets.ReadFile(cfg.Data.Manifest, datasets.ReadOptions{Note: o.Note})
	if err != nil {
		return nil, err
	}
	long := len(d.Samples) > 1<<20
	if long { // what reading them left would stand until the heap has doubled
		runtime.GC()
	}
	s, err := OpenWith(ctx, cfg, d, o)
	if long { // the manifest goes
		runtime.GC()
	}
	return s, err
}

// OpenWith does what Open does, with a manifest that is read already.
func OpenWith(ctx context.Context, cfg config.Run, d *datasets.Dataset, o Options) (*Session, error) {
	s := &Session{Config: cfg, options: o, backbone: tuning.Stored{}, start: time.Now()}
	if s.options.Note == nil {
		s.options.Note = func(string, ...any) {}
	}
	if s.options.Watch == nil {
		s.options.Watch = func(string) (func(done, total int), func()) { return func(int, int) {}, func() {} }
	}
	d, held := d.WithValidation(cfg.Validation.Share(), cfg.Seed)
	if held.Images > 0 {
		s.options.Note("no validation split: %s, are held out to find the best state (--set validation.hold_out=0 trains on all)", held)
	}
	if err := learnable(d); err != nil {
		return nil, err
	}
	open := s.openHead
	if cfg.Finetune.On() {
		open = s.openBackbone
	}
	if err := open(ctx, d); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.options.About.Features = cmp.Or(s.Config.Data.Features, s.ownFeatures())
	return s, nil
}

// openHead reads what a head on stored features is trained on, then makes the folder. Where no features are named they are made in
// it, of the images.
func (s *Session) openHead(ctx context.Context, d *datasets.Dataset) (err error) {
	store := s.Config.Data.Features
	if store == "" {
		store = s.ownFeatures()
		if err := s.lookAtImages(ctx, d); err != nil {
			return err
		}
	}
	if s.Data, s.free, err = loadViewed(ctx, d, store); err != nil {
		return err
	}
	if s.options.Host.Runtime != nil { // else products are computed in Go
		rt, err := s.options.Host.Runtime()
		if err != nil {
			return err
		}
		s.options.About.ORT = rt.Version()
	}
	if s.folder != nil {
		return nil
	}
	return s.prepare()
}

// lookAtImages makes the folder, and in it the features of the images.
func (s *Session) lookAtImages(ctx context.Context, d *datasets.Dataset) error {
	host := s.options.Host.Complete()
	host.Note = s.options.Note
	e, err := ExtractionOf(ctx, &s.Config.Data, d, host)
	if err != nil {
		return err
	}
	if err := s.prepare(); err != nil {
		return err
	}
	e.Out = s.ownFeatures()
	e.Fit(host)
	return s.makeFeatures(ctx, e)
}

// ExtractionOf returns how the features of all images of a manifest are made for heads where none are named, by the backbone that from
// names, or one that is chosen and named there then. The caller says where the store lies.
func ExtractionOf(ctx context.Context, from *config.Data, d *datasets.Dataset, h extraction.Host) (*extraction.Extraction, error) {
	root, err := imageroot.Open(ctx, imageroot.Resolve(location.At(from.Root), location.At(from.Manifest)))
	if err != nil {
		return nil, hint.With(err, "features are made of the images: name their folder with --root, or a store of winnow extract with --features")
	}
	if err := ChooseBackbone(from, d, h.Complete().Note); err != nil {
		return nil, err
	}
	return extraction.Look(from.Model, root, d.Paths(), h)
}

// ChooseBackbone names the backbone that is to look at a manifest's images, or to be trained on them, where neither it nor features are
// named.
func ChooseBackbone(from *config.Data, d *datasets.Dataset, note func(string, ...any)) error {
	if from.Model != "" || from.Features != "" {
		return nil
	}
	name, why, err := extraction.Choose(d.Classes)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	from.Model = name
	note("the backbone is %s, %s (--model names another)", name, why)
	return nil
}

// openBackbone is openHead for a backbone that is trained too: whatever can be wrong is found before the features are made
// that the run starts from.
func (s *Session) openBackbone(ctx context.Context, d *datasets.Dataset) (err error) {
	host := s.options.Host.Complete()
	if err := ChooseBackbone(&s.Config.Data, d, s.options.Note); err != nil {
		return err
	}
	tuned, err := tuning.Open(s.Config, d.Paths(), tuning.Config{Note: host.Note, Watch: s.options.Watch})
	if err != nil {
		return err
	}
	s.backbone, s.Config.Finetune = tuned, tuned.Settings // as they were chosen
	if usual := s.Config.BackboneSolver.LR == train.UsualLR; usual && tuned.Drawn {
		s.options.Note("the network has learned nothing yet: its learning rate is higher than a trained one's (--backbone-lr sets another)")
	}
	rt, err := host.Runtime()
	if err != nil {
		return err
	}
	s.options.About.ORT = rt.Version()
	tuned.Use(rt)
	if err := s.prepare(); err != nil {
		return err
	}
	store := s.Config.Data.Features
	if store == "" {
		store = s.ownFeatures()
		if err := s.makeFeatures(ctx, tuned.Extraction(store)); err != nil {
			return err
		}
	}
	if s.Data, err = Load(ctx, d, store, false); err == nil && len(s.Data.Key.Views) > 1 {
		s.options.Note("of the %d stored views of each image only the centre is used: fine-tuning looks at the images themselves (--augment)", len(s.Data.Key.Views))
	}
	if err != nil {
		return err
	}
	return s.chooseLoss(tuned.Drawn)
}

// chooseLoss decides on loss, rate and length, with the data, where the configuration leaves them open.
func (s *Session) chooseLoss(drawn bool) error {
	labelled := s.Data.Train.Len() - s.Data.Unlabelled
	if s.Config.ResolveLoss(drawn, s.Data.Closed(), labelled/max(len(s.Data.Classes), 1)) {
		s.options.Note("the loss is cross entropy: the network is drawn, and validation asks for the classes that it is trained on (--loss chooses another)")
	}
	s.Config.ResolveUsualLR(drawn)
	if s.Data.Validation.Len() == 0 && s.Config.ResolveBlindLength(drawn, labelled) {
		s.options.Note("%s without a validation split: a pretrained network may learn the images by heart after that (--epochs sets another length)", s.Config.Length)
	}
	return s.Config.Validate()
}

func (s *Session) ownFeatures() string { return filepath.Join(s.options.Dir, folder.OwnFeatures) }

func (s *Session) prepare() (err error) {
	s.folder, err = folder.Prepare(s.options.Dir, s.options.Resume, s.options.Overwrite)
	return err
}

// makeFeatures makes the features that the run starts from, unless they are there; those of another backbone or of
// other images are only replaced if the run is.
func (s *Session) makeFeatures(ctx context.Context, e *extraction.Extraction) error {
	if old, err := features.Open(e.Out); err != nil || old.Key.Differs(e.Key()) != "" {
		e.Overwrite = s.options.Overwrite
		s.options.Note("making the features of the backbone before training, into %s", e.Out)
	}
	_, err := e.Store(ctx, s.options.Host)
	return err
}

// Close frees the memory of the networks and lets the folder go.
func (s *Session) Close() error {
	err := s.backbone.Close()
	if s.free != nil {
		err = errors.Join(err, s.free())
		s.free = nil
	}
	if s.folder != nil {
		err = errors.Join(err, s.folder.Close())
	}
	return err
}

// Train trains and leaves in the folder everything that a run leaves, its measurement too.
func (s *Session) Train(ctx context.Context) (Outcome, folder.Result, error) {
	var none folder.Result
	s.tellData()
	var err error
	if err := s.screen(ctx); err != nil {
		return Outcome{}, none, err
	}
	if s.noise, err = ResolveRate(ctx, &s.Config, s.Data); err != nil {
		return Outcome{}, none, err
	}
	if s.noise != nil {
		s.options.Note("estimated from the features%s: about %s of the labels are wrong", s.noise.Asked(), s.noise)
	}
	if err := s.earlierRates(); err != nil {
		return Outcome{}, none, err
	}
	o := s.options
	o.Begun = func(plan Plan) error {
		s.tellRates(plan)
		if s.options.Begun != nil {
			if err := s.options.Begun(plan); err != nil {
				return err
			}
		}
		s.tellPlan(plan)
		if err := s.begin(plan); err != nil || o.MLflow == "" {
			return err
		}
		var err error
		s.record, err = mlflow.Begin(o.MLflow, o.Dir, plan.Resumed, time.Now)
		return err
	}
	o.Written = func(m train.Metric) {
		if s.record != nil {
			s.record.Metric(m)
		}
		if s.options.Written != nil {
			s.options.Written(m)
		}
	}
	out, result, err := s.trainAndJudge(ctx, o)
	if s.record != nil {
		if lost := s.record.End(ctx, err); lost != nil {
			s.options.Note("warning: MLflow's record of the run is not whole: %v", lost)
		}
	}
	return out, result, err
}

// trainAndJudge trains and writes result.json.
func (s *Session) trainAndJudge(ctx context.Context, o Options) (Outcome, folder.Result, error) {
	var none folder.Result
	out, err := RunOn(ctx, s.backbone, s.Config, s.Data, o)
	if err != nil {
		return out, none, err
	}
	result, err := s.judge(ctx, out)
	if err != nil {
		return out, none, err
	}
	result.Seconds = time.Since(s.start).Seconds()
	return out, result, folder.Finish(o.Dir, result)
}

// Now returns a set of images with the features that the backbone gives of them now: those stored where it is not trained.
func (s *Session) Now(ctx context.Context, set features.Set) (features.Set, error) {
	return s.backbone.Now(ctx, set)
}
