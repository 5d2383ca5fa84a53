package run

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/datasets"
	"winnow/features"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/internal/lookup"
)

// Data is the part of a dataset and its features that a training uses. It has no true labels.
type Data struct {
	Train      features.Set     // stored features, not normalised; labels from 0; IDs are dataset positions
	Stored     features.Set     // all stored views of Train: all its rows in the first view, then in the second, …
	Validation features.Set     // labels are the dataset's class ids; empty without a labelled validation split
	Classes    []string         // names of the classes of Train
	ClassIDs   []int            // dataset ids of Classes
	Paths      []string         // image paths of the whole dataset, by position
	LeftOut    []lookup.LeftOut // images of the two splits that could not be read
	Trusted    map[int]bool     // IDs of training rows whose labels people decided; may be nil
	Unlabelled int              // number of rows of Train without a label
	Screened   bool             // labels flagged before the training were removed
	Unjudged   int              // number of images of the validation split without a label
	Sum        string           // SHA-256 of the paths, splits and labels of the images
	Key        features.Key     // key of the feature store
	StoreSum   string           // SHA-256 of the features
	ModelFile  string           // file of the backbone that computed the features; "" if unknown

	white *whitenings // cache; nil: every call computes the whitening
}

// whitenings caches the whitenings of the training rows by dimension and centring.
type whitenings map[whiteningOf]*head.Head

type whiteningOf struct {
	out    int
	centre bool
}

// trainWhitening returns a head that whitens by the training rows; it depends on no label. Callers must not train it.
func (d *Data) trainWhitening(ctx context.Context, out int, centre bool) (*head.Head, error) {
	if d.white == nil {
		return head.Whitening(ctx, d.Train, out, centre)
	}
	kind := whiteningOf{out, centre}
	if white := (*d.white)[kind]; white != nil {
		return white, nil
	}
	white, err := head.Whitening(ctx, d.Train, out, centre)
	if err == nil {
		(*d.white)[kind] = white
	}
	return white, err
}

// judgeWhitening returns the whitening that is applied to features before their labels are scored.
func (d *Data) judgeWhitening(ctx context.Context) (*head.Head, error) {
	return d.trainWhitening(ctx, min(head.Widest, d.Train.Dim(), max(d.Train.Len()-1, 1)), true)
}

// Join looks up the features of the train and validation splits by path.
func Join(ctx context.Context, d *datasets.Dataset, s *features.Store) (Data, error) {
	return joinData(d, s, []string{datasets.Train, datasets.Validation},
		func(set features.Stored) (features.Set, error) { return set.Read(ctx) })
}

// JoinTrain looks up only the features of the train split. Callers must not read the features after free, because they
// may be memory-mapped (features.Stored.View).
func JoinTrain(ctx context.Context, d *datasets.Dataset, s *features.Store) (Data, func() error, error) {
	return joinMapped(ctx, d, s, datasets.Train)
}

// joinMapped looks up the features of some splits. The vectors are memory-mapped from the store's file or from an
// unnamed file (features.Stored.View). Callers must neither write to them nor read them after free.
func joinMapped(ctx context.Context, d *datasets.Dataset, s *features.Store, splits ...string) (t Data,
	free func() error, err error) {
	var held []func() error
	free = func() (err error) {
		for _, f := range held {
			err = errors.Join(err, f())
		}
		held = nil
		return err
	}
	t, err = joinData(d, s, splits, func(stored features.Stored) (features.Set, error) {
		set, let, err := stored.View(ctx)
		if let != nil {
			held = append(held, let)
		}
		return set, err
	})
	if err != nil {
		err = errors.Join(err, free())
	}
	return t, free, err
}

func joinData(d *datasets.Dataset, s *features.Store, splits []string,
	read func(features.Stored) (features.Set, error)) (Data, error) {
	t := Data{Key: s.Key, StoreSum: s.Sum, ModelFile: s.ModelFile}
	sum := sha256.New()
	for _, split := range splits {
		stored, left, err := lookup.Stored(d, s, split)
		if err != nil {
			return t, err
		}
		set, err := read(stored)
		if err != nil {
			return t, err
		}
		to := &t.Train
		if split == datasets.Validation {
			to = &t.Validation
		}
		*to, t.LeftOut = set, append(t.LeftOut, left...)
		for i, id := range set.IDs {
			fmt.Fprintf(sum, "%s\t%q\t%d\n", split, d.Samples[id].Path, set.Labels[i])
		}
	}
	t.Sum = hex.EncodeToString(sum.Sum(nil))
	t.Unjudged = t.Validation.Len()
	t.Validation = t.Validation.Labelled()
	t.Unjudged -= t.Validation.Len()
	t.numberClasses(d.Classes)
	t.Stored, t.Paths = t.Train, d.Paths()
	return t, t.checkTrainData()
}

// Load reads the features in the folder dir and joins them with a manifest. With views, it reads all stored views of
// the training images.
func Load(ctx context.Context, d *datasets.Dataset, dir string, views bool) (Data, error) {
	store, err := openVerified(ctx, dir)
	if err != nil {
		return Data{}, err
	}
	data, err := Join(ctx, d, store)
	if err != nil || !views || store.Views() == 1 {
		return data, err
	}
	return data, data.readViews(ctx, store)
}

// loadMapped does the same as Load with all views, but memory-maps the vectors of a store of one view ([joinMapped]).
func loadMapped(ctx context.Context, d *datasets.Dataset, dir string) (Data, func() error, error) {
	store, err := openVerified(ctx, dir)
	if err != nil {
		return Data{}, nil, err
	}
	if store.Views() == 1 {
		return joinMapped(ctx, d, store, datasets.Train, datasets.Validation)
	}
	data, err := Load(ctx, d, dir, true)
	return data, func() error { return nil }, err
}

