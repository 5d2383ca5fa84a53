package main

import (
	"errors"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/extraction"
	"winnow/features"
	"winnow/models"
	"winnow/run/config"
	"winnow/run/tuning"
)

// openTuning finds the backbone and the images that a configuration names, and everything about them that can be
// wrong before a network runs. d is the manifest.
func openTuning(c *cli.Context, cfg config.Run, d *datasets.Dataset) (*tuning.Tuning, error) {
	t := tuning.Config{Settings: cfg.Finetune, Paths: d.Paths(), Batch: extraction.UsualBatch, Watch: watcher(c)}
	t.Note = noter(c)
	var err error
	if t.Augment, err = backbone.ParseAugmentation(cfg.Finetune.Augment); err != nil {
		return nil, asMisuse(err)
	}
	t.RootName = imageroot.Resolve(cfg.Data.Root, cfg.Data.Manifest)
	if t.Root, err = imageroot.Open(t.RootName); err != nil {
		return nil, withHint(err, "fine-tuning looks at the images: name their folder with --root")
	}
	if err := findBackbone(&t, cfg.Data); err != nil {
		return nil, err
	}
	return tuning.New(t)
}

// watcher shows the progress of something on standard error, unless the user wants quiet.
func watcher(c *cli.Context) func(what string) (func(done, total int), func()) {
	return func(what string) (func(done, total int), func()) {
		if c.Bool("quiet") {
			return nil, func() {}
		}
		line := newProgressLine(c.App.ErrWriter, what, time.Now)
		return func(done, total int) { line.At(done, total, 0, "") }, line.End
	}
}

// findBackbone finds the network: the one that made the features, if there are any, or the one named.
func findBackbone(t *tuning.Config, from config.Data) (err error) {
	output := ""
	if from.Features != "" {
		store, err := features.Open(from.Features)
		if err != nil {
			return withHint(err, "leave --features away to have them made in the run's folder, or make them: winnow extract")
		}
		if t.Backbone, err = backboneOf(store, from.Model); err != nil {
			return err
		}
		output = store.Key.Output
		compareDecoder(t, store)
	} else {
		registry, err := openRegistry()
		if err != nil {
			return err
		}
		if t.Backbone, err = registry.Resolve(from.Model, models.Settings{}); errors.Is(err, models.ErrUnprepared) {
			return withHint(err, "how a network wants its images is said once: to winnow models add, or to winnow extract, whose store --features names")
		} else if err != nil {
			return err
		}
	}
	if t.Cut, err = models.Prepare(t.Backbone.Entry, t.Backbone.Data, output); err != nil {
		return err
	}
	for _, line := range slices.Concat(t.Backbone.Warnings, t.Cut.Warnings) {
		t.Note("%s", line)
	}
	if t.Backbone.Guessed && from.Features == "" {
		t.Note("these are flags of winnow models add, and of winnow extract, whose store --features names")
	}
	return nil
}

// compareDecoder says where the images will be read otherwise than those that the features are of.
func compareDecoder(t *tuning.Config, store *features.Store) {
	if now := t.Backbone.Preprocessing.DecoderVersion(); store.Key.Decoder != now {
		t.Note("the features %s are of images that an earlier winnow decoded, now they are read with decoder %q: pixels may differ by a grey value or two; winnow extract --overwrite makes them anew", store.Dir, now)
	}
}

// tuningExtraction is how the features of the backbone as it was are made into a store.
func tuningExtraction(t *tuning.Tuning, dir string) *extraction.Extraction {
	e := &extraction.Extraction{Out: dir, Root: t.Root, Paths: extraction.Distinct(slices.Clone(t.Paths)), Model: t.Backbone, Cut: t.Cut}
	e.Config = backbone.ExtractConfig{Preprocessing: t.Backbone.Preprocessing, Batch: t.Batch}
	return e
}
