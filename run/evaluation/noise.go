package evaluation

import (
	"cmp"
	"context"
	"io"
	"math"
	"slices"

	"winnow/datasets"
	"winnow/datasets/location"
	"winnow/features"
	"winnow/filters/noiserate"
	"winnow/internal/atomicfile"
	"winnow/internal/text"
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

// NoiseOptions say how wrong labels of the train split are counted, and from what.
type NoiseOptions struct {
	Manifest  location.Source // file or folder
	Features  string          // store
	Methods   []string
	Seed      uint64
	FitSample int // images that is fitted to, beside sums of all, so that machines can deal them; 0: all are looked at together
	Top       int // classes to print
	Out       string
}

// Noise estimates how many labels of the train split are wrong, by each of the methods, from the features in a store.
// progress counts the stages: whitening, then the methods; by a sample, images.
func Noise(ctx context.Context, o NoiseOptions, progress func(done, total int), note func(format string, args ...any)) (NoiseReport, error) {
	if o.FitSample != 0 {
		return noiseBySample(ctx, o, progress, note)
	}
	d, err := datasets.Read(o.Manifest, datasets.ReadOptions{Once: ctx, Note: note})
	if err != nil {
		return NoiseReport{}, err
	}
	data, err := run.Load(ctx, d, o.Features, false)
	if err != nil {
		return NoiseReport{}, err
	}
	z, err := run.JudgedVectors(ctx, data)
	if err != nil {
		return NoiseReport{}, err
	}
	var list []noiserate.Estimate
	for i, m := range o.Methods {
		progress(i+1, len(o.Methods)+1)
		e, err := noiserate.NewEstimate(ctx, z, len(data.Classes), m, train.Rand(o.Seed, "noise rate", 0))
		if err != nil {
			return NoiseReport{}, err
		}
		list = append(list, e)
	}
	return newNoiseReport(o.Manifest.String(), list, d, data.Train.IDs, data.Train.Labels, data.Classes), nil
}

// newNoiseReport names what was estimated of images with these positions in d and labels.
func newNoiseReport(manifest string, list []noiserate.Estimate, d *datasets.Dataset, ids, labels []int, classes []string) NoiseReport {
	r := NoiseReport{Manifest: manifest, True: trueRate(d, ids, labels)}
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

// classRates lists the classes, those with the most wrong labels first.
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

// trueRate returns the share of wrong labels among those that are judged; nil where the manifest does not know.
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

// Save writes the report into a file of JSON; "" is none.
func (r NoiseReport) Save(file string) error {
	if file == "" {
		return nil
	}
	return atomicfile.Write(file, func(w io.Writer) error { return text.JSON(w, r) })
}
