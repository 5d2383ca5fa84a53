package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/backbone/ort"
	"winnow/datasets"
	"winnow/features"
	"winnow/graph"
	"winnow/graph/gradient"
	"winnow/internal/config"
	"winnow/models"
)

// tuning is a backbone that a run trains together with its head: what it was, which of its weights move, and the
// images it sees.
type tuning struct {
	backbone *models.Backbone // as it was
	cut      *models.Prepared // to its feature
	model    *graph.Model     // the same, read: the weights' first values
	weights  []string         // initializers that are trained
	settings config.Finetune
	augment  backbone.Augmentation

	root     fs.FS
	rootName string   // the folder or .zip file that root is
	paths    []string // of the whole manifest, by position
	batch    int      // images a run of the network where it is only asked, not trained
	rt       *ort.Runtime
	note     func(format string, args ...any)
	watch    func(what string) (at func(done, total int), end func()) // shows what takes long

	frozen, live *graph.Model         // before and behind where training begins; frozen is nil where all is trained
	derivative   *gradient.Derivative // of live
	net          *ort.Live
	prefix       *ort.Prefix
}

// openTuning finds the backbone and the images that a configuration names, and everything about them that can be
// wrong before a network runs. d is the manifest.
func openTuning(c *cli.Context, cfg config.Run, d *datasets.Dataset) (*tuning, error) {
	t := &tuning{settings: cfg.Finetune, paths: d.Paths(), batch: extractBatch, watch: watcher(c)}
	t.note = func(format string, args ...any) { note(c, format, args...) }
	var err error
	if t.augment, err = backbone.ParseAugmentation(cfg.Finetune.Augment); err != nil {
		return nil, usageError{err}
	}
	t.rootName = rootOf(cfg.Data.Root, cfg.Data.Manifest)
	if t.root, err = imageRoot(t.rootName); err != nil {
		return nil, withHint(err, "fine-tuning looks at the images: name their folder with --root")
	}
	if err := t.findBackbone(cfg.Data); err != nil {
		return nil, err
	}
	if t.model, err = graph.Read(t.cut.Model); err != nil {
		return nil, fmt.Errorf("finetune: %s: %w", t.backbone.Name, err)
	}
	t.model = gradient.Untie(t.model)
	return t, t.choose()
}

// watcher shows the progress of something on standard error, unless the user wants quiet.
func watcher(c *cli.Context) func(what string) (func(done, total int), func()) {
	return func(what string) (func(done, total int), func()) {
		if c.Bool("quiet") {
			return nil, func() {}
		}
		line := newProgressLine(c.App.ErrWriter, what, time.Now)
		return func(done, total int) { line.at(done, total, 0, "") }, line.end
	}
}

// findBackbone finds the network: the one that made the features, if there are any, or the one named.
func (t *tuning) findBackbone(from config.Data) (err error) {
	output := ""
	if from.Features != "" {
		store, err := features.Open(from.Features)
		if err != nil {
			return withHint(err, "leave --features away to have them made in the run's folder, or make them: winnow extract")
		}
		if t.backbone, err = backboneOf(store, from.Model); err != nil {
			return err
		}
		output = store.Key.Output
		t.compareDecoder(store)
	} else {
		registry, err := openRegistry()
		if err != nil {
			return err
		}
		if t.backbone, err = registry.Resolve(from.Model, models.Settings{}); errors.Is(err, models.ErrUnprepared) {
			return withHint(err, "how a network wants its images is said once: to winnow models add, or to winnow extract, whose store --features names")
		} else if err != nil {
			return err
		}
	}
	if t.cut, err = models.Prepare(t.backbone.Entry, t.backbone.Data, output); err != nil {
		return err
	}
	for _, line := range slices.Concat(t.backbone.Warnings, t.cut.Warnings) {
		t.note("%s", line)
	}
	if t.backbone.Guessed && from.Features == "" {
		t.note("these are flags of winnow models add, and of winnow extract, whose store --features names")
	}
	if t.cut.Batch > 0 {
		return fmt.Errorf("finetune: %s takes batches of exactly %d images, expected a network whose batch is free", t.backbone.Name, t.cut.Batch)
	}
	return nil
}

// compareDecoder says where the images will be read otherwise than those that the features are of.
func (t *tuning) compareDecoder(store *features.Store) {
	if now := t.backbone.Preprocessing.DecoderVersion(); store.Key.Decoder != now {
		t.note("the features %s are of images that an earlier winnow decoded, now they are read with decoder %q: pixels may differ by a grey value or two; winnow extract --overwrite makes them anew", store.Dir, now)
	}
}

// extraction is how the features of the backbone as it was are made into a store.
func (t *tuning) extraction(dir string) *extraction {
	e := &extraction{out: dir, root: t.root, paths: distinct(slices.Clone(t.paths)), model: t.backbone, cut: t.cut}
	e.cfg = backbone.ExtractConfig{Preprocessing: t.backbone.Preprocessing, Batch: t.batch}
	return e
}

// batchNorm is what happens to batch normalization.
func (t *tuning) batchNorm() gradient.BatchNorm {
	if t.settings.BatchNorm == config.TrainNorm {
		return gradient.BatchNorm{Train: true, Momentum: t.settings.Momentum}
	}
	return gradient.BatchNorm{}
}
