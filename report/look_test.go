package report

import (
	"strings"
	"testing"

	"winnow/eval"
	"winnow/report/chart"
)

// A few classes far above all others do not press the other boxes flat. Without such classes, or with a number that has
// no logarithm, the axis stays linear.
func TestReadableBoxes(t *testing.T) {
	drawing := func(low float64, beyond ...float64) chart.Boxes {
		box := chart.Box{Name: "κ", Low: low, Q1: 100, Median: 150, Q3: 200, High: 300, Beyond: beyond}
		return chart.Boxes{Frame: chart.Frame{Y: "κ"}, Places: []chart.Place{{Name: "1", Boxes: []chart.Box{box}}}}
	}
	for _, c := range []struct {
		boxes chart.Boxes
		log   bool
	}{{drawing(50), false}, {drawing(50, 4000), false}, {drawing(50, 400, 90_000), true}, {drawing(0, 90_000),
		false}, {chart.Boxes{}, false}} {
		if got := readableBoxes(c.boxes); got.LogY != c.log || strings.Contains(got.Y, "logarithmic") != c.log {
			t.Errorf("%+v: logarithmic %v, expected %v", c.boxes, got.LogY, c.log)
		}
	}
	line := func(y ...float64) chart.Line { return chart.Line{Y: y} }
	for want, lines := range map[bool][]chart.Line{true: {line(1, 1), line(3e-4, 0), line()},
		false: {line(1e-3, 0), line(3e-4, 0)}} {
		if farApart(lines) != want {
			t.Errorf("%v: far apart is not %v", lines, want)
		}
	}
	if farApart(nil) || farApart([]chart.Line{line(0), line(1)}) {
		t.Error("lines without a logarithm are drawn on a logarithmic axis")
	}
}

// The scores are called what they are.
func TestNamedScores(t *testing.T) {
	for _, c := range []struct {
		scorer string
		want   string
		each   bool // image is left out of its own judgement
	}{
		{"vmf", "How right", true}, {"selfpaced", "Weights of", false}, {"whitened-margin", "How right", true},
		{"small-loss", "Scores of the given labels, by small-loss", false},
	} {
		h := namedScores(chart.Histogram{Frame: chart.Frame{Title: "How right the given labels look",
			X: "P_clean (each image left out of its own judgement)"}}, c.scorer)
		if !strings.HasPrefix(h.Title, c.want) || strings.Contains(h.X, "left out") != c.each {
			t.Errorf("%s: %q over %q", c.scorer, h.Title, h.X)
		}
	}
}

// The page of several runs names all runs that are as good as the best.
func TestReportOfEquals(t *testing.T) {
	runOf := func(name string, p float64) *Run {
		return &Run{name: name, Split: "test", measured: Measured{Trained: eval.Retrieval{PrecisionAt1: p}}}
	}
	a, b, c := runOf("a", 0.5), runOf("b", 0.5), runOf("c", 0.25)
	for _, test := range []struct {
		runs []*Run
		want string
	}{
		{[]*Run{a, c}, "Best by P@1 on test: a (0.5000)."},
		{[]*Run{a, b, c}, "Best by P@1 on test, and equally good: a, b (0.5000)."},
		{[]*Run{a, b}, "No run is better than another by P@1 on test: all have 0.5000."},
	} {
		if got := bestOf(test.runs, a); got != test.want {
			t.Errorf("found %q, expected %q", got, test.want)
		}
	}
}
