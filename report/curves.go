package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"winnow/filters"
	"winnow/report/page"
	"winnow/run/config"
	"winnow/train"
)

// smoothing is the weight of the past in curves that have a value for every step.
const smoothing = 0.9

// extractCurve returns one number of the metrics over epochs.
func (c *course) extractCurve(of func(train.Metric) *float64) (x, y []float64) {
	for _, m := range c.metrics {
		if v := of(m); v != nil {
			x, y = append(x, float64(m.Step)/float64(max(c.Facts.StepsPerEpoch, 1))), append(y, *v)
		}
	}
	return x, y
}

// newCurveLine returns such a curve with a name, smoothed if it is of single steps.
func (c *course) newCurveLine(name string, tone int, smooth bool, of func(train.Metric) *float64) page.Line {
	x, y := c.extractCurve(of)
	if smooth {
		y = filters.Smooth(smoothing, y)
	}
	return page.Line{Name: name, Tone: tone, X: x, Y: y}
}

// drawnIfAny returns a chart of the lines that have points, or nothing if there are none.
func drawnIfAny(f page.Frame, lines ...page.Line) []page.Drawing {
	lines = slices.DeleteFunc(lines, func(l page.Line) bool { return len(l.X) == 0 })
	if len(lines) == 0 {
		return nil
	}
	f.X = "epoch"
	return []page.Drawing{page.Lines{Frame: f, Series: lines}}
}

// The numbers of the metrics that are drawn.
var (
	lossOf       = func(m train.Metric) *float64 { return m.Loss }
	perPairOf    = func(m train.Metric) *float64 { return m.PairLoss }
	validationOf = func(m train.Metric) *float64 { return m.Validation }
	keptOf       = func(m train.Metric) *float64 { return m.KeptShare }
	thresholdOf  = func(m train.Metric) *float64 { return m.Threshold }
	rateOf       = func(m train.Metric) *float64 { return m.LR }
)

// pairLossOf finds the loss per pair: the loss itself in steps where it is the same.
func pairLossOf(m train.Metric) *float64 {
	if m.PairLoss != nil {
		return m.PairLoss
	}
	return m.Loss
}

// drawReadableCurves returns the curves that a person reads: validation beside what needs no training, and the loss.
func (c *course) drawReadableCurves() (list []page.Drawing) {
	score := c.newCurveLine("validation", 0, false, validationOf)
	score.Dots = len(score.X) <= 60
	lines := []page.Line{score}
	if c.Settings.Validation.Measure == config.MeasureP1 && len(score.X) > 0 {
		frozen, whitened := c.findUntrained()
		lines = append(
			lines,
			newLevelLine("frozen", 2, frozen, score.X),
			newLevelLine("whitened", 3, whitened, score.X),
		)
	}
	measure := measureText(c.Settings.Validation.Measure)
	frame := page.Frame{Title: "Validation: " + measure, Y: measure, Percent: true}
	if c.Result != nil && c.Result.BestStep >= 0 {
		at := float64(c.Result.BestStep) / float64(max(c.Facts.StepsPerEpoch, 1))
		frame.Marks = []page.Mark{{At: at, Name: "kept"}}
	}
	list = drawnIfAny(frame, lines...)
	if c.perPair() {
		list = append(list, drawnIfAny(page.Frame{Title: "Training loss per pair (smoothed)", Y: "loss per pair"},
			c.newCurveLine("loss per pair", 0, true, pairLossOf))...)
	}
	return list
}

// newLevelLine returns a dashed line at one value, along x; a line without points if the value is not known.
func newLevelLine(name string, tone int, at *float64, x []float64) page.Line {
	if at == nil {
		return page.Line{}
	}
	return page.Line{Name: name, Tone: tone, Dashed: true, X: []float64{x[0], x[len(x)-1]}, Y: []float64{*at, *at}}
}

// drawOtherCurves returns the charts of one run's training that are not among the readable ones.
func (c *course) drawOtherCurves() []page.Drawing {
	losses := []page.Line{c.newCurveLine("loss", 0, true, lossOf)}
	terms := map[string]bool{}
	for _, m := range c.metrics {
		for name := range m.Terms {
			terms[name] = true
		}
	}
	for i, name := range slices.Sorted(maps.Keys(terms)) {
		losses = append(losses, c.newCurveLine(name, i+1, true, func(m train.Metric) *float64 {
			if v, ok := m.Terms[name]; ok {
				return &v
			}
			return nil
		}))
	}
	list := drawnIfAny(page.Frame{Title: "Training loss and its terms (smoothed)", Y: "loss"}, losses...)
	list = append(list, drawnIfAny(page.Frame{Title: "Learning rates", Y: "learning rate"},
		c.newCurveLine("head", 0, false, rateOf),
		c.newCurveLine("loss's parameters", 1, false, func(m train.Metric) *float64 { return m.LossLR }),
		c.newCurveLine("backbone", 3, false, func(m train.Metric) *float64 { return m.BackboneLR }),
		c.newCurveLine("second network", 4, false, func(m train.Metric) *float64 { return m.PeerLR }))...)
	return append(list, c.rangeCurves()...)
}

// drawFilterCurves returns the charts of the filter: the share that it kept, its threshold, and the spread of its
// classes' concentrations.
func (c *course) drawFilterCurves() []page.Drawing {
	list := drawnIfAny(
		page.Frame{Title: "Share of the labels kept (smoothed)", Y: "kept", Percent: true},
		c.newCurveLine("kept", 0, true, keptOf))
	list = append(list, drawnIfAny(page.Frame{Title: "Score below which labels are dropped", Y: "threshold"},
		c.newCurveLine("threshold", 0, false, thresholdOf))...)
	if boxes := kappaBoxes(c.diagnoses); len(boxes.Places) > 0 {
		list = append(list, boxes)
	}
	return list
}

// rangeCurves draws the range tests of learning rates, with the rates that were found.
func (c *course) rangeCurves() []page.Drawing {
	lines := []page.Line{{Name: "head"}, {Name: "backbone", Tone: 3}}
	for _, p := range c.ranges {
		l := &lines[0]
		if p.Weights == train.BackboneGroup {
			l = &lines[1]
		}
		l.X, l.Y = append(l.X, p.Rate), append(l.Y, p.Change)
	}
	lines = slices.DeleteFunc(lines, func(l page.Line) bool { return len(l.X) == 0 })
	if len(lines) == 0 {
		return nil
	}
	frame := page.Frame{
		Title: "Range tests of learning rates", X: "learning rate", Y: "change of the loss (smoothed)",
		LogX: true, Percent: true,
	}
	if found := c.Facts.RateTest; found != nil {
		for _, rate := range []*float64{found.Head, found.Backbone} {
			if rate != nil {
				frame.Marks = append(frame.Marks, page.Mark{At: *rate, Name: fmt.Sprintf("%.2g", *rate)})
			}
		}
	}
	return []page.Drawing{page.Lines{Frame: frame, Series: lines}}
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
func readableBoxes(b page.Boxes) page.Boxes {
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
