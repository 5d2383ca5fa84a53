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

// BackboneOf finds the model that made a store: the one named, which must have its sha256, or any that has it. The
// preprocessing is the store's, not the registry's.
func BackboneOf(store *features.Store, name string) (*models.Backbone, error) {
	return BackboneBy(store.Key.Model, store.Key.Preprocessing, "features "+store.Dir, name, store.ModelFile)
}

// BackboneBy finds a model by its sha256: the file that the user names, or one in the registry or at the places. whose
// names in errors what the model has made.
func BackboneBy(sum, preprocessing, whose, name string, places ...string) (*models.Backbone, error) {
	registry, err := models.OpenDefault()
	if err != nil {
		return nil, err
	}
	var b *models.Backbone
	if name != "" {
		if b, err = registry.Match(name, sum); err != nil {
			return nil, hint.With(err, "%s: made with the model of sha256 %s: name its file with --model", whose, sum)
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

// OpenBackbone finds a model by name or file and cuts it at its features. Both may bring warnings.
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

// Files of a run's folder by which its head and network can be opened without the rest.
const (
	HeadFile    = "head.winnow"
	NetworkFile = "backbone.onnx" // that the run fine-tuned; a run that only trained a head has none
	FactsFile   = "run.json"
)

// TunedBackbone reads the fine-tuned network that a head was trained with.
func TunedBackbone(path string, m models.HeadMeta) (*models.Backbone, error) {
	data, err := regular.ReadFile(path, models.MaxFile)
	if err != nil {
		return nil, err
	}
	if sum := models.Sum(data); sum != m.ModelSHA256 {
		return nil, fmt.Errorf(
			"%s: found sha256 %.12s…, but the head was trained with the network of %.12s…",
			path,
			sum,
			m.ModelSHA256,
		)
	}
	b := &models.Backbone{Path: path, Data: data}
	b.Name, b.File, b.SHA256, b.Output = "fine-tuned backbone", path, m.ModelSHA256, m.Output
	b.Preprocessing, err = backbone.ParsePreprocessing(m.Preprocessing)
	return b, err
}
