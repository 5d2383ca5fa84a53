package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"winnow/backbone"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/models"
	"winnow/run/config"
	"winnow/run/extraction"
)

// OwnFeatures is the name of the feature store that a run makes in its folder if the configuration names none.
const OwnFeatures = "features"

// originalStore returns the folder of the features that the run was trained on.
func (r *Run) originalStore() string {
	if dir := r.Config.Data.Features; dir != "" {
		return dir
	}
	return filepath.Join(r.Dir, OwnFeatures)
}

// openTuned opens the fine-tuned network of the run's head, and its features of the manifest's images, which it
// computes unless an earlier command did. Features of the backbone before fine-tuning do not fit the head.
func (r *Run) openTuned(ctx context.Context) (err error) {
	if r.Tuned, err = r.TunedBackbone(r.HeadFile, r.Meta); err != nil {
		return err
	}
	if r.Features != "" { // features by the fine-tuned network, or by the backbone before fine-tuning
		s, err := features.Open(r.Features)
		if err != nil {
			return err
		}
		if s.Key.Model == r.Meta.ModelSHA256 {
			r.Store = s
			return nil
		}
	}
	r.Store, err = r.tunedStore(ctx, r.Tuned, r.Meta, r.Splits)
	return err
}

// TunedBackbone reads the network of a head, and checks that they belong together.
func (r *Run) TunedBackbone(headFile string, meta models.HeadMeta) (*models.Backbone, error) {
	path := filepath.Join(r.Dir, BackboneFile(headFile))
	b, err := extraction.TunedBackbone(path, meta)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.With(fmt.Errorf("%s: contains no %s, which %s was trained with", r.Dir, BackboneFile(headFile),
			headFile), "restore it, or continue the training, which writes it again: winnow train --resume %s",
			r.Dir)
	}
	if err != nil {
		return nil, hint.With(err, "a file was not completely written, or the files are of two runs: continue the "+
			"training, which writes both again: winnow train --resume %s", r.Dir)
	}
	b.Name = r.tunedName()
	return b, nil
}

// TunedFile returns the file of the run's fine-tuned network, "" without fine-tuning.
func (r *Run) TunedFile() string {
	if r.Tuned == nil {
		return ""
	}
	return r.Tuned.Path
}

// tunedName returns the name of the network in messages and metadata.
func (r *Run) tunedName() string {
	if name := r.Config.Data.Model; name != "" {
		return filepath.Base(name) + ", fine-tuned"
	}
	return "fine-tuned backbone"
}

// tunedStore returns a store in the run's folder with a fine-tuned network's features of the manifest's images. It uses
// an existing store that contains all images, else it makes one, whose name contains hashes of the network and of the
// images.
func (r *Run) tunedStore(ctx context.Context, b *models.Backbone, meta models.HeadMeta, splits []string) (
	*features.Store, error) {
	cut, err := extraction.PrepareBackbone(b, meta.Output)
	if err != nil {
		return nil, err
	}
	e := &extraction.Extraction{Paths: features.Distinct(r.pathsOf(splits)), Model: b, Cut: cut}
	if len(e.Paths) == 0 {
		return nil, fmt.Errorf("%s: the manifest has no image in the split %s; it has %s", r.For,
			strings.Join(splits, " or "), r.Manifest.SplitNames())
	}
	e.Config = backbone.ExtractConfig{Preprocessing: b.Preprocessing, Batch: extraction.UsualBatch}
	ofNetwork := filepath.Join(r.Dir, TunedStorePrefix+b.SHA256[:8])
	made, err := filepath.Glob(ofNetwork + "-*")
	if err != nil {
		return nil, err
	}
	for _, dir := range made {
		if s, err := features.Open(dir); err == nil && s.Key.Model == b.SHA256 {
			if _, missing := s.Lookup(e.Paths); len(missing) == 0 {
				r.Host.Note("features of the fine-tuned backbone: %s", dir)
				return s, nil
			}
		}
	}
	e.Out = ofNetwork + "-" + features.HashPaths(e.Paths)[:8]
	root := r.ImageRoot()
	e.From = root
	if e.Root, err = imageroot.Open(ctx, root); err != nil {
		return nil, hint.With(err, "the backbone was fine-tuned: its features are computed from the images, whose "+
			"folder %s names", config.Key("data.root"))
	}
	r.Host.Note("the backbone was fine-tuned: its features are computed from the images, once, into %s", e.Out)
	s, err := e.Store(ctx, r.Host)
	if errors.Is(err, fs.ErrPermission) {
		return nil, hint.With(err, "the run's folder is not writable: compute the features elsewhere (winnow extract "+
			"--model %s) and name them with %s", b.Path, config.Key("data.features"))
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// pathsOf returns the images of some splits, as in the manifest or as in the run; of all splits if none is named.
func (r *Run) pathsOf(splits []string) []string {
	var paths []string
	for i, s := range r.Manifest.Samples {
		if len(splits) == 0 || slices.Contains(splits, s.Split) || slices.Contains(splits, r.Given.Samples[i].Split) {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// ImageRoot returns the folder of the images: the option Root, else the training's root, else the manifest's folder.
func (r *Run) ImageRoot() location.Source {
	return imageroot.Resolve(cmp.Or(r.Root, location.At(r.Config.Data.Root)), r.ManifestFile)
}

// FrozenStore returns the features of the backbone before fine-tuning, with which the trained result is compared.
func (r *Run) FrozenStore() (*features.Store, error) {
	if r.Tuned == nil {
		return r.Store, nil
	}
	dir := r.originalStore()
	if r.Features != "" && r.Features != r.Store.Dir {
		dir = r.Features
	}
	s, err := features.Open(dir)
	if err != nil {
		return nil, hint.With(err, "the rows frozen and whitened need the features of the backbone before the run: "+
			"compute them with winnow extract, and name them with %s", config.Key("data.features"))
	}
	facts, err := ReadFacts(r.Dir)
	if err != nil {
		return nil, err
	}
	was := facts.FeaturesKey
	was.Images = s.Key.Images                       // another manifest may list other images
	was.Views, was.DType = s.Key.Views, s.Key.DType // these do not have to match
	was.Decoder = s.Key.Decoder
	if why := s.Key.Differs(was); why != "" {
		return nil, fmt.Errorf("features %s: %s as the run %s was", dir, why, r.Dir)
	}
	if r.View == MeanView {
		s = s.Averaged() // like the features of the fine-tuned network
	}
	return s, nil
}
