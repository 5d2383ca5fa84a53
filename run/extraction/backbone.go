package extraction

import (
	"errors"
	"fmt"
	"slices"

	"winnow/backbone"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/regular"
	"winnow/models"
)

// BackboneOf returns the model that computed the features of a store. If name is not "", this model is used, and its
// SHA-256 must be the store's; else BackboneOf looks for a model with this SHA-256. The preprocessing comes from the
// store, not from the registry.
func BackboneOf(store *features.Store, name string) (*models.Backbone, error) {
	return BackboneBy(store.Key.Model, store.Key.Preprocessing, "features "+store.Dir, name, store.ModelFile)
}

// BackboneBy finds a model by its SHA-256: the model that the user names, or else a file in the registry or in places.
// whose is the name, in errors, of the data that the model made.
func BackboneBy(sum, preprocessing, whose, name string, places ...string) (*models.Backbone, error) {
	registry, err := models.OpenDefault()
	if err != nil {
		return nil, err
	}
	var b *models.Backbone
	if name != "" {
		if b, err = registry.Match(name, sum); err != nil {
			return nil, hint.With(err, "%s: made with the model of SHA-256 %s: name its file with --model", whose, sum)
		}
	} else {
		places = slices.DeleteFunc(places, func(p string) bool { return p == "" })
		if b, err = registry.Recall(sum, places...); errors.Is(err, models.ErrNoBackbone) {
			return nil, hint.With(fmt.Errorf("%s: %w", whose, err), "name the file with --model FILE, or record it: "+
				"winnow models add FILE")
		} else if err != nil {
			return nil, hint.With(err, "name the file with --model FILE")
		}
	}
	if b.Preprocessing, err = backbone.ParsePreprocessing(preprocessing); err != nil {
		return nil, fmt.Errorf("%s: %w", whose, err)
	}
	return b, nil
}

// OpenBackbone finds a model by name or file and cuts it at its features. Both results may contain warnings.
func OpenBackbone(name string, settings models.Settings) (*models.Backbone, *models.Prepared, error) {
	registry, err := models.OpenDefault()
	if err != nil {
		return nil, nil, err
	}
	b, err := registry.Resolve(name, settings)
	if err != nil {
		return nil, nil, err
	}
	cut, err := PrepareBackbone(b, settings.Output)
	return b, cut, err
}

// Files of a run's folder that suffice to open its head and network.
const (
	HeadFile    = "head.winnow"
	NetworkFile = "backbone.onnx" // the fine-tuned network; missing if the run trained only a head
	FactsFile   = "run.json"
)

// TunedBackbone reads the fine-tuned network that a head was trained with.
func TunedBackbone(path string, m models.HeadMeta) (*models.Backbone, error) {
	data, err := regular.ReadFile(path, models.MaxFile)
	if err != nil {
		return nil, err
	}
	if sum := models.Sum(data); sum != m.ModelSHA256 {
		return nil, fmt.Errorf("%s: the SHA-256 is %.12s…, but the head was trained with the network of SHA-256 %.12s…",
			path, sum, m.ModelSHA256)
	}
	b := &models.Backbone{Path: path, Data: data}
	b.Name, b.File, b.SHA256, b.Output = "fine-tuned backbone", path, m.ModelSHA256, m.Output
	b.Preprocessing, err = backbone.ParsePreprocessing(m.Preprocessing)
	return b, err
}
