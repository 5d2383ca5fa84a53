package auditing

import (
	"fmt"

	"winnow/audit"
	"winnow/datasets"
	"winnow/internal/budget"
)

// What an audit holds of an image, in bytes.
const (
	told    = 1000 // all that is said of it
	fitting = 1280 // what a judge that fits its numbers to the set weighs
	learned = 4096 // what heads trained on the spot keep
)

// similarities returns how much of all the memory that an audit may take is left for similarities: of vectors of judged
// values, for which features of stored values are held at first.
func similarities(memory int64, images, stored, judged, classes int, scorer string) (int64, error) {
	n, vector := int64(images), int64(4*judged)
	reading, judging := int64(4*stored)+vector+budget.Named, 2*vector+budget.Named+fitting
	switch scorer {
	case audit.Crossfit:
		judging = int64(8*stored) + 2*vector + budget.Named + learned
	case "probe", "confident":
		judging = 3*vector + int64(8*classes) + budget.Named
	}
	use := budget.Use{What: fmt.Sprintf("audit: %d images of %d values", images, judged), Beside: n * (vector + budget.Named + told),
		Other: n * max(reading, judging), Row: 4 * n}
	return use.Similarities(memory)
}

// within puts what is left for similarities in the place of the memory of the whole audit.
func (o *Options) within(d *datasets.Dataset, stored, judged int) (err error) {
	images := len(d.Samples)
	if !o.IncludeEval {
		images = len(d.Select(datasets.Train))
	}
	o.MaxMem, err = similarities(o.MaxMem, images, stored, judged, len(d.Classes), o.Scorer)
	return err
}
