package inspect

import (
	"context"
	"fmt"
	"slices"

	"winnow/audit"
	"winnow/datasets"
	"winnow/features"
	"winnow/filters"
	"winnow/head"
	"winnow/internal/lookup"
)

// Embedding judges the labelled rows of set, whose IDs are positions in d, by a filter's scorer in the embedding of a
// head. It finds nothing but suspects.
func Embedding(ctx context.Context, h *head.Head, set features.Set, d *datasets.Dataset, filter filters.Config,
	maxMem int64) (*Report, error) {
	j := judged{d: d, classes: d.Classes, head: h}
	j.opts = audit.Options{Scorer: filter.Scorer, Filter: &filter, Rate: &filter.Rate, MaxMem: maxMem, JustRank: true}
	z, err := j.embedThroughHead(ctx, set.Labelled())
	if err != nil {
		return nil, err
	}
	return j.reportOn(ctx, z, func(string, ...any) {})
}

// asJudged returns the dataset as it is judged: its training images, or all.
func (o auditing) asJudged(d *datasets.Dataset) *datasets.Dataset {
	if !o.IncludeEval {
		return d
	}
	o.Note("images of all splits are judged and cleaned: what is measured on them from now on depends on these scores")
	all := *d
	all.Samples = slices.Clone(d.Samples)
	for i := range all.Samples {
		all.Samples[i].Split = datasets.Train
	}
	return &all
}

// judged is a set of images to judge in an embedding.
type judged struct {
	set     features.Stored // features that the head embeds; IDs are positions in d
	d       *datasets.Dataset
	classes []string // of the set's labels
	head    *head.Head
	opts    audit.Options
	audit.Auditor
	left []lookup.LeftOut

	backbone string // file of the network that made the features, if a run trained it
}

// embedThroughHead puts features through the head.
func (j *judged) embedThroughHead(ctx context.Context, set features.Source) (features.Set, error) {
	if set.Len() < 2 {
		return features.Set{}, fmt.Errorf("audit: %d labelled, readable training images, expected at least 2",
			set.Len())
	}
	return j.head.EmbedSet(ctx, set)
}

// reportJudged judges the set and names what is found.
func (j *judged) reportJudged(ctx context.Context, note func(string, ...any)) (*Report, error) {
	z, err := j.embedThroughHead(ctx, j.set)
	if err != nil {
		return nil, err
	}
	return j.reportOn(ctx, z, note)
}

// reportOn is report for a set that is embedded already.
func (j *judged) reportOn(ctx context.Context, z features.Set, note func(string, ...any)) (*Report, error) {
	j.opts.Classes = len(j.classes)
	result, err := j.Run(ctx, z, j.opts)
	if err != nil {
		return nil, err
	}
	a := Report{LeftOut: j.left, Backbone: j.backbone}
	return &a, a.nameResult(result, z.IDs, j.d, j.classes, note)
}
