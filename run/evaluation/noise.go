package evaluation

import (
	"cmp"
	"context"
	"math"
	"slices"

	"winnow/datasets"
	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/run"
	"winnow/run/folder"
	"winnow/train"
)

// NoiseReport is what stored features say of the share of wrong labels.
type NoiseReport struct {
	Manifest  string             `json:"manifest"`
	Images    int                `json:"images"` // labelled, of the train split
	Estimates []folder.NoiseRate `json:"estimates"`
	True      *float64           `json:"true_rate"` // null where the manifest does not know it
	Classes   []ClassNoise       `json:"classes"`   // by the first estimate, the most first
}

// ClassNoise is the estimate for a class.
type ClassNoise struct {
	Class  string  `json:"class"`
	Images int     `json:"images"`
	Rate   float64 `json:"rate"`
}

// Noise estimates how many labels of the train split are wrong, by each of the methods, from the features in a store.
// progress counts the stages: whitening, then the methods.
func Noise(ctx context.Context, d *datasets.Dataset, store string, methods []string, seed uint64, progress func(done, total int)) (NoiseReport, error) {
	data, err := run.Load(ctx, d, store, false)
	if err != nil {
		return NoiseReport{}, err
	}
	r := NoiseReport{Images: data.Train.Len() - data.Unlabelled, True: trueRate(d, data)}
	z, err := run.JudgedVectors(ctx, data)
	if err != nil {
		return r, err
	}
	for i, m := range methods {
		progress(i+1, len(methods)+1)
		e, err := noiserate.NewEstimate(ctx, z, len(data.Classes), m, train.Rand(seed, "noise rate", 0))
		if err != nil {
			return r, err
		}
		r.Estimates = append(r.Estimates, folder.WrittenRate(e))
		if i == 0 {
			r.Classes = classRates(e, data)
		}
	}
	return r, nil
}

// classRates lists the classes, those with the most wrong labels first.
func classRates(e noiserate.Estimate, data run.Data) []ClassNoise {
	count := make([]int, len(data.Classes))
	for _, y := range data.Train.Labels {
		if y >= 0 {
			count[y]++
		}
	}
	list := []ClassNoise{}
	for k, rate := range e.Classes {
		if !math.IsNaN(rate) {
			list = append(list, ClassNoise{data.Classes[k], count[k], rate})
		}
	}
	slices.SortStableFunc(list, func(a, b ClassNoise) int { return cmp.Compare(b.Rate, a.Rate) })
	return list
}

// trueRate returns the share of wrong labels among those that are judged; nil where the manifest does not know.
func trueRate(d *datasets.Dataset, data run.Data) *float64 {
	if !d.HasTruth(datasets.Train) {
		return nil
	}
	wrong, all := 0, 0
	for i, id := range data.Train.IDs {
		if data.Train.Labels[i] != features.Unlabelled {
			all++
			if s := d.Samples[id]; s.Label != s.True {
				wrong++
			}
		}
	}
	return new(float64(wrong) / float64(all))
}
