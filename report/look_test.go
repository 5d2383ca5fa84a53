package report

import (
	"strings"
	"testing"

	"winnow/report/page"
)

// The axis is logarithmic if a few classes have values far above the others. Without such classes, or with a value that
// is not positive, the axis stays linear.
func TestReadableBoxes(t *testing.T) {
	drawing := func(low float64, beyond ...float64) page.Boxes {
		box := page.Box{Name: "κ", Low: low, Q1: 100, Median: 150, Q3: 200, High: 300, Beyond: beyond}
		return page.Boxes{Frame: page.Frame{Y: "κ"}, Places: []page.Place{{Name: "1", Boxes: []page.Box{box}}}}
	}
	for _, c := range []struct {
		boxes page.Boxes
		log   bool
	}{{drawing(50), false}, {drawing(50, 4000), false}, {drawing(50, 400, 90_000), true}, {drawing(0, 90_000),
		false}, {page.Boxes{}, false}} {
		if got := readableBoxes(c.boxes); got.LogY != c.log || strings.Contains(got.Y, "logarithmic") != c.log {
			t.Errorf("%+v: logarithmic %v, expected %v", c.boxes, got.LogY, c.log)
		}
	}
}
