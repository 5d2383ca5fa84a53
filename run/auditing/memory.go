package auditing

import (
	"fmt"

	"winnow/audit"
	"winnow/audit/judges"
	"winnow/datasets"
	"winnow/internal/budget"
)

// What an audit holds of an image, in bytes.
const (
	fitting = 1280 // what a judge that fits its numbers to the set weighs
	learned = 4096 // what heads trained on the spot keep
)

// use counts what an audit holds: vectors of judged values, for which features of stored values are held at first, none
// where they stay in their store.
func use(images, stored, judged, classes int, scorer string) budget.Use {
	n, vector := int64(images), int64(4*judged)
	reading, judging := int64(4*stored)+vector+budget.Named, 2*vector+budget.Named+fitting
	switch scorer {
	case audit.Crossfit:
		judging = int64(8*stored) + 2*vector + budget.Named + learned
	case judges.Combined:
		judging = int64(8*stored) + 3*vector + budget.Named + learned + 2*fitting
	case judges.SelfConfidence, judges.Margin, judges.Confident:
		judging = 3*vector + int64(8*classes) + budget.Named
	}
	return budget.Use{What: fmt.Sprintf("audit: %d images of %d values", images, judged), Beside: n * (vector + budget.Named + budget.Told),
		Other: n * max(reading, judging), Row: 4 * n}
}

// choose takes the default judge within the memory: the one of those that train nothing where no heads fit into it.
func (o *Options) choose(d *datasets.Dataset, whitened, stored, judged int) error {
	memory := o.MaxMem
	o.Scorer = judges.Default
	err := o.within(d, whitened, stored, judged)
	if err == nil || o.Tune != nil { // which fitted has no use for
		return err
	}
	o.Scorer, o.MaxMem = judges.Fitted, memory
	if o.within(d, whitened, stored, judged) != nil {
		return err
	}
	o.Note("judged by %s, not by %s, which finds more: %v", judges.Fitted, judges.Default, err)
	return nil
}

// within puts what is left for similarities in the place of the memory of the whole audit, which whitens features of so
// many values.
func (o *Options) within(d *datasets.Dataset, whitened, stored, judged int) (err error) {
	images := len(d.Samples)
	if !o.IncludeEval {
		images = len(d.Select(datasets.Train))
	}
	u := use(images, stored, judged, len(d.Classes), o.Scorer)
	u.Other += budget.Covariance(whitened)
	o.MaxMem, err = u.With(o.Held).Similarities(o.MaxMem)
	return err
}
