package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"winnow/backbone"
	"winnow/datasets/imageroot"
	"winnow/features"
	"winnow/models"
	"winnow/runs"
)

// trainFeatures is the store that winnow train makes in a run's folder where it is given none.
const trainFeatures = "features"

// originalStore is where the features of the backbone as it was before the run should be.
func (r *openedRun) originalStore() string {
	if dir := r.Config.Data.Features; dir != "" {
		return dir
	}
	return filepath.Join(r.Dir, trainFeatures)
}

// openTuned finds the fine-tuned network of the run's head and the features that it gives of the manifest's images,
// which are computed here, once, if no command before has done so. The frozen features are no help: the head was
// not trained on them.
func (r *openedRun) openTuned(c *cli.Context, splits []string) (err error) {
	if r.tuned, err = r.tunedBackbone(r.HeadFile, r.Meta); err != nil {
		return err
	}
	if c.IsSet("features") { // of the network as it is now, or as it was
		s, err := features.Open(c.String("features"))
		if err != nil {
			return err
		}
		if s.Key.Model == r.Meta.ModelSHA256 {
			r.Store = s
			return nil
		}
	}
	r.Store, err = r.tunedStore(c, r.tuned, r.Meta, splits)
	return err
}

// tunedBackbone reads the network beside a head and sees that they belong together.
func (r *openedRun) tunedBackbone(headFile string, meta models.HeadMeta) (*models.Backbone, error) {
	path := filepath.Join(r.Dir, runs.BackboneFile(headFile))
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, withHint(fmt.Errorf("%s: holds no %s, which %s was trained with", r.Dir, runs.BackboneFile(headFile), headFile), "go on with the training, which writes it anew: winnow train --out %s --resume; or put it back", r.Dir)
	}
	if err != nil {
		return nil, err
	}
	if sum := models.Sum(data); sum != meta.ModelSHA256 {
		return nil, withHint(fmt.Errorf("%s: found sha256 %.12s…, but %s was trained with the network of %.12s…", path, sum, headFile, meta.ModelSHA256),
			"writing one of them was cut off, or they are of two runs: go on with the training, which writes both anew: winnow train --out %s --resume", r.Dir)
	}
	b := &models.Backbone{Path: path, Data: data}
	b.Name, b.File, b.SHA256, b.Output = r.tunedName(), path, meta.ModelSHA256, meta.Output
	b.Preprocessing, err = backbone.ParsePreprocessing(meta.Preprocessing)
	return b, err
}

// tunedFile is where the network lies that the run trained, "" where it trained none.
func (r *openedRun) tunedFile() string {
	if r.tuned == nil {
		return ""
	}
	return r.tuned.Path
}

// tunedName is what the network is called in messages and metadata.
func (r *openedRun) tunedName() string {
	if name := r.Config.Data.Model; name != "" {
		return filepath.Base(name) + ", fine-tuned"
	}
	return "fine-tuned backbone"
}

// tunedStore is the store of a fine-tuned network's features of the manifest's images, in the run's folder. Its name
// tells the network and the images: another manifest, or another choice of splits, gets one of its own, unless there
// is one that holds all of them.
func (r *openedRun) tunedStore(c *cli.Context, b *models.Backbone, meta models.HeadMeta, splits []string) (*features.Store, error) {
	cut, err := models.Prepare(b.Entry, b.Data, meta.Output)
	if err != nil {
		return nil, err
	}
	e := &extraction{paths: distinct(r.pathsOf(splits)), model: b, cut: cut}
	if len(e.paths) == 0 {
		return nil, fmt.Errorf("%s: the manifest has no image in the split %s; it has %s", c.Command.Name, strings.Join(splits, " or "), splitNames(r.Manifest))
	}
	e.cfg = backbone.ExtractConfig{Preprocessing: b.Preprocessing, Batch: extractBatch}
	ofNetwork := filepath.Join(r.Dir, runs.TunedStorePrefix+b.SHA256[:8])
	made, err := filepath.Glob(ofNetwork + "-*")
	if err != nil {
		return nil, err
	}
	for _, dir := range made {
		if s, err := features.Open(dir); err == nil && s.Key.Model == b.SHA256 {
			if _, missing := s.Lookup(e.paths); len(missing) == 0 {
				note(c, "features of the fine-tuned backbone: %s", dir)
				return s, nil
			}
		}
	}
	e.out = ofNetwork + "-" + features.HashPaths(e.paths)[:8]
	root := imageroot.Of(r.imageRoot(c), r.ManifestFile)
	if e.root, err = imageroot.Open(root); err != nil {
		return nil, withHint(err, "the backbone was fine-tuned: its features are computed from the images, whose folder --root names")
	}
	note(c, "the backbone was fine-tuned: its features are computed from the images, once, into %s", e.out)
	s, err := e.store(c)
	if errors.Is(err, fs.ErrPermission) {
		return nil, withHint(err, "the run's folder cannot be written: make the features elsewhere (winnow extract --model %s) and name them with --features", b.Path)
	}
	if err != nil {
		return nil, err
	}
	return s, r.refuseLost(s, root)
}

// refuseLost throws a store away in which images are unreadable that the run could read: they would be left out of
// every measurement from now on, also when they are back, and the rows beside each other would not be of the same
// images.
func (r *openedRun) refuseLost(s *features.Store, root string) error {
	was, err := features.Open(r.originalStore())
	if err != nil {
		return nil // nobody knows
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
	if err := runs.RemoveStore(s); err != nil {
		return err
	}
	return withHint(fmt.Errorf("%s: %d images that the run could read are unreadable below %s, the first is %s: %s", r.Dir, len(lost), root, lost[0].Path, lost[0].Reason),
		"put them back, name their folder with --root, or take them out of the manifest and name it with --manifest")
}

// pathsOf are the images of some splits, or of all.
func (r *openedRun) pathsOf(splits []string) []string {
	var paths []string
	for _, s := range r.Manifest.Samples {
		if len(splits) == 0 || slices.Contains(splits, s.Split) {
			paths = append(paths, s.Path)
		}
	}
	return paths
}

// imageRoot is --root, or the folder of the images at the training.
func (r *openedRun) imageRoot(c *cli.Context) string {
	if c.IsSet("root") {
		return c.String("root")
	}
	return r.Config.Data.Root
}

// frozenStore is the features of the backbone as it was before the run: what training is compared with.
func (r *openedRun) frozenStore(c *cli.Context) (*features.Store, error) {
	if r.tuned == nil {
		return r.Store, nil
	}
	dir := r.originalStore()
	if c.IsSet("features") && c.String("features") != r.Store.Dir {
		dir = c.String("features")
	}
	s, err := features.Open(dir)
	if err != nil {
		return nil, withHint(err, "the rows frozen and whitened need the features of the backbone as it was: make them with winnow extract, name them with --features")
	}
	facts, err := runs.ReadFacts(r.Dir)
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
	if c.String("view") == meanView {
		s = s.Averaged() // as the fine-tuned network's are
	}
	return s, nil
}
