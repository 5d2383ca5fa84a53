package report

import (
	"strings"
	"testing"

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
