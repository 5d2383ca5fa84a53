package watch

import (
	"fmt"
	"strconv"

	"winnow/report/chart"
)

// PaperSmoothing is the weight of the past in PRISM's Fig. 2.
const PaperSmoothing = 0.7

// Named is what a filter did under the name it has in a drawing.
type Named struct {
	Name   string
	Filter *Filter
}

// AccuracyChart returns PRISM's Fig. 2: the share of right labels among the kept, a line for each run.
func AccuracyChart(title string, weight float64, filters ...Named) chart.Lines {
	drawing := chart.Lines{Frame: chart.Frame{Title: title, X: "iteration", Y: "right labels among the kept", Percent: true}}
	for i, t := range filters {
		x, y := t.Filter.Accuracy(weight)
		drawing.Series = append(drawing.Series, chart.Line{Name: t.Name, X: x, Y: y, Tone: i})
	}
	return drawing
}

// ScoresChart returns PRISM's Fig. 3: the scores of right and of wrong labels around an iteration, with the threshold if
// one is given. Heights are shares of all the labels counted, so that the two sets can be compared.
func ScoresChart(s Scores, threshold *float64) chart.Histogram {
	drawing := chart.Histogram{Frame: chart.Frame{
		Title: fmt.Sprintf("P_clean by %s, iterations %d to %d", s.Judge, s.From, s.Step), X: "P_clean", Y: "share of the labels", Percent: true,
	}}
	if threshold != nil {
		drawing.Marks = []chart.Mark{{At: *threshold, Name: "threshold " + strconv.FormatFloat(*threshold, 'g', 3, 64)}}
	}
	all := float64(max(s.Right.Total()+s.Wrong.Total(), 1))
	exponent := max(s.Right.Exponent, s.Wrong.Exponent)
	if s.Right.Total() == 0 || s.Wrong.Total() == 0 {
		exponent = -64 // there is only one
	}
	for i, name := range []string{"right labels", "wrong labels"} {
		h := s.Right.AtLeast(exponent)
		if i == 1 {
			h = s.Wrong.AtLeast(exponent)
		}
		bars := chart.Bars{Name: name, Edges: h.Edges(), Tone: i}
		for _, n := range h.Counts {
			bars.Heights = append(bars.Heights, float64(n)/all)
		}
		drawing.Bars = append(drawing.Bars, bars)
	}
	return drawing
}
