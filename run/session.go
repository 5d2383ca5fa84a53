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
	"winnow/extraction"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/internal/text"
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
	d, err := datasets.Read(cfg.Data.Manifest, datasets.ReadOptions{Note: o.Note})
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
		s.options.Note("no validation split: %s (--set validation.hold_out=0 trains on all)", tellHeld(held))
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

// openHead reads what a head on stored features is trained on, then makes the folder.
func (s *Session) openHead(ctx context.Context, d *datasets.Dataset) (err error) {
	if s.Data, s.free, err = loadViewed(ctx, d, s.Config.Data.Features); err != nil {
		return err
	}
	if s.options.Host.Runtime != nil { // else products are computed in Go
		rt, err := s.options.Host.Runtime()
		if err != nil {
			return err
		}
		s.options.About.ORT = rt.Version()
	}
	return s.prepare()
}

// openBackbone is openHead for a backbone that is trained too: whatever can be wrong is found before the features are made
// that the run starts from.
func (s *Session) openBackbone(ctx context.Context, d *datasets.Dataset) (err error) {
	host := s.options.Host.Complete()
	tuned, err := tuning.Open(s.Config, d.Paths(), tuning.Config{Note: host.Note, Watch: s.options.Watch})
	if err != nil {
		return err
	}
	s.backbone, s.Config.Finetune = tuned, tuned.Settings // as they were chosen
	if s.Config.Data.Model == "" && s.Config.Data.Features == "" {
		s.Config.Data.Model = tuned.Backbone.Name
	}
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

// screen leaves out the labels that are called wrong before the training, those that an earlier part of it left out if
// there was one.
func (s *Session) screen(ctx context.Context) error {
	var before *Screening
	if dir := s.options.Dir; s.options.Resume && folder.Begun(dir) {
		facts, err := folder.ReadFacts(dir)
		if err != nil {
			return err
		}
		if facts.Screening != nil {
			before = &Screening{Screening: *facts.Screening}
			if before.List, err = folder.ReadScreening(dir); err != nil {
				return err
			}
		}
	}
	at, end := s.options.Watch("steps of judging labels")
	found, err := Screen(ctx, &s.Config, &s.Data, before, at)
	end()
	if found == nil || err != nil {
		return err
	}
	s.screened = found
	if found.Blind {
		s.options.Note("the features tell nothing of the labels: none is called wrong before the training")
		return nil
	}
	s.options.Note("of %d labels %s calls %d wrong: their images take no part (%s); of the others about %s are", found.Judged, found.By, found.Wrong,
		folder.ScreenedFile, text.Percent(found.Left))
	return nil
}

// earlierRates takes the learning rates that an earlier part of the run has found.
func (s *Session) earlierRates() error {
	if dir := s.options.Dir; s.options.Resume && folder.Begun(dir) {
		facts, err := folder.ReadFacts(dir)
		if err != nil {
			return err
		}
		if s.rates = facts.RateTest; s.rates != nil {
			s.rates.Resolve(&s.Config)
		}
	}
	return nil
}

// begin throws away the run that is to be overwritten, and writes config.yaml and run.json. A run that goes on keeps what
// it wrote when it began.
func (s *Session) begin(plan Plan) error {
	s.Config.Length, s.Config.Validation = plan.Config.Length, plan.Config.Validation // as they were chosen
	if s.options.Overwrite {
		if err := folder.Clear(s.options.Dir); err != nil {
			return err
		}
	}
	if plan.Resumed > 0 && folder.Begun(s.options.Dir) {
		return nil
	}
	facts, err := s.facts(plan)
	if err != nil {
		return err
	}
	if plan.Rates != nil {
		if err := folder.WriteRange(s.options.Dir, plan.Rates.Curve); err != nil {
			return err
		}
	}
	if s.screened != nil {
		if err := folder.WriteScreening(s.options.Dir, s.screened.List); err != nil {
			return err
		}
	}
	return folder.Begin(s.options.Dir, s.Config, plan.Sum, facts)
}

// facts returns what run.json holds: what the caller knows of the machine, completed with configuration and data.
func (s *Session) facts(plan Plan) (folder.Facts, error) {
	f, data := s.options.About, s.Data
	f.Winnow, f.Go, f.Started, f.NoiseRate = s.options.Winnow, runtime.Version(), s.start.UTC(), s.noise
	f.RateTest = cmp.Or(plan.Rates, s.rates)
	if s.screened != nil {
		f.Screening = &s.screened.Screening
	}
	f.Seed, f.Manifest, f.ImagesSHA256, f.FeaturesSHA256, f.FeaturesKey = s.Config.Seed, s.Config.Data.Manifest, data.Sum, data.StoreSum, data.Key
	f.Places = folder.PlacesOf(s.options.Dir, s.Config.Data, data.ModelFile)
	f.Images, f.Unlabelled, f.Validation, f.Classes = data.Train.Len(), data.Unlabelled, data.Validation.Len(), data.Classes
	f.LeftOut, f.StepsPerEpoch, f.Steps = append([]lookup.LeftOut{}, data.LeftOut...), plan.Epoch, plan.Steps
	if share := s.backbone.Share(); share != nil {
		f.Backbone, f.TunedWeights = share.From, s.backbone.Weights()
	}
	var err error
	if f.ManifestSHA256, err = folder.FileSum(f.Manifest); err != nil {
		return f, fmt.Errorf("train: %w", err)
	}
	return f, nil
}

// Now returns a set of images with the features that the backbone gives of them now: those stored where it is not trained.
func (s *Session) Now(ctx context.Context, set features.Set) (features.Set, error) {
	return s.backbone.Now(ctx, set)
}