// openVerified opens a feature store and verifies its files.
func openVerified(ctx context.Context, dir string) (*features.Store, error) {
	store, err := features.Open(dir)
	if err != nil {
		return nil, hint.With(err, "%s", features.Advice(err))
	}
	if err := store.Verify(ctx); err != nil {
		return nil, hint.With(err, "compute the features again: winnow extract --overwrite")
	}
	return store, nil
}

// TrainPaths returns the path of the image of each row of Train.
func (d *Data) TrainPaths() []string {
	paths := make([]string, d.Train.Len())
	for i, id := range d.Train.IDs {
		paths[i] = d.Paths[id]
	}
	return paths
}

// isClosedSet reports whether there is a validation split and the train split has all its classes.
func (d *Data) isClosedSet() bool {
	unknown := func(y int) bool { return !slices.Contains(d.ClassIDs, y) }
	return d.Validation.Len() > 0 && !slices.ContainsFunc(d.Validation.Labels, unknown)
}

// Views returns the number of views of each training image.
func (d *Data) Views() int { return d.Stored.Len() / max(d.Train.Len(), 1) }

// readViews reads all stored views of the training images into Stored.
func (d *Data) readViews(ctx context.Context, s *features.Store) error {
	paths := d.TrainPaths()
	rows, _ := s.Lookup(paths) // no path is missing, because the first view was read
	x, err := s.ReadViews(ctx, rows)
	if err != nil {
		return err
	}
	n := d.Train.Len()
	d.Train.X = blas32.General{Rows: n, Cols: x.Cols, Stride: x.Stride, Data: x.Data[:n*x.Stride]}
	d.Stored = features.Set{X: x}
	for range s.Views() {
		d.Stored.Labels, d.Stored.IDs = append(d.Stored.Labels, d.Train.Labels...), append(d.Stored.IDs, d.Train.IDs...)
	}
	if i, ok := nonFiniteRow(x); ok {
		return fmt.Errorf("train: %s: the features are not finite: extract them again", paths[i%n])
	}
	return nil
}

// numberClasses numbers the classes of the train split from 0, in the order of the dataset's ids.
func (d *Data) numberClasses(names []string) {
	present := make([]bool, len(names))
	for _, label := range d.Train.Labels {
		if label != datasets.Unlabelled {
			present[label] = true
		}
	}
	ids := make([]int, len(names))
	for label, name := range names {
		if present[label] {
			ids[label] = len(d.Classes)
			d.Classes, d.ClassIDs = append(d.Classes, name), append(d.ClassIDs, label)
		}
	}
	for i, label := range d.Train.Labels {
		if label == datasets.Unlabelled {
			d.Train.Labels[i] = features.Unlabelled
			d.Unlabelled++
			continue
		}
		d.Train.Labels[i] = ids[label]
	}
}

// datasetLabels returns the labels of Train as class ids of the dataset, like the labels of Validation.
func (d *Data) datasetLabels() []int {
	ids := make([]int, d.Train.Len())
	for i, label := range d.Train.Labels {
		if ids[i] = label; label != features.Unlabelled {
			ids[i] = d.ClassIDs[label]
		}
	}
	return ids
}

// checkLearnable returns an error if the train split of a manifest has no images, no labels or only one class.
func checkLearnable(d *datasets.Dataset) error {
	present := make([]bool, len(d.Classes))
	rows := d.Select(datasets.Train)
	if len(rows) == 0 && len(d.Samples) > 0 {
		return hint.With(fmt.Errorf("%w; it has %s", tooLittle(0, nil), d.SplitNames()), "winnow data import "+
			"--split assigns splits again; in nested folders, name the folder that contains the class folders")
	}
	for _, i := range rows {
		if label := d.Samples[i].Label; label != datasets.Unlabelled {
			present[label] = true
		}
	}
	var classes []string
	for label, name := range d.Classes {
		if present[label] {
			classes = append(classes, name)
		}
	}
	return tooLittle(len(rows), classes)
}

// tooLittle returns an error unless a train split with this many images and these classes can train an embedding.
func tooLittle(images int, classes []string) error {
	switch {
	case images == 0:
		return fmt.Errorf("train: the manifest has no images in the split %q", datasets.Train)
	case len(classes) == 0:
		return fmt.Errorf("train: none of the %d images of the train split has a label", images)
	case len(classes) == 1:
		return fmt.Errorf("train: the train split has one class, %q: expected at least two", classes[0])
	}
	return nil
}

// checkTrainData returns an error for data that cannot train an embedding, or with features that are not finite.
func (d *Data) checkTrainData() error {
	if len(d.LeftOut) > 0 && d.Train.Len() == 0 {
		return fmt.Errorf("train: none of the images of the train split could be read, the first is %q: %s",
			d.LeftOut[0].Path, d.LeftOut[0].Reason)
	}
	if err := tooLittle(d.Train.Len(), d.Classes); err != nil {
		return err
	}
	for _, set := range []features.Set{d.Train, d.Validation} {
		if i, ok := nonFiniteRow(set.X); ok {
			return fmt.Errorf("train: %s: the features are not finite: extract them again", d.Paths[set.IDs[i]])
		}
	}
	return nil
}

// nonFiniteRow returns the first row that contains a NaN or an infinity.
func nonFiniteRow(x blas32.General) (int, bool) {
	for i := range x.Rows {
		for _, v := range features.Row(x, i) {
			if v-v != 0 {
				return i, true
			}
		}
	}
	return 0, false
}
