package tuning

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"winnow/backbone"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/models"
	"winnow/run/config"
	"winnow/run/extraction"
)

// Open opens the backbone and the images that a configuration names, and makes all checks that are possible before a
// network runs. paths holds the paths of the whole manifest, by position; cfg holds the callbacks.
func Open(run config.Run, paths []string, cfg Config) (*Live, error) {
	cfg.Settings, cfg.Paths, cfg.Batch = run.Finetune, paths, extraction.UsualBatch
	var err error
	if cfg.Settings.Augment != config.AutoAugmentation {
		if cfg.Augment, err = backbone.ParseAugmentation(cfg.Settings.Augment); err != nil {
			return nil, err
		}
	}
	root := imageroot.Resolve(location.At(run.Data.Root), location.At(run.Data.Manifest))
	cfg.RootName = root.String()
	if cfg.Root, err = imageroot.Open(context.Background(), root); err != nil {
		return nil, hint.With(err, "fine-tuning reads the images: name their folder with %s", config.Key("data.root"))
	}
	if err := cfg.findBackbone(run.Data); err != nil {
		return nil, err
	}
	if err := cfg.chooseAugmentation(); err != nil {
		return nil, err
	}
	if err := cfg.fitEvaluation(run); err != nil {
		return nil, err
	}
	return New(cfg)
}

// chooseAugmentation chooses the augmentation if the configuration leaves it open.
func (c *Config) chooseAugmentation() (err error) {
	if c.Settings.Augment != config.AutoAugmentation {
		return nil
	}
	c.Settings.Augment = config.NoAugmentation
	if c.Settings.Weights == config.AllWeights {
		if grey, err := Grey(c.Root, c.Paths); err == nil && !grey { // extraction returns the error again
			c.Settings.Augment = "flip"
			c.Note("training images are mirrored at random (%s chooses another augmentation, or none)",
				config.Key("finetune.augment"))
		}
	}
	c.Augment, err = backbone.ParseAugmentation(c.Settings.Augment)
	return err
}

// fitEvaluation makes extraction and evaluation squash images if the augmentation squashes them. It returns an error
// for stored features of cropped images.
func (c *Config) fitEvaluation(run config.Run) error {
	was := c.Backbone.Preprocessing
	now := c.Augment.Evaluation(was)
	if now == was {
		return nil
	}
	if run.Data.Features != "" {
		return hint.With(fmt.Errorf("finetune: %s: features of cropped images, but finetune.augment %s trains on "+
			"squashed images", run.Data.Features, c.Settings.Augment), "compute them with winnow extract "+
			"--resize squash, or leave %s out; %s fits these features", config.Key("data.features"),
			config.Key("finetune.augment=flip"))
	}
	c.Backbone.Preprocessing = now
	c.Note("images are squashed to %s, as by the augmentation %s, also for the run's features, evaluation and "+
		"export", now.SizeText(), c.Settings.Augment)
	return nil
}

// findBackbone finds the network: the network that computed the features if the configuration names features, else the
// network that it names.
func (c *Config) findBackbone(from config.Data) (err error) {
	output := ""
	if from.Features != "" {
		store, err := features.Open(from.Features)
		if err != nil {
			return hint.With(err, "leave %s out to compute them in the run's folder, or use winnow extract",
				config.Key("data.features"))
		}
		if c.Backbone, err = extraction.BackboneOf(store, from.Model); err != nil {
			return err
		}
		output = store.Key.Output
	} else {
		if from.Model == "" {
			return errors.New("finetune: neither a backbone nor its features are named: name one of the two")
		}
		registry, err := models.OpenDefault()
		if err != nil {
			return err
		}
		if c.Backbone, err = registry.Resolve(from.Model, models.Settings{}); errors.Is(err, models.ErrUnprepared) {
			return hint.With(err, "set the preprocessing with flags of winnow models add, or of winnow extract, "+
				"whose store %s names", config.Key("data.features"))
		} else if err != nil {
			return err
		}
	}
	if c.Cut, err = extraction.PrepareBackbone(c.Backbone, output); err != nil {
		return err
	}
	for _, line := range slices.Concat(c.Backbone.Warnings, c.Cut.Warnings) {
		c.Note("%s", line)
	}
	if c.Backbone.Guessed && from.Features == "" {
		c.Note("these are flags of winnow models add, and of winnow extract, whose store %s names",
			config.Key("data.features"))
	}
	return nil
}

// Extraction returns the extraction of the backbone's features before fine-tuning, into the folder dir.
func (t *Live) Extraction(dir string) *extraction.Extraction {
	return &extraction.Extraction{
		Out: dir, Root: t.Root, Paths: features.Distinct(slices.Clone(t.Paths)), Model: t.Backbone, Cut: t.Cut,
		Config: backbone.ExtractConfig{Preprocessing: t.Backbone.Preprocessing, Batch: t.Batch},
	}
}
