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

// course holds the settings, logs and result of a training, read from the files in its folder.
type course struct {
	Settings  config.Run // the settings that the training used
	Facts     folder.Facts
	Result    *folder.Result // nil: the training is not finished
	metrics   []train.Metric
	diagnoses []train.Diagnosis
	ranges    []folder.RangePoint // learning-rate range tests; empty if the rates were given
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

// findUntrained returns P@1 of the frozen and the whitened features on the validation split; nil if not known.
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

// perPair reports whether the log contains a loss per pair, because a term of the loss is a sum over pairs.
func (c *course) perPair() bool { x, _ := c.extractCurve(perPairOf); return len(x) > 0 }

// lossNote explains why the loss may rise while the memory bank fills; "" if the loss does not sum over pairs.
func (c *course) lossNote() string {
	if !c.perPair() {
		return ""
	}
	return "The loss is a sum over all pairs of batch images and memory-bank entries. It rises while the bank fills, " +
		"even if the training works. The loss per pair is divided by the number of pairs: compare steps by it."
}

// lastStep returns the last step that the run logged.
func (c *course) lastStep() int {
	last := 0
	for _, m := range c.metrics {
		last = max(last, m.Step)
	}
	return last
}

// filterNotes returns a note on the share of labels that the filter kept over all logged batches.
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
	note := fmt.Sprintf("The filter's scorer is %s. It kept %.1f %% of the labels in the logged batches",
		c.Settings.Filter.Scorer, 100*float64(kept)/float64(rows))
	if f := c.Settings.Filter; f.Threshold == filters.ThresholdFixed {
		return []string{fmt.Sprintf("%s: the labels with a score of at least %g.", note, f.Fixed)}
	}
	return []string{fmt.Sprintf("%s; it was set to drop %.1f %%.", note, 100*c.Settings.Filter.Rate.Share)}
}
