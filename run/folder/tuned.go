package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/models"
	"winnow/run/extraction"
)

// OwnFeatures is the store that winnow train makes in a run's folder where it is given none.
const OwnFeatures = "features"

// OriginalStore returns where the features of the backbone before the run should be.
func (r *Run) OriginalStore() string {
	if dir := r.Config.Data.Features; dir != "" {
		return dir
	}
	return filepath.Join(r.Dir, OwnFeatures)
}

// openTuned finds the fine-tuned network of the run's head and the features that it gives of the manifest's images,
// which are computed here, once, if no command before has done so. The frozen features are no help: the head was
// not trained on them.
func (r *Run) openTuned(ctx context.Context) (err error) {
	if r.Tuned, err = r.TunedBackbone(r.HeadFile, r.Meta); err != nil {
		return err
	}
	if r.Features != "" { // of the network as it is now, or as it was
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

// TunedBackbone reads the network beside a head and sees that they belong together.
func (r *Run) TunedBackbone(headFile string, meta models.HeadMeta) (*models.Backbone, error) {
	path := filepath.Join(r.Dir, BackboneFile(headFile))
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, hint.With(fmt.Errorf("%s: holds no %s, which %s was trained with", r.Dir, BackboneFile(headFile), headFile), "go on with the training, which writes it again: winnow train --out %s --resume; or put it back", r.Dir)
	}
	if err != nil {
		return nil, err
	}
	if sum := models.Sum(data); sum != meta.ModelSHA256 {
		return nil, hint.With(fmt.Errorf("%s: found sha256 %.12s…, but %s was trained with the network of %.12s…", path, sum, headFile, meta.ModelSHA256),
			"writing one of them was cut off, or they are of two runs: go on with the training, which writes both again: winnow train --out %s --resume", r.Dir)
	}
	b := &models.Backbone{Path: path, Data: data}
	b.Name, b.File, b.SHA256, b.Output = r.tunedName(), path, meta.ModelSHA256, meta.Output
	b.Preprocessing, err = backbone.ParsePreprocessing(meta.Preprocessing)
	return b, err
}

// TunedFile returns the file of the network that the run trained, "" where it trained none.
func (r *Run) TunedFile() string {
	if r.Tuned == nil {
		return ""
	}
	return r.Tuned.Path
}

// tunedName returns what the network is called in messages and metadata.
func (r *Run) tunedName() string {
	if name := r.Config.Data.Model; name != "" {
		return filepath.Base(name) + ", fine-tuned"
	}
	return "fine-tuned backbone"
}

// tunedStore returns the store of a fine-tuned network's features of the manifest's images, in the run's folder. Its name
// tells the network and the images: another manifest, or another choice of splits, gets one of its own, unless there
// is one that holds all of them.
func (r *Run) tunedStore(ctx context.Context, b *models.Backbone, meta models.HeadMeta, splits []string) (*features.Store, error) {
	cut, err := models.Prepare(b.Entry, b.Data, meta.Output)
	if err != nil {
		return nil, err
	}
	e := &extraction.Extraction{Paths: features.Distinct(r.pathsOf(splits)), Model: b, Cut: cut}
	if len(e.Paths) == 0 {
		return nil, fmt.Errorf("%s: the manifest has no image in the split %s; it has %s", r.For, strings.Join(splits, " or "), r.Manifest.SplitNames())
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
	if e.Root, err = imageroot.Open(ctx, root); err != nil {
		return nil, hint.With(err, "the backbone was fine-tuned: its features are computed from the images, whose folder --root names")
	}
	r.Host.Note("the backbone was fine-tuned: its features are computed from the images, once, into %s", e.Out)
	s, err := e.Store(ctx, r.Host)
	if errors.Is(err, fs.ErrPermission) {
		return nil, hint.With(err, "the run's folder cannot be written: make the features elsewhere (winnow extract --model %s) and name them with --features", b.Path)
	}
	if err != nil {
		return nil, err
	}
	return s, r.refuseLost(s, root)
}

// refuseLost throws a store away in which images are unreadable that the run could read: they would be left out of
// every measurement from now on, also when they are back, and the rows beside each other would not be of the same
// images.
func (r *Run) refuseLost(s *features.Store, root location.Source) error {
	was, err := features.Open(r.OriginalStore())
	if err != nil {
		return nil // there is nothing to compare with
	}
	before := was.BadRows()
	var lost []features.Bad
	for _, b := range s.Bad {
		if rows, missing := was.Lookup([]string{b.Path}); len(missing) == 0 && before[rows[0]] == "" {
			lost = append(lost, b)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	if err := removeStore(s); err != nil {
		return err
	}
	return hint.With(fmt.Errorf("%s: %d images that the run could read are unreadable below %s, the first is %s: %s", r.Dir, len(lost), root, lost[0].Path, lost[0].Reason),
		"put them back, name their folder with --root, or take them out of the manifest and name it with --manifest")
}

// pathsOf lists the images of some splits, be it of the manifest's or the run's, or of all.
func (r *Run) pathsOf(splits []string) []string {
	var paths []string
	for i, s := range r.Manifest.Samples {
		if len(splits) == 0 || slices.Contains(splits, s.Split) || slices.Contains(splits, r.Given.Samples[i].Split) {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// ImageRoot returns where the images are now: the root that is named, or else that of the training, or where the manifest lies.
func (r *Run) ImageRoot() location.Source {
	return imageroot.Resolve(cmp.Or(r.Root, location.At(r.Config.Data.Root)), r.ManifestFile)
}

// FrozenStore returns the features of the backbone as it was before the run: what training is compared with.
func (r *Run) FrozenStore() (*features.Store, error) {
	if r.Tuned == nil {
		return r.Store, nil
	}
	dir := r.OriginalStore()
	if r.Features != "" && r.Features != r.Store.Dir {
		dir = r.Features
	}
	s, err := features.Open(dir)
	if err != nil {
		return nil, hint.With(err, "the rows frozen and whitened need the features of the backbone as it was: make them with winnow extract, name them with --features")
	}
	facts, err := ReadFacts(r.Dir)
	if err != nil {
		return nil, err
	}
	was := facts.FeaturesKey
	was.Images = s.Key.Images                       // another manifest may have another list
	was.Views, was.DType = s.Key.Views, s.Key.DType // any store of that backbone will do
	was.Decoder = s.Key.Decoder
	if why := s.Key.Differs(was); why != "" {
		return nil, fmt.Errorf("features %s: %s as the run %s was", dir, why, r.Dir)
	}
	if r.View == MeanView {
		s = s.Averaged() // as the fine-tuned network's are
	}
	return s, nil
}

// LastState returns the head that the training ended with, and a store of the network that it belongs to.
func (r *Run) LastState(ctx context.Context) (*head.Head, *features.Store, error) {
	h, meta, err := models.ReadHead(filepath.Join(r.Dir, LastHeadFile))
	if err == nil {
		err = r.owns(LastHeadFile, meta)
	}
	if err != nil || r.Tuned == nil {
		return h, r.Store, err
	}
	network, err := r.TunedBackbone(LastHeadFile, meta)
	if err != nil {
		return nil, nil, err
	}
	s, err := r.tunedStore(ctx, network, meta, []string{datasets.Train, datasets.Validation})
	return h, s, err
}
