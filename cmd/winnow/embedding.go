package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/features"
	"winnow/internal/lookup"
	"winnow/run/comparison"
	"winnow/run/folder"
	"winnow/train"
)

// openEmbedding opens the run folder that a command is given or, without one, the store --features with the labels of
// --manifest: such a run has no Head, and embeds images as they are stored. splits as for openRunArg.
func openEmbedding(c *cli.Context, splits ...string) (*openedRun, error) {
	if c.NArg() > 0 {
		return openRunArg(c, splits...)
	}
	if !c.IsSet("features") || !c.IsSet("manifest") {
		return nil, misused("winnow %s takes a run folder, or --features DIR with --manifest FILE: found neither", c.Command.Name)
	}
	if v := c.String("view"); v != "center" && v != folder.MeanView {
		return nil, misused("--view: found %q, expected center or %s", v, folder.MeanView)
	}
	r := &openedRun{&folder.Run{Options: folder.Options{View: c.String("view")}, Dir: c.String("features"), ManifestFile: c.String("manifest")}}
	var err error
	if r.Manifest, err = datasets.Read(r.ManifestFile, datasets.ReadOptions{}); err != nil {
		return nil, err
	}
	if r.Store, err = features.Open(r.Dir); err != nil {
		return nil, err
	}
	r.Store, err = folder.LookAt(r.Store, c.String("view"), noter(c))
	return r, err
}

// embedSet is set on the unit sphere: through the run's head, or as it is stored.
func (r *openedRun) embedSet(set features.Set) (features.Set, error) {
	if r.Head == nil {
		return comparison.Frozen(set)
	}
	return r.Head.EmbedSet(set)
}

// samplesAt embeds images at positions of the manifest. What cannot be read, or is all zeros and has no direction, is
// left out and reported.
func (r *openedRun) samplesAt(at []int) (features.Set, []lookup.LeftOut, error) {
	rows, ids, left, err := lookup.Rows(r.Manifest, r.Store, at, "")
	if err != nil {
		return features.Set{}, nil, err
	}
	set := features.Set{IDs: ids, Labels: make([]int, len(ids))}
	for i, id := range ids {
		set.Labels[i] = r.Manifest.Samples[id].Label
	}
	if len(rows) == 0 {
		return set, left, nil
	}
	if set.X, err = r.Store.Read(rows); err != nil {
		return set, left, err
	}
	if set, err = r.embedSet(set); err != nil {
		return set, left, err
	}
	var with []int
	for i := range set.Len() {
		if slices.ContainsFunc(set.Row(i), func(v float32) bool { return v != 0 }) {
			with = append(with, i)
			continue
		}
		left = append(left, lookup.LeftOut{Path: r.Manifest.Samples[set.IDs[i]].Path, Reason: "its vector is all zeros: it is near nothing"})
	}
	if len(with) < set.Len() {
		set = set.Rows(with)
	}
	return set, left, nil
}

// drawSome keeps n of a list, drawn by seed for a purpose, in their order; all where there are no more.
func drawSome(list []int, n int, seed uint64, purpose string) []int {
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

// usualSplits are those to look at where none is named: test, or query and gallery.
func usualSplits(d *datasets.Dataset) (string, error) {
	if len(d.Select(datasets.Test)) > 0 {
		return datasets.Test, nil
	}
	if len(d.Select(datasets.Query)) > 0 {
		return datasets.Query + "," + datasets.Gallery, nil
	}
	return "", withHint(fmt.Errorf("the manifest has neither a test split nor query and gallery; it has %s", d.SplitNames()), "name one with --split")
}
