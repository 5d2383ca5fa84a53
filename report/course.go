package report

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"winnow/filters"
	"winnow/report/chart"
	"winnow/report/page"
	"winnow/run/config"
	"winnow/run/folder"
	"winnow/train"
)

// Course is how a training goes, by the files in its folder: finished or not. The page of a run and the live page of a
// training draw the same curves of it.
type Course struct {
	Settings  config.Run // as the training uses them
	Facts     folder.Facts
	Result    *folder.Result // nil: the training is not finished
	metrics   []train.Metric
	diagnoses []train.Diagnosis
	ranges    []folder.RangePoint // range tests of learning rates; none if the rates were given

	dir   string
	lines *train.Tail[train.Metric]
	found *train.Tail[train.Diagnosis]
}

// OpenCourse reads the files of a training in dir, which must have begun.
func OpenCourse(dir string) (*Course, error) {
	c := &Course{dir: dir, lines: train.MetricsOf(dir), found: train.DiagnosesOf(dir)}
	return c, c.Read()
}

// Read reads what has changed in the folder.
func (c *Course) Read() (err error) {
	facts, err := folder.ReadFacts(c.dir)
	if err != nil {
		return err
	}
	if !facts.Started.Equal(c.Facts.Started) { // another training, or the first look
		if c.Settings, err = folder.Settings(c.dir); err != nil {
			return err
		}
		if c.ranges, err = folder.ReadRange(c.dir); err != nil {
			return err
		}
	}
	c.Facts, c.Result = facts, nil
	switch result, err := folder.ReadResult(c.dir); {
	case err == nil:
		c.Result = &result
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if c.metrics, err = c.lines.Read(); err != nil {
		return err
	}
	c.diagnoses, err = c.found.Read()
	return err
}

// Standing is where a training stands, in the numbers that a person reads.
type Standing struct {
	Step, Steps   int
	Epoch, Epochs int
	Measure       string   // of validation, as in table heads
	Validation    *float64 // the last; nil: none yet
	Best          *float64 // the best so far, also of the average of the weights
	BestEpoch     int
	Frozen        *float64 // the same measure without training; nil: not known
	Whitened      *float64
	Kept          *float64 // share of the labels kept in the last epoch; nil: there is no filter
	PairLoss      *float64 // smoothed; nil: no step yet
	PerPair       bool     // PairLoss is a mean over pairs, not the loss itself
}

// Standing returns where the training stands.
func (c *Course) Standing() Standing {
	epoch := max(c.Facts.StepsPerEpoch, 1)
	s := Standing{Steps: c.Facts.Steps, Epochs: (c.Facts.Steps + epoch - 1) / epoch,
		Measure: measureText(c.Settings.Validation.Measure)}
	if s.Frozen, s.Whitened = c.findUntrained(); c.Settings.Validation.Measure != config.MeasureP1 {
		s.Frozen, s.Whitened = nil, nil
	}
	kept, rows := 0, 0
	for _, m := range c.metrics {
		s.Step, s.Epoch = max(s.Step, m.Step), max(s.Epoch, m.Epoch)
		if m.Validation != nil {
			s.Validation = m.Validation
			if top := *m.Validation; s.Best == nil || top > *s.Best {
				s.Best, s.BestEpoch = &top, m.Epoch
			}
		}
		s.PerPair = s.PerPair || m.PairLoss != nil
	}
	for _, m := range c.metrics {
		if m.Kept != nil && m.Step > s.Step-epoch {
			kept, rows = kept+*m.Kept, rows+m.Rows
		}
	}
	if rows > 0 && c.Settings.Filter.Scorer != config.NoFilter {
		share := float64(kept) / float64(rows)
		s.Kept = &share
	}
	if _, y := c.extractCurve(pairLossOf); len(y) > 0 {
		smooth := filters.Smooth(smoothing, y)
		s.PairLoss = &smooth[len(smooth)-1]
	}
	return s
}

// findUntrained returns P@1 of the validation split without training, as far as it is known.
func (c *Course) findUntrained() (frozen, whitened *float64) {
	if u := c.Facts.Untrained; u != nil {
		return &u.Frozen, &u.Whitened
	}
	if c.Result != nil && c.Result.Validation != nil {
		v := c.Result.Validation
		return &v.Frozen.PrecisionAt1, &v.Whitened.PrecisionAt1
	}
	return nil, nil
}

// Charts returns the curves: first those that a person reads, then all others.
func (c *Course) Charts() (first, others []chart.Drawing) {
	first, others = c.drawReadableCurves(), c.drawOtherCurves()
	if c.Settings.Filter.Scorer != config.NoFilter {
		kept, more := c.filterCurves()
		first, others = append(first, kept...), append(others, more...)
	}
	return first, others
}

// perPair reports whether a term of the loss is a sum over pairs.
func (c *Course) perPair() bool { x, _ := c.extractCurve(perPairOf); return len(x) > 0 }

// LossNote says why the loss rises; "" if it does not for that reason.
func (c *Course) LossNote() string {
	if !c.perPair() {
		return ""
	}
	return "The loss sums over all pairs of an image with the memory bank: it rises while the bank fills, also when " +
		"training goes well. The loss per pair is divided by their number and can be compared between steps."
}

// lastStep returns the last step that the run logged.
func (c *Course) lastStep() int {
	last := 0
	for _, m := range c.metrics {
		last = max(last, m.Step)
	}
	return last
}

// filterNotes says how many labels the filter kept in all.
func (c *Course) filterNotes() []string {
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

// describeRounds shows the rounds of self-paced weights.
func (c *Course) describeRounds() page.Section {
	s := page.Section{Title: "Self-paced rounds"}
	table := page.Table{
		Caption: "Every round computes the weights of all samples again",
		Head: []string{"round", "epoch", "λ", "mean weight", "± over classes", "at 0", "at 1",
			"objective before", "after"},
	}
	mean := chart.Line{Name: "mean weight of a class", Dots: true}
	for _, m := range c.metrics {
		if w := m.Weights; w != nil {
			table.Rows = append(table.Rows, []string{
				strconv.Itoa(w.Number), strconv.Itoa(m.Epoch), fmt.Sprintf("%.4g", w.Lambda),
				fmt.Sprintf("%.3f", w.Mean), fmt.Sprintf("%.3f", w.Deviation),
				strconv.Itoa(w.Excluded), strconv.Itoa(w.Full),
				fmt.Sprintf("%.5g", w.Before), fmt.Sprintf("%.5g", w.Objective),
			})
			mean.X, mean.Y = append(mean.X, float64(m.Epoch)), append(mean.Y, w.Mean)
			mean.Low, mean.High = append(mean.Low, w.Mean-w.Deviation), append(mean.High, w.Mean+w.Deviation)
		}
	}
	if len(table.Rows) > 0 {
		s.Tables = []page.Table{table}
		frame := chart.Frame{Title: "Mean weight of a class, ± its standard deviation over classes", Y: "weight"}
		s.Charts = drawnIfAny(frame, mean)
	}
	return s
}
