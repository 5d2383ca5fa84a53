package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"winnow/filters"
	"winnow/report/chart"
	"winnow/run/config"
	"winnow/train"
)

// smoothing is the weight of the past in curves that have a value for every step.
const smoothing = 0.9

// extractCurve returns one number of the metrics over epochs.
func (c *Course) extractCurve(of func(train.Metric) *float64) (x, y []float64) {
	for _, m := range c.metrics {
		if v := of(m); v != nil {
			x, y = append(x, float64(m.Step)/float64(max(c.Facts.StepsPerEpoch, 1))), append(y, *v)
		}
	}
	return x, y
}

// newCurveLine returns such a curve with a name, smoothed if it is of single steps.
func (c *Course) newCurveLine(name string, tone int, smooth bool, of func(train.Metric) *float64) chart.Line {
	x, y := c.extractCurve(of)
	if smooth {
		y = filters.Smooth(smoothing, y)
	}
	return chart.Line{Name: name, Tone: tone, X: x, Y: y}
}

// drawnIfAny returns a chart of the lines that have points, or nothing if there are none.
func drawnIfAny(f chart.Frame, lines ...chart.Line) []chart.Drawing {
	lines = slices.DeleteFunc(lines, func(l chart.Line) bool { return len(l.X) == 0 })
	if len(lines) == 0 {
		return nil
	}
	f.X = "epoch"
	return []chart.Drawing{chart.Lines{Frame: f, Series: lines}}
}

// The numbers of the metrics that are drawn.
var (
	lossOf       = func(m train.Metric) *float64 { return m.Loss }
	perPairOf    = func(m train.Metric) *float64 { return m.PairLoss }
	validationOf = func(m train.Metric) *float64 { return m.Validation }
	keptOf       = func(m train.Metric) *float64 { return m.KeptShare }
	thresholdOf  = func(m train.Metric) *float64 { return m.Threshold }
	rateOf       = func(m train.Metric) *float64 { return m.LR }
	normOf       = func(m train.Metric) *float64 { return m.GradientNorm }
)

// pairLossOf finds the loss per pair: the loss itself in steps where it is the same.
func pairLossOf(m train.Metric) *float64 {
	if m.PairLoss != nil {
		return m.PairLoss
	}
	return m.Loss
}

// termOf returns a function that finds a loss term among some numbers of the metric of a step.
func termOf(name string, of func(train.Metric) map[string]float64) func(train.Metric) *float64 {
	return func(m train.Metric) *float64 {
		if v, ok := of(m)[name]; ok {
			return &v
		}
		return nil
	}
}

// drawReadableCurves returns the curves that a person reads: validation beside what needs no training, and the loss.
func (c *Course) drawReadableCurves() (list []chart.Drawing) {
	score := c.newCurveLine("validation", 0, false, validationOf)
	score.Dots = len(score.X) <= 60
	lines := []chart.Line{score}
	if c.Settings.Validation.Measure == config.MeasureP1 && len(score.X) > 0 {
		frozen, whitened := c.findUntrained()
		lines = append(
			lines,
			newLevelLine("frozen", 2, frozen, score.X),
			newLevelLine("whitened", 3, whitened, score.X),
		)
	}
	measure := measureText(c.Settings.Validation.Measure)
	frame := chart.Frame{Title: "Validation: " + measure, Y: measure, Percent: true}
	if c.Result != nil && c.Result.BestStep >= 0 {
		at := float64(c.Result.BestStep) / float64(max(c.Facts.StepsPerEpoch, 1))
		frame.Marks = []chart.Mark{{At: at, Name: "kept"}}
	}
	list = drawnIfAny(frame, lines...)
	if c.perPair() {
		list = append(list, drawnIfAny(chart.Frame{Title: "Training loss per pair (smoothed)", Y: "loss per pair"},
			c.newCurveLine("loss per pair", 0, true, pairLossOf))...)
	}
	return list
}

// newLevelLine returns a dashed line at one value, along x; a line without points if the value is not known.
func newLevelLine(name string, tone int, at *float64, x []float64) chart.Line {
	if at == nil {
		return chart.Line{}
	}
	return chart.Line{Name: name, Tone: tone, Dashed: true, X: []float64{x[0], x[len(x)-1]}, Y: []float64{*at, *at}}
}

// drawOtherCurves returns the charts of one run's training that are not among the readable ones.
func (c *Course) drawOtherCurves() (list []chart.Drawing) {
	losses := []chart.Line{c.newCurveLine("loss", 0, true, lossOf)}
	terms := map[string]bool{}
	for _, m := range c.metrics {
		for name := range m.Terms {
			terms[name] = true
		}
	}
	for i, name := range slices.Sorted(maps.Keys(terms)) {
		loss := termOf(name, func(m train.Metric) map[string]float64 { return m.Terms })
		losses = append(losses, c.newCurveLine(name, i+1, true, loss))
	}
	list = append(list,
		drawnIfAny(chart.Frame{Title: "Training loss and its terms (smoothed)", Y: "loss"}, losses...)...)
	list = append(list, drawnIfAny(chart.Frame{Title: "Learning rates", Y: "learning rate"},
		c.newCurveLine("head", 0, false, rateOf),
		c.newCurveLine("loss's parameters", 1, false, func(m train.Metric) *float64 { return m.LossLR }),
		c.newCurveLine("backbone", 3, false, func(m train.Metric) *float64 { return m.BackboneLR }),
		c.newCurveLine("second network", 4, false, func(m train.Metric) *float64 { return m.PeerLR }))...)
	list = append(list, c.rangeCurves()...)
	list = append(list, drawnIfAny(chart.Frame{Title: "Length of the gradient (smoothed)", Y: "length"},
		c.newCurveLine("gradient", 0, true, normOf))...)
	return list
}

