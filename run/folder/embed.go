package folder

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/hint"
	"winnow/internal/lookup"
	"winnow/run/config"
	"winnow/train"
)

// OpenStore opens the feature store and the manifest that the options name, as a run without a Head. Its embeddings are
// the stored vectors, normalised to length 1.
func OpenStore(o Options) (*Run, error) {
	o.Host = o.Host.Complete()
	r := &Run{Options: o, Dir: o.Features, ManifestFile: o.Manifest}
	var err error
	if r.Listed, err = datasets.Read(r.ManifestFile, datasets.ReadOptions{Root: o.Root}); err != nil {
		return nil, err
	}
	r.Given, r.Manifest = r.Listed, r.Listed
	if r.Store, err = features.Open(r.Dir); err != nil {
		return nil, err
	}
	r.Store, err = LookAt(r.Store, o.View, o.Host.Note)
	return r, err
}

// Embed embeds a set with the run's head. Without a head, it normalises the stored vectors to length 1.
func (r *Run) Embed(ctx context.Context, set features.Source) (features.Set, error) {
	if r.Head == nil {
		return EmbedFrozen(ctx, set)
	}
	return r.Head.EmbedSet(ctx, set)
}

// Samples embeds the images at these positions of the manifest. It leaves out and reports the images that could not be
// read and those whose vector is all zeros.
func (r *Run) Samples(ctx context.Context, at []int) (features.Set, []lookup.LeftOut, error) {
	rows, ids, left, err := lookup.Rows(r.Manifest, r.Store, at, "")
	if err != nil {
		return features.Set{}, nil, err
	}
	labels := make([]int, len(ids))
	for i, id := range ids {
		labels[i] = r.Manifest.Samples[id].Label
	}
	stored, err := features.NewStored(r.Store, rows, labels, ids)
	if err != nil {
		return features.Set{}, left, err
	}
	set, err := r.Embed(ctx, stored)
	if err != nil {
		return set, left, err
	}
	var with []int
	for i := range set.Len() {
		if slices.ContainsFunc(set.Row(i), func(v float32) bool { return v != 0 }) {
			with = append(with, i)
			continue
		}
		left = append(left, lookup.LeftOut{Path: r.Manifest.Samples[set.IDs[i]].Path,
			Reason: "its vector is all zeros and has no direction"})
	}
	if len(with) < set.Len() {
		set = set.Rows(with)
	}
	return set, left, nil
}

// Inputs returns the files from which the run is read. No output may replace them.
func (r *Run) Inputs() []string {
	list := []string{r.ManifestFile.Path()}
	for _, name := range []string{ConfigFile, BestHeadFile, LastHeadFile, BestBackboneFile, LastBackboneFile, FactsFile,
		ResultFile} {
		list = append(list, filepath.Join(r.Dir, name))
	}
	return append(list, r.Store.Files()...)
}

// Draw returns n random entries of a list in their order, or the whole list if it has at most n. The draw depends on
// seed and purpose.
func Draw(list []int, n int, seed uint64, purpose string) []int {
	if n >= len(list) {
		return list
	}
	drawn := make([]int, 0, n)
	for _, i := range train.Rand(seed, purpose, 0).Perm(len(list))[:n] {
		drawn = append(drawn, list[i])
	}
	slices.Sort(drawn)
	return drawn
}

// AnyUsual returns the splits from which [UsualSplits] chooses.
func AnyUsual() []string { return []string{datasets.Test, datasets.Query, datasets.Gallery} }

// UsualSplits returns the splits to use if none is named: test, or query and gallery, or else validation.
func UsualSplits(d *datasets.Dataset) ([]string, error) {
	for _, splits := range [][]string{{datasets.Test}, {datasets.Query, datasets.Gallery}, {datasets.Validation}} {
		if len(d.Select(splits[0])) > 0 {
			return splits, nil
		}
	}
	return nil, hint.With(fmt.Errorf("the manifest has none of the splits test, query and validation; it has %s",
		d.SplitNames()),
		"name a split with --split; or train on a part and measure on the rest: winnow data import --split, or winnow "+
			"train %s",
		config.Key("validation.hold_out=0.1"))
}

// settleSplits adds the result of UsualSplits to Splits if Splits contains AnyUsual and the manifest has none of these.
func (r *Run) settleSplits() error {
	for _, name := range AnyUsual() {
		if !slices.Contains(r.Splits, name) || len(r.Manifest.Select(name)) > 0 {
			return nil
		}
	}
	usual, err := UsualSplits(r.Manifest)
	r.Splits = slices.Concat(r.Splits, usual)
	return err
}
