package inspect

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"winnow/datasets"
	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/head"
	"winnow/internal/text"
	"winnow/run"
	"winnow/run/extraction"
	"winnow/run/folder"
	"winnow/train"
)

// RateReport is an estimate of the share of wrong labels, without a score for any label.
type RateReport struct {
	Manifest  string             `json:"manifest"`
	Images    int                `json:"images"` // labelled, of the train split
	Estimates []folder.NoiseRate `json:"estimates"`
	True      *float64           `json:"true_rate"` // null if the manifest has no true labels
	Classes   []ClassRate        `json:"classes"`   // by the first estimate, highest rates first

	top int // classes of the text
}

// ClassRate is the estimate for a class.
type ClassRate struct {
	Class  string  `json:"class"`
	Images int     `json:"images"`
	Rate   float64 `json:"rate"`
}

// Rate estimates how many training labels of a manifest are wrong, by each of the methods of package noiserate, from
// the features in one store. The report prints the top classes. progress counts the stages: whitening, then the
// methods.
func Rate(ctx context.Context, in Input, methods []string, top int, seed uint64, progress func(done, total int),
	note func(format string, args ...any)) (r RateReport, err error) {
	d, err := datasets.Read(in.Manifest, datasets.ReadOptions{Once: ctx, Names: in.Columns,
		Root: extraction.PicturesOf(in.Features), Note: note})
	if err != nil {
		return r, err
	}
	data, err := run.Load(ctx, d, in.Features, false)
	if err != nil {
		return r, err
	}
	z, err := head.WhitenSet(ctx, data.Train, head.Widest)
	if err != nil {
		return r, err
	}
	r = RateReport{Manifest: in.Manifest.String(), True: trueRate(d, data.Train), top: top}
	for i, m := range methods {
		progress(i+1, len(methods)+1)
		e, err := noiserate.NewEstimate(ctx, z, len(data.Classes), m, train.Rand(seed, "noise rate", 0))
		if err != nil {
			return r, err
		}
		if r.Estimates = append(r.Estimates, folder.WrittenRate(e)); i == 0 {
			r.Classes = classRates(e, data.Train.Labels, data.Classes)
		}
	}
	for _, y := range data.Train.Labels {
		if y >= 0 {
			r.Images++
		}
	}
	return r, nil
}

// classRates lists the classes, highest rates first.
func classRates(e noiserate.Estimate, labels []int, classes []string) []ClassRate {
	count := make([]int, len(classes))
	for _, y := range labels {
		if y >= 0 {
			count[y]++
		}
	}
	list := []ClassRate{}
	for k, rate := range e.Classes {
		if !math.IsNaN(rate) {
			list = append(list, ClassRate{classes[k], count[k], rate})
		}
	}
	slices.SortStableFunc(list, func(a, b ClassRate) int { return cmp.Compare(b.Rate, a.Rate) })
	return list
}

// trueRate returns the true share of wrong labels among the labelled images, or nil if the manifest has no true labels.
func trueRate(d *datasets.Dataset, set features.Set) *float64 {
	if !d.HasTruth(datasets.Train) {
		return nil
	}
	wrong, all := 0, 0
	for i, id := range set.IDs {
		if set.Labels[i] != features.Unlabelled {
			all++
			if s := d.Samples[id]; s.Label != s.True {
				wrong++
			}
		}
	}
	return new(float64(wrong) / float64(all))
}

// Write writes the estimates, and the classes with the most wrong labels.
func (r RateReport) Write(w io.Writer) error {
	for _, e := range r.Estimates {
		fmt.Fprintf(w, "wrong labels: about %s, %d images judged%s\n", e, e.Judged, noiserate.Caution(e.Method))
	}
	if r.True != nil {
		fmt.Fprintf(w, "the manifest knows: %.1f %% are wrong\n", 100**r.True)
	}
	for _, k := range r.Classes[:min(max(r.top, 0), len(r.Classes))] {
		fmt.Fprintf(w, "  %5.1f %%  %s (%d images)\n", 100*k.Rate, text.Line(text.Shortened(k.Class, 32)), k.Images)
	}
	return nil
}
