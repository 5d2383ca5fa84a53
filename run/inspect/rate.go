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

// RateReport is an estimate of the noise rate, without scores of single labels.
type RateReport struct {
	Images   int              `json:"images"` // number of labelled images in the audited splits
	Estimate folder.NoiseRate `json:"estimate"`
	True     *float64         `json:"true_rate"` // null if the manifest has no true labels
}

// EstimateRate estimates the share of wrong labels in a manifest with stored features (package noiserate).
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

// Write writes the estimate as text.
func (r RateReport) Write(w io.Writer) error {
	fmt.Fprintf(w, "wrong labels: about %s, from %d images; the estimate misses most systematic mistakes, "+
		"such as a class confused with a similar class\n", r.Estimate, r.Estimate.Judged)
	if r.True != nil {
		fmt.Fprintf(w, "by the true labels of the manifest: %.1f %% are wrong\n", 100**r.True)
	}
	return nil
}
