package inspect

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"slices"

	"winnow/datasets"
	"winnow/filters/noiserate"
	"winnow/head"
	"winnow/internal/text"
	"winnow/run/folder"
	"winnow/train"
)

// RateReport is an estimate of the share of wrong labels, without a score for any label.
type RateReport struct {
	Images   int              `json:"images"` // labelled, among those to judge
	Estimate folder.NoiseRate `json:"estimate"`
	True     *float64         `json:"true_rate"` // null if the manifest has no true labels
	Classes  []ClassRate      `json:"classes"`   // highest rates first

	top int // classes of the text
}

// ClassRate is the estimate for a class.
type ClassRate struct {
	Class  string  `json:"class"`
	Images int     `json:"images"`
	Rate   float64 `json:"rate"`
}

// EstimateRate estimates how many labels of a manifest with stored features are wrong, by a method of package
// noiserate; "": the usual one. The report prints the top classes.
func EstimateRate(ctx context.Context, in Input, method string, top int, seed uint64, h Host) (RateReport, error) {
	h.Host = h.Complete()
	r, m := RateReport{Classes: []ClassRate{}, top: top}, new(material)
	err := m.readStored(ctx, in, h)
	if m.free != nil {
		defer func() { _ = m.free() }()
	}
	if err != nil {
		return r, err
	}
	z, err := head.WhitenSet(ctx, m.set, head.Widest)
	if err != nil {
		return r, err
	}
	e, err := noiserate.NewEstimate(ctx, z, len(m.classes), cmp.Or(method, noiserate.Auto),
		train.Rand(seed, "noise rate", 0))
	if err != nil {
		return r, err
	}
	r.Estimate = folder.WrittenRate(e)
	count, wrong := make([]int, len(m.classes)), 0
	for i, y := range m.set.Labels {
		if y >= 0 {
			count[y]++
			r.Images++
			if s := m.d.Samples[m.set.IDs[i]]; s.Label != s.True {
				wrong++
			}
		}
	}
	if m.d.HasTruth(datasets.Train) {
		r.True = new(float64(wrong) / float64(r.Images))
	}
	for k, rate := range e.Classes {
		if !math.IsNaN(rate) {
			r.Classes = append(r.Classes, ClassRate{m.classes[k], count[k], rate})
		}
	}
	slices.SortStableFunc(r.Classes, func(a, b ClassRate) int { return cmp.Compare(b.Rate, a.Rate) })
	return r, nil
}

// Write writes the estimate, and the classes with the most wrong labels.
func (r RateReport) Write(w io.Writer) error {
	fmt.Fprintf(w, "wrong labels: about %s, %d images judged%s\n", r.Estimate, r.Estimate.Judged,
		noiserate.Caution(r.Estimate.Method))
	if r.True != nil {
		fmt.Fprintf(w, "by the true labels of the manifest: %.1f %% are wrong\n", 100**r.True)
	}
	for _, k := range text.First(r.Classes, r.top) {
		fmt.Fprintf(w, "  %5.1f %%  %s (%d images)\n", 100*k.Rate, text.Line(text.Shortened(k.Class, 32)), k.Images)
	}
	return nil
}