// filterCurves returns the charts of one run's filter: the share that it kept, then the others, with the spread of its
// classes' concentrations and its scores.
func (c *Course) filterCurves() (kept, others []chart.Drawing) {
	kept = drawnIfAny(
		chart.Frame{Title: "Share of the labels kept (smoothed)", Y: "kept", Percent: true},
		c.newCurveLine("kept", 0, true, keptOf))
	others = drawnIfAny(chart.Frame{Title: "Score below which labels are dropped", Y: "threshold"},
		c.newCurveLine("threshold", 0, false, thresholdOf))
	boxes := kappaBoxes("How close the classes lie together: concentration κ", namedDiagnoses{"κ", c.diagnoses})
	if len(boxes.Places) > 0 {
		others = append(others, readableBoxes(boxes))
	}
	return kept, append(others, scoresOverTime(c.diagnoses)...)
}

// rangeCurves draws the range tests of learning rates, with the rates that were found.
func (c *Course) rangeCurves() []chart.Drawing {
	lines := []chart.Line{{Name: "head"}, {Name: "backbone", Tone: 3}}
	for _, p := range c.ranges {
		l := &lines[0]
		if p.Weights == train.BackboneGroup {
			l = &lines[1]
		}
		l.X, l.Y = append(l.X, p.Rate), append(l.Y, p.Change)
	}
	lines = slices.DeleteFunc(lines, func(l chart.Line) bool { return len(l.X) == 0 })
	if len(lines) == 0 {
		return nil
	}
	frame := chart.Frame{
		Title: "Range tests of learning rates", X: "learning rate", Y: "change of the loss (smoothed)",
		LogX: true, Percent: true,
	}
	if found := c.Facts.RateTest; found != nil {
		for _, rate := range []*float64{found.Head, found.Backbone} {
			if rate != nil {
				frame.Marks = append(frame.Marks, chart.Mark{At: *rate, Name: fmt.Sprintf("%.2g", *rate)})
			}
		}
	}
	return []chart.Drawing{chart.Lines{Frame: frame, Series: lines}}
}

// measureText returns the name of a validation measure as used in table heads.
func measureText(measure string) string {
	if measure == config.MeasureP1 {
		return "P@1"
	}
	return measure
}

// muchFarther is the ratio of the largest number to the median at which a linear axis would show nothing else.
const muchFarther = 30

// readableBoxes makes the axis logarithmic if a few classes would otherwise press all others flat.
func readableBoxes(b chart.Boxes) chart.Boxes {
	median, most := math.Inf(1), 0.0
	for _, place := range b.Places {
		for _, box := range place.Boxes {
			median = min(median, box.Median)
			most = max(most, box.High, slices.Max(append([]float64{0}, box.Beyond...)))
			if box.Low <= 0 {
				return b
			}
		}
	}
	if most > muchFarther*median {
		b.LogY = true
		b.Y += ", logarithmic"
	}
	return b
}

// mostHistograms is the largest number of moments of the training whose scores are drawn.
const mostHistograms = 6

// scoresOverTime draws the filter's scores at some moments of the training, including the first and the last,
// as shares of the labels judged since the previous diagnosis. Rows of classes that the filter knew nothing
// about are left out.
func scoresOverTime(diagnoses []train.Diagnosis) (list []chart.Drawing) {
	var with []train.Diagnosis
	for _, d := range diagnoses {
		if n := len(d.Judged); n > 0 && d.Judged[n-1].Scores.Total() > 0 {
			with = append(with, d)
		}
	}
	n := min(mostHistograms, len(with))
	for k := range n {
		d := with[0]
		if n > 1 {
			d = with[k*(len(with)-1)/(n-1)]
		}
		j := d.Judged[len(d.Judged)-1]
		drawing := chart.Histogram{Frame: chart.Frame{
			Title: fmt.Sprintf("How right labels look to the filter, to step %d (epoch %d)", d.Step, d.Epoch),
			X:     "P_clean by " + j.Judge + ": higher is more likely right", Y: "share of the labels", Percent: true,
		}}
		if j.Threshold != nil {
			drawing.Marks = []chart.Mark{{At: j.Threshold.Last, Name: fmt.Sprintf("threshold %.3g", j.Threshold.Last)}}
		}
		bars := chart.Bars{Name: "labels", Edges: j.Scores.Edges()}
		for _, count := range j.Scores.Counts {
			bars.Heights = append(bars.Heights, float64(count)/float64(j.Scores.Total()))
		}
		drawing.Bars = []chart.Bars{bars}
		list = append(list, drawing)
	}
	return list
}

// allFilterCurves returns the charts of filterCurves in one list.
func (c *Course) allFilterCurves() []chart.Drawing {
	kept, others := c.filterCurves()
	return append(kept, others...)
}
