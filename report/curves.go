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

// smoothing is the decay of the exponential moving average of curves that have a value for every step.
const smoothing = 0.9

// extractCurve returns the points of one metric: x is the epoch, y the metric's value. of picks the metric.
func (c *course) extractCurve(of func(train.Metric) *float64) (x, y []float64) {
	for _, m := range c.metrics {
		if v := of(m); v != nil {
			x, y = append(x, float64(m.Step)/float64(max(c.Facts.StepsPerEpoch, 1))), append(y, *v)
		}
	}
	return x, y
}

// newCurveLine returns a line of the metric that of picks; smooth applies the moving average.
func (c *course) newCurveLine(name string, tone int, smooth bool, of func(train.Metric) *float64) page.Line {
	x, y := c.extractCurve(of)
	if smooth {
		y = filters.Smooth(smoothing, y)
	}
	return page.Line{Name: name, Tone: tone, X: x, Y: y}
}

// drawnIfAny returns a chart of the lines that have points, or nil if no line has points.
func drawnIfAny(f page.Frame, lines ...page.Line) []page.Drawing {
	lines = slices.DeleteFunc(lines, func(l page.Line) bool { return len(l.X) == 0 })
	if len(lines) == 0 {
		return nil
	}
	f.X = "epoch"
	return []page.Drawing{page.Lines{Frame: f, Series: lines}}
}

// These functions pick the metrics that are drawn.
var (
	lossOf       = func(m train.Metric) *float64 { return m.Loss }
	perPairOf    = func(m train.Metric) *float64 { return m.PairLoss }
	validationOf = func(m train.Metric) *float64 { return m.Validation }
	keptOf       = func(m train.Metric) *float64 { return m.KeptShare }
	thresholdOf  = func(m train.Metric) *float64 { return m.Threshold }
	rateOf       = func(m train.Metric) *float64 { return m.LR }
)

// pairLossOf returns the loss per pair. Steps without one log the same number as the loss.
func pairLossOf(m train.Metric) *float64 {
	if m.PairLoss != nil {
		return m.PairLoss
	}
	return m.Loss
}

// drawReadableCurves returns the most important charts: validation next to the untrained features, and the loss.
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

// newLevelLine returns a dashed horizontal line at a value over the range of x; without points if the value is nil.
func newLevelLine(name string, tone int, at *float64, x []float64) page.Line {
	if at == nil {
		return page.Line{}
	}
	return page.Line{Name: name, Tone: tone, Dashed: true, X: []float64{x[0], x[len(x)-1]}, Y: []float64{*at, *at}}
}

// drawOtherCurves returns the remaining charts of a training: loss terms, learning rates and range tests.
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

// drawFilterCurves returns the charts of the filter: the share of labels kept, the threshold, and the distribution of
// the classes' concentrations κ.
func (c *course) drawFilterCurves() []page.Drawing {
	list := drawnIfAny(
		page.Frame{Title: "Share of the labels kept (smoothed)", Y: "kept", Percent: true},
		c.newCurveLine("kept", 0, true, keptOf))
	list = append(list, drawnIfAny(page.Frame{Title: "Threshold: labels with lower scores are dropped", Y: "threshold"},
		c.newCurveLine("threshold", 0, false, thresholdOf))...)
	if boxes := kappaBoxes(c.diagnoses); len(boxes.Places) > 0 {
		list = append(list, boxes)
	}
	return list
}

// rangeCurves returns a chart of the learning-rate range tests, with marks at the rates chosen.
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
		Title: "Learning-rate range tests", X: "learning rate", Y: "change of the loss (smoothed)",
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

// measureText returns the name of a validation measure for headings.
func measureText(measure string) string {
	if measure == config.MeasureP1 {
		return "P@1"
	}
	return measure
}

// muchFarther is the ratio of the largest value to the lowest median above which the axis becomes logarithmic.
const muchFarther = 30

// readableBoxes makes the axis logarithmic if a few large values would otherwise squeeze all boxes at the bottom.
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
