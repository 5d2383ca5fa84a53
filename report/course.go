package report

import (
	"errors"
	"fmt"
	"io/fs"

	"winnow/filters"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// course is how a training went, by the files in its folder.
type course struct {
	Settings  config.Run // as the training used them
	Facts     folder.Facts
	Result    *folder.Result // nil: the training is not finished
	metrics   []train.Metric
	diagnoses []train.Diagnosis
	ranges    []folder.RangePoint // range tests of learning rates; none if the rates were given
}

// readCourse reads the files of a training in dir.
func readCourse(dir string) (c course, err error) {
	if c.Facts, err = folder.ReadFacts(dir); err != nil {
		return c, err
	}
	if c.Settings, err = folder.Settings(dir); err != nil {
		return c, err
	}
	if c.ranges, err = folder.ReadRange(dir); err != nil {
		return c, err
	}
	if result, err := folder.ReadResult(dir); err == nil {
		c.Result = &result
	} else if !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	if c.metrics, err = train.ReadMetrics(dir); err != nil {
		return c, err
	}
	c.diagnoses, err = train.ReadDiagnostics(dir)
	return c, err
}

// findUntrained returns P@1 of the validation split without training, as far as it is known.
func (c *course) findUntrained() (frozen, whitened *float64) {
	if u := c.Facts.Untrained; u != nil {
		return &u.Frozen, &u.Whitened
	}
	if c.Result != nil && c.Result.Validation != nil {
		v := c.Result.Validation
		return &v.Frozen.PrecisionAt1, &v.Whitened.PrecisionAt1
	}
	return nil, nil
}

// perPair reports whether a term of the loss is a sum over pairs.
func (c *course) perPair() bool { x, _ := c.extractCurve(perPairOf); return len(x) > 0 }

// lossNote says why the loss rises; "" if it does not for that reason.
func (c *course) lossNote() string {
	if !c.perPair() {
		return ""
	}
	return "The loss sums over all pairs of an image with the memory bank: it rises while the bank fills, also when " +
		"training goes well. The loss per pair is divided by their number and can be compared between steps."
}

// lastStep returns the last step that the run logged.
func (c *course) lastStep() int {
	last := 0
	for _, m := range c.metrics {
		last = max(last, m.Step)
	}
	return last
}

// filterNotes says how many labels the filter kept in all.
func (c *course) filterNotes() []string {
	kept, rows := 0, 0
	for _, m := range c.metrics {
		if m.Kept != nil {
			kept, rows = kept+*m.Kept, rows+m.Rows
		}
	}
	if rows == 0 {
		return nil
	}
	note := fmt.Sprintf("Scorer %s. It kept %.1f %% of the labels in the batches logged",
		c.Settings.Filter.Scorer, 100*float64(kept)/float64(rows))
	if f := c.Settings.Filter; f.Threshold == filters.ThresholdFixed {
		return []string{fmt.Sprintf("%s: those with a score of %g or more.", note, f.Fixed)}
	}
	return []string{fmt.Sprintf("%s; it was told to drop %.1f %%.", note, 100*c.Settings.Filter.Rate.Share)}
}
