package inspect

import (
	"context"
	"fmt"
	"io/fs"
	"time"

	"winnow/audit"
	"winnow/audit/findings"
	"winnow/backbone"
	"winnow/datasets"
	"winnow/datasets/imageroot"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/text"
	"winnow/run/config"
	"winnow/run/extraction"
	"winnow/run/tuning"
)

// readImages sets the material to the images of all splits, or of the splits in.Splits, embedded by a backbone. It
// computes the features missing in the store, always for all images, so that one store serves every choice of splits.
func (m *material) readImages(ctx context.Context, in Input, h Host) error {
	in.Images = in.Images.Clean()
	layout, err := datasets.LayoutOf(ctx, in.Images)
	if err != nil && in.Images.IsRemote() {
		return fmt.Errorf("audit: %w", err)
	}
	if err != nil {
		return fmt.Errorf("audit: %s: there is no such run folder, folder of images, .zip file or manifest", in.Images)
	}
	opts := datasets.ReadOptions{Names: in.Columns, Root: in.Root, Note: h.Note, Conflicts: in.Conflicts}
	if layout == datasets.Shards || layout == datasets.Folder { // list a large folder only once
		opts.Once = ctx
	}
	whole, err := datasets.Read(in.Images, opts)
	if err != nil {
		return err
	}
	root := imageroot.Resolve(in.Root, in.Images)
	files, err := imageroot.Open(ctx, root)
	if err == nil && layout == datasets.File && !root.IsRemote() {
		err = whole.CheckList(ctx, files)
	}
	if err != nil {
		return fmt.Errorf("audit: %s: %w", in.Images, err)
	}
	if err := m.readDataset(in, whole, nil, h.Note); err != nil {
		return err
	}
	if err := m.checkTwoClasses(in); err != nil {
		return err
	}
	name, why := in.Model, "as asked"
	if name == "" {
		if name, why, err = extraction.Choose(whole.Classes); err != nil {
			return fmt.Errorf("audit: %w", err)
		}
	}
	e, err := extraction.Look(name, files, whole.Paths(), h.Host)
	if err != nil {
		return err
	}
	e.From, e.Out, e.Memory, e.Contents = root, in.Features, m.options.MaxMem, in.Contents
	if err := e.Fit(ctx, h.Host, func() (*datasets.Dataset, error) { return whole, nil }); err != nil {
		return err
	}
	if err := m.setTuning(in.Tuning, h, func(f config.Finetune) (*tuning.Live, error) {
		return tuning.New(tuning.Config{Backbone: e.Model, Cut: e.Cut, Settings: f, Root: files,
			RootName: root.String(), Paths: whole.Paths(), Batch: extraction.UsualBatch, Note: h.Note})
	}); err != nil {
		return err
	}
	h.Note("%d images in %d classes, embedded with %s, %s", len(whole.Samples), len(whole.Classes), e.Model.Name, why)
	if err := m.extractFeatures(ctx, e, h); err != nil {
		return err
	}
	looks, err := e.Looks(ctx, m.store, nil)
	if err != nil {
		return err
	}
	if err := m.joinStore(ctx); err != nil {
		return err
	}
	look := make(map[string]backbone.Look, len(looks))
	for i, path := range e.Paths {
		look[path] = looks[i]
	}
	m.by.Same, m.by.Hashes = m.samePictures(files), m.listHashes(look)
	m.report.from, m.report.root, m.report.Model, m.report.Store = in.Images, in.Root, e.Model.Name, m.store.Dir
	began := time.Now()
	m.judged = func(a *Report) {
		h.Note("%s scored in %s", text.Plural(len(a.Images), "image"), time.Since(began).Round(time.Second/10))
		a.findProblems(e.Paths, looks)
	}
	return nil
}

// checkTwoClasses returns an error if fewer than two classes have two images to audit.
func (m *material) checkTwoClasses(in Input) error {
	images, classes := map[int]int{}, 0
	for _, s := range m.d.Samples {
		if s.Split == datasets.Train && s.Label != datasets.Unlabelled {
			if images[s.Label]++; images[s.Label] == 2 {
				classes++
			}
		}
	}
	if classes < 2 {
		return hint.With(fmt.Errorf("audit: %s: found %d classes with two images or more, of %d with labelled images; "+
			"expected at least two", in.Images, classes, len(images)),
			"a folder needs a subfolder of images for each class, a manifest needs the columns path and label")
	}
	return nil
}

// extractFeatures creates or updates the store of the images' features, and opens it.
func (m *material) extractFeatures(ctx context.Context, e *extraction.Extraction, h Host) error {
	took, tried, err := e.Expect(ctx, h.Host)
	if err != nil {
		return err
	}
	timed := ""
	if took > 0 {
		timed = fmt.Sprintf(", about %s (%d were timed)", text.About(took), tried)
	}
	h.Note("step 1 of 2: features of %s%s; step 2: score the labels", text.Plural(len(e.Paths), "image"), timed)
	h.Stage("extract", took)
	did, err := e.Update(ctx, h.Host)
	if err != nil {
		return err
	}
	if did.Complete {
		h.Note("%s: the features of an earlier audit are reused", e.Out)
	} else if n := did.Rows - did.Resumed; n > 0 {
		h.Note("%s: %s in %s on %s", e.Out, text.Plural(n, "image"),
			time.Duration(did.Seconds*float64(time.Second)).Round(time.Second/10), did.Device)
	}
	h.Note("step 2 of 2: score %s", text.Plural(len(m.d.Select(datasets.Train)), "image"))
	h.Stage("score", 0)
	m.store, err = features.Open(e.Out)
	return err
}

// samePictures returns the function with which an audit tests whether the two images of each pair are duplicates.
func (m *material) samePictures(root fs.FS) func(context.Context, []audit.Pair) ([]bool, error) {
	d, ids := m.d, m.set.IDs
	return func(ctx context.Context, pairs []audit.Pair) ([]bool, error) {
		files := make([][2]string, len(pairs))
		for i, p := range pairs {
			files[i] = [2]string{d.Samples[ids[p.A]].Path, d.Samples[ids[p.B]].Path}
		}
		return backbone.SamePictures(ctx, root, files)
	}
}

// listHashes returns two perceptual hashes for each image of set: of the image as it is, and mirrored.
func (m *material) listHashes(look map[string]backbone.Look) [][2]findings.Hash {
	list := make([][2]findings.Hash, len(m.set.IDs))
	for i, id := range m.set.IDs {
		if h := look[m.d.Samples[id].Path].Hash; h != (backbone.Hash{}) {
			list[i] = [2]findings.Hash{findings.Hash(h), findings.Hash(h.Mirrored())}
		}
	}
	return list
}
