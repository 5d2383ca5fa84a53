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
