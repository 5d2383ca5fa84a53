package inspect

import (
	"context"
	"fmt"
	"io"

	"winnow/datasets"
	"winnow/filters/noiserate"
	"winnow/head"
	"winnow/run/folder"
)

// RateReport is an estimate of the share of wrong labels, without a score for any label.
type RateReport struct {
	Images   int              `json:"images"` // labelled, among those to judge
	Estimate folder.NoiseRate `json:"estimate"`
	True     *float64         `json:"true_rate"` // null if the manifest has no true labels
}

// EstimateRate estimates how many labels of a manifest with stored features are wrong
// (package noiserate).
func EstimateRate(ctx context.Context, in Input, h Host) (r RateReport, err error) {
	h.Host = h.Complete()
	m := new(material)
	err = m.readStored(ctx, in, h)
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
	e, err := noiserate.NewEstimate(ctx, z, len(m.classes))
	if err != nil {
		return r, err
	}
	r.Estimate = folder.WrittenRate(e)
	wrong := 0
	for i, y := range m.set.Labels {
		if y >= 0 {
			r.Images++
			if s := m.d.Samples[m.set.IDs[i]]; s.Label != s.True {
				wrong++
			}
		}
	}
	if m.d.HasTruth(datasets.Train) {
		r.True = new(float64(wrong) / float64(r.Images))
	}
	return r, nil
}

// Write writes the estimate for people.
func (r RateReport) Write(w io.Writer) error {
	fmt.Fprintf(w, "wrong labels: about %s, %d images judged; it finds few or none of the systematic mistakes, "+
		"such as one class taken for another\n", r.Estimate, r.Estimate.Judged)
	if r.True != nil {
		fmt.Fprintf(w, "by the true labels of the manifest: %.1f %% are wrong\n", 100**r.True)
	}
	return nil
}
