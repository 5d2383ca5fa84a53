package measure

import (
	"cmp"
	"context"
	"math"
	"slices"

	"winnow/cluster"
	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/head"
	"winnow/internal/hint"
	"winnow/run"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/train"
)

// NoiseReport is an estimate of the share of wrong labels from stored features.
type NoiseReport struct {
	Manifest  string             `json:"manifest"`
	Images    int                `json:"images"` // labelled, of the train split
	Estimates []folder.NoiseRate `json:"estimates"`
	True      *float64           `json:"true_rate"` // null if the manifest has no true labels
	Classes   []ClassNoise       `json:"classes"`   // by the first estimate, highest rates first

	top int // classes of the text
}

// ClassNoise is the estimate for a class.
type ClassNoise struct {
	Class  string  `json:"class"`
	Images int     `json:"images"`
	Rate   float64 `json:"rate"`
}

// NoiseOptions say how to estimate the wrong labels of the train split. Parts whose options differ as
// JSON are not joined.
type NoiseOptions struct {
	Manifest  location.Source `json:"-"` // file or folder
	Named     string          `json:"-"` // Manifest as the user wrote it
	Features  string          `json:"-"` // store
	Methods   []string
	Seed      uint64
	FitSample int           // images to fit to, beside sums over all; 0: compare all at once on one machine
	Top       int           // classes to print
	Out       string        `json:"-"` // file for the report; "": none
	Shard     cluster.Shard `json:"-"`
	Winnow    string        `json:"-"` // version of the program
}

// Noise estimates how many labels of the train split are wrong, by each of the methods, from the features in a store.
// The result is a [NoiseReport], which it saves, or the part of a shard. progress counts the stages: whitening, then
// the methods; with a sample, images.
func Noise(ctx context.Context, o NoiseOptions, progress func(done, total int),
	note func(format string, args ...any)) (cluster.Result, error) {
	o.Named = cmp.Or(o.Named, o.Manifest.String())
	estimate := o.together
	switch {
	case o.FitSample < 0:
		return nil, hint.Unfit("fit-sample", "found %d, expected 1 or more", o.FitSample)
	case o.FitSample > 0:
		estimate = o.bySample
	case !o.Shard.Whole():
		return nil, hint.Unfit("shard", "only an estimate by a sample can be divided: expected a fit sample, for "+
			"example of 100000 images")
	}
	r, err := estimate(ctx, progress, note)
	if err != nil || !o.Shard.Whole() {
		return r, err
	}
	return r, cluster.Save(o.Out, r)
}

// readManifest reads the manifest; boxes may need the pictures that the features were made of.
func (o NoiseOptions) readManifest(ctx context.Context, note func(string, ...any)) (*datasets.Dataset, error) {
	root := extraction.PicturesOf(o.Features)
	return datasets.Read(o.Manifest, datasets.ReadOptions{Once: ctx, Root: root, Note: note})
}

// together compares all images at once.
func (o NoiseOptions) together(ctx context.Context, progress func(done, total int),
	note func(format string, args ...any)) (cluster.Result, error) {
	d, err := o.readManifest(ctx, note)
	if err != nil {
		return nil, err
	}
	data, err := run.Load(ctx, d, o.Features, false)
	if err != nil {
		return nil, err
	}
	z, err := head.WhitenSet(ctx, data.Train, head.Widest)
	if err != nil {
		return nil, err
	}
	var list []noiserate.Estimate
	for i, m := range o.Methods {
		progress(i+1, len(o.Methods)+1)
		e, err := noiserate.NewEstimate(ctx, z, len(data.Classes), m, train.Rand(o.Seed, "noise rate", 0))
		if err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return newNoiseReport(o, list, d, data.Train.IDs, data.Train.Labels, data.Classes), nil
}

// newNoiseReport names the estimates for images with positions ids in d.
func newNoiseReport(o NoiseOptions, list []noiserate.Estimate, d *datasets.Dataset, ids, labels []int,
	classes []string) NoiseReport {
	r := NoiseReport{Manifest: o.Named, True: trueRate(d, ids, labels), top: o.Top}
	count := make([]int, len(classes))
	for _, y := range labels {
		if y >= 0 {
			count[y]++
			r.Images++
		}
	}
	for i, e := range list {
		r.Estimates = append(r.Estimates, folder.WrittenRate(e))
		if i == 0 {
			r.Classes = classRates(e, count, classes)
		}
	}
	return r
}

// classRates lists the classes, highest rates first.
func classRates(e noiserate.Estimate, count []int, classes []string) []ClassNoise {
	list := []ClassNoise{}
	for k, rate := range e.Classes {
		if !math.IsNaN(rate) {
			list = append(list, ClassNoise{classes[k], count[k], rate})
		}
	}
	slices.SortStableFunc(list, func(a, b ClassNoise) int { return cmp.Compare(b.Rate, a.Rate) })
	return list
}

// trueRate returns the true share of wrong labels among the labelled images, or nil if the manifest has no true labels.
func trueRate(d *datasets.Dataset, ids, labels []int) *float64 {
	if !d.HasTruth(datasets.Train) {
		return nil
	}
	wrong, all := 0, 0
	for i, id := range ids {
		if labels[i] != features.Unlabelled {
			all++
			if s := d.Samples[id]; s.Label != s.True {
				wrong++
			}
		}
	}
	return new(float64(wrong) / float64(all))
}
