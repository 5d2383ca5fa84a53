package measure

import (
	"cmp"
	"context"
	"fmt"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run/folder"
)

// Images holds the stored features of the labelled images to measure on.
type Images struct {
	Split  string          // the measured split; if it is query, Now.Gallery holds the split gallery
	Fitted string          // split of Now.Fit
	Train  features.Stored // features of the train split before fine-tuning, for the whitening
	// Was and Now hold features of the same images before and after fine-tuning. They are equal without fine-tuning.
	Was, Now   folder.Asked[features.Stored]
	Unlabelled int              // number of images left out because they have no label
	LeftOut    []lookup.LeftOut // images that could not be read
}

// findAsked finds the labelled images of a split, by default of the first of [folder.UsualSplits]. It leaves Was, Train
// and Fitted empty.
func findAsked(ctx context.Context, r *folder.Run, split string) (Images, error) {
	images := Images{Split: split, LeftOut: []lookup.LeftOut{}}
	var gallery *features.Stored
	if split == "" {
		usual, err := folder.UsualSplits(r.Manifest)
		if err != nil {
			return images, fmt.Errorf("eval: %w", err)
		}
		switch images.Split = usual[0]; images.Split {
		case datasets.Validation:
			r.Host.Note("the manifest has no test split: using its validation split")
		case datasets.Query:
			g, left, err := lookup.Stored(r.Manifest, r.Store, datasets.Gallery)
			if err != nil {
				return images, err
			}
			if g.Len() == 0 {
				return images, fmt.Errorf("eval: the manifest has a split query, but no readable image in gallery")
			}
			labelled := g.Labelled()
			if labelled.Len() == 0 {
				return images, fmt.Errorf("eval: none of the %d images of the split gallery has a label", g.Len())
			}
			images.Unlabelled = g.Len() - labelled.Len()
			gallery, images.LeftOut = &labelled, append(images.LeftOut, left...)
		}
	}
	query, left, err := lookup.Stored(r.Manifest, r.Store, images.Split)
	if err != nil {
		return images, err
	}
	if query.Len() == 0 {
		return images, fmt.Errorf("eval: the manifest has no readable image in the split %s; it has %s", images.Split,
			r.Manifest.SplitNames())
	}
	images.Unlabelled += query.Len()
	if query = query.Labelled(); query.Len() == 0 {
		return images, fmt.Errorf("eval: none of the images of the split %s has a label", images.Split)
	}
	images.Unlabelled -= query.Len()
	images.LeftOut = append(images.LeftOut, left...)
	images.Now = folder.Asked[features.Stored]{Query: query, Gallery: gallery}
	if gallery != nil {
		images.Now.Same, err = lookup.SameImages(ctx, r.Manifest, query, *gallery)
	}
	return images, err
}

// Read looks up the images to measure on, with their features before and after fine-tuning.
func Read(ctx context.Context, r *folder.Run, o Options) (Images, error) {
	store, err := r.FrozenStore()
	if err != nil {
		return Images{}, err
	}
	images, err := findAsked(ctx, r, o.Split)
	if err != nil {
		return images, err
	}
	if o.needsFit() {
		if err := images.findFit(r, o.Fit); err != nil {
			return images, err
		}
	}
	images.Was = images.Now
	if store != r.Store {
		if images.Was, err = findAskedIn(r.Manifest, store, images.Split, images.Now.Gallery != nil,
			images.Fitted); err != nil {
			return images, err
		}
		images.Was, images.Now = onSameImages(images.Was, images.Now)
	}
	if images.Train, _, err = lookup.Stored(r.Manifest, store, datasets.Train); err != nil {
		return images, err
	}
	if images.Train.Len() == 0 {
		return images, fmt.Errorf("eval: whitening needs training images, but the manifest has no split train; it has "+
			"%s", r.Manifest.SplitNames())
	}
	return images, nil
}

// findFit looks up the images that metrics are fitted on: of the named split, else of the split gallery if it is
// searched, else of the split train.
func (i *Images) findFit(r *folder.Run, split string) error {
	switch {
	case split != "":
	case i.Now.Gallery != nil:
		split = datasets.Gallery
	default:
		split = datasets.Train
	}
	if i.Fitted = split; split == i.Split {
		return hint.Unfit("fit", "%s is the split to measure on, expected another split", split)
	}
	set, _, err := lookup.Stored(r.Manifest, r.Store, split)
	if err != nil {
		return err
	}
	if set = set.Labelled(); set.Len() == 0 {
		return fmt.Errorf("eval: the split %s to fit on has no readable image with a label; the manifest has %s",
			split, r.Manifest.SplitNames())
	}
	i.Now.Fit = &set
	return nil
}

// findAskedIn looks up features in another store: of the labelled images of a split, with gallery also of the split
// gallery, and of the split fit unless it is "".
func findAskedIn(d *datasets.Dataset, store *features.Store, split string, gallery bool,
	fit string) (out folder.Asked[features.Stored], err error) {
	labelled := func(split string) *features.Stored {
		set, _, failed := lookup.Stored(d, store, split)
		err = cmp.Or(err, failed)
		return new(set.Labelled())
	}
	out.Query = *labelled(split)
	if gallery {
		out.Gallery = labelled(datasets.Gallery)
	}
	if fit != "" {
		out.Fit = labelled(fit)
	}
	return out, err
}

// onSameImages leaves out the images that only one of a and b has, such as files repaired since the training.
func onSameImages(a, b folder.Asked[features.Stored]) (x, y folder.Asked[features.Stored]) {
	both := func(p, q *features.Stored) (*features.Stored, *features.Stored) {
		if p == nil || q == nil {
			return nil, nil
		}
		r, s := selectSharedRows(*p, *q), selectSharedRows(*q, *p)
		return &r, &s
	}
	x.Query, y.Query = selectSharedRows(a.Query, b.Query), selectSharedRows(b.Query, a.Query)
	x.Gallery, y.Gallery = both(a.Gallery, b.Gallery)
	x.Fit, y.Fit = both(a.Fit, b.Fit)
	x.Same, y.Same = b.Same, b.Same
	return x, y
}

// selectSharedRows returns the rows of set whose images are also in other.
func selectSharedRows(set, other features.Stored) features.Stored {
	there := make(map[int]bool, other.Len())
	for _, id := range other.IDs {
		there[id] = true
	}
	rows := []int{}
	for i, id := range set.IDs {
		if there[id] {
			rows = append(rows, i)
		}
	}
	if len(rows) == set.Len() {
		return set
	}
	return set.Rows(rows)
}
