// Package lookup finds the images of a manifest in a feature store.
package lookup

import (
	"context"
	"fmt"

	"winnow/cluster"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/internal/hint"
)

// LeftOut is an image of a manifest that was left out, with the reason.
type LeftOut struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Unreadable lists the images that could not be read. The result is never nil.
func Unreadable(bad []features.Bad) []LeftOut {
	left := make([]LeftOut, len(bad))
	for i, b := range bad {
		left[i] = LeftOut{b.Path, b.Reason}
	}
	return left
}

// Stored joins one split of a manifest with the stored features of its images, without reading the features. Labels are
// the dataset's class ids, IDs are positions in the dataset. Unreadable images are left out and reported.
func Stored(d *datasets.Dataset, s *features.Store, split string) (set features.Stored, left []LeftOut, err error) {
	rows, ids, left, err := Rows(d, s, d.Select(split), split+" ")
	if err != nil {
		return set, nil, err
	}
	labels := make([]int, len(ids))
	for i, id := range ids {
		labels[i] = d.Samples[id].Label
	}
	set, err = features.NewStored(s, rows, labels, ids)
	return set, left, err
}

// Split is [Stored] with the features read into memory.
func Split(ctx context.Context, d *datasets.Dataset, s *features.Store, split string) (
	set features.Set, left []LeftOut, err error) {
	stored, left, err := Stored(d, s, split)
	if err == nil {
		set, err = stored.Read(ctx)
	}
	return set, left, err
}

// Rows finds the images at the given positions of a manifest in a store. ids are the positions of the readable images
// (at itself if all are readable), rows their rows in the store. which describes the images in errors: "train " for
// example, or "" for all images.
func Rows(d *datasets.Dataset, s *features.Store, at []int, which string) (rows, ids []int, left []LeftOut, err error) {
	found := make([]int, len(at))
	var missing []string
	for i, id := range at {
		if found[i] = s.Row(d.Samples[id].Path); found[i] < 0 {
			missing = append(missing, d.Samples[id].Path)
		}
	}
	if out, shard, ok := cluster.PartOf(location.At(s.Dir)); ok && len(missing) > 0 {
		return nil, nil, nil, hint.With(
			fmt.Errorf("features %s: is shard %v, which lacks %d of the %d %simages",
				s.Dir, shard, len(missing), len(at), which),
			"join all shards first: winnow join %s", out)
	}
	if len(missing) > 0 {
		return nil, nil, nil, hint.With(
			fmt.Errorf("features %s: %d of the %d %simages are not in the store, the first is %q",
				s.Dir, len(missing), len(at), which, missing[0]),
			"extract again with this manifest: winnow extract --manifest FILE --root DIR --model MODEL --out DIR")
	}
	bad := s.BadRows()
	if len(bad) == 0 {
		return found, at, nil, nil
	}
	rows, ids = found[:0], make([]int, 0, len(at))
	for i, id := range at {
		if reason, ok := bad[found[i]]; ok {
			left = append(left, LeftOut{d.Samples[id].Path, reason})
			continue
		}
		rows, ids = append(rows, found[i]), append(ids, id)
	}
	return rows, ids, left, nil
}
