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

// Open opens the backbone and the images that a configuration names, and checks everything that can be checked before a
// network runs. paths are those of the whole manifest, by position; cfg says where notes and progress go.
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
		if grey, err := Grey(c.Root, c.Paths); err == nil && !grey { // an error comes again when features are made
			c.Settings.Augment = "flip"
			c.Note("training pictures are mirrored at random (%s chooses another way, or none)",
				config.Key("finetune.augment"))
		}
	}
	c.Augment, err = backbone.ParseAugmentation(c.Settings.Augment)
	return err
}

// fitEvaluation makes the features that the run starts from, and its evaluation, see pictures as the augmentation does.
// It refuses features that were made in another way.
func (c *Config) fitEvaluation(run config.Run) error {
	was := c.Backbone.Preprocessing
	now := c.Augment.Evaluation(was)
	if now == was {
		return nil
	}
	if run.Data.Features != "" {
		return hint.With(fmt.Errorf("finetune: %s: features of cropped pictures, but finetune.augment %s trains on "+
			"squashed pictures", run.Data.Features, c.Settings.Augment), "make them with winnow extract "+
			"--resize squash, or leave %s out; %s fits these features", config.Key("data.features"),
			config.Key("finetune.augment=flip"))
	}
	c.Backbone.Preprocessing = now
	c.Note("pictures are squashed to %s, as the augmentation %s does, also for the run's features, evaluation and "+
		"export", now.SizeText(), c.Settings.Augment)
	return nil
}

// findBackbone finds the network: the one that made the features, if these are named, or the one that is named.
func (c *Config) findBackbone(from config.Data) (err error) {
	output := ""
	if from.Features != "" {
		store, err := features.Open(from.Features)
		if err != nil {
			return hint.With(err, "leave %s out to make them in the run's folder, or make them: winnow extract",
				config.Key("data.features"))
		}
		if c.Backbone, err = extraction.BackboneOf(store, from.Model); err != nil {
			return err
		}
		output = store.Key.Output
	} else {
		if from.Model == "" {
			return errors.New("finetune: no backbone is named, expected one, or features of one")
		}
		registry, err := models.OpenDefault()
		if err != nil {
			return err
		}
		if c.Backbone, err = registry.Resolve(from.Model, models.Settings{}); errors.Is(err, models.ErrUnprepared) {
			return hint.With(err, "say once how the network takes images: to winnow models add, or to winnow "+
				"extract, whose store %s names", config.Key("data.features"))
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

// Extraction returns how to make the features of the backbone before the run, into a store.
func (t *Live) Extraction(dir string) *extraction.Extraction {
	return &extraction.Extraction{
		Out: dir, Root: t.Root, Paths: features.Distinct(slices.Clone(t.Paths)), Model: t.Backbone, Cut: t.Cut,
		Config: backbone.ExtractConfig{Preprocessing: t.Backbone.Preprocessing, Batch: t.Batch},
	}
}
