package chart

import (
	"fmt"
	"html"
	"io"
	"math"
)

// Scatter is clouds of points.
type Scatter struct {
	Frame
	Clouds []Cloud
	Bare   bool // no axes, both of the same scale: for a map such as t-SNE's, whose numbers mean nothing
}

// Cloud is the points of one class.
type Cloud struct {
	Name   string // clouds without a name are not in the legend
	X, Y   []float64
	Titles []string // shown when the pointer rests on a point; nil for none
	Tone   int      // any number: beyond the eight of Line there are more hues
}

// maxLegend is the number of clouds above which their names would hide them.
const maxLegend = 24

// WriteSVG draws. The points are drawn in turns over the clouds, so that none lies below all others.
func (s Scatter) WriteSVG(w io.Writer) error {
	xs, ys := newSpan(s.LogX), newSpan(s.LogY)
	var items []legendItem
	points, most := 0, 0
	for _, cloud := range s.Clouds {
		xs.add(cloud.X...)
		ys.add(cloud.Y...)
		points, most = points+len(cloud.X), max(most, len(cloud.X))
		items = append(items, legendItem{cloud.Name, cloud.Tone})
	}
	if len(items) > maxLegend {
		items = nil
	}
	var c *canvas
	if s.Bare {
		c = newCanvas(s.Frame, axis{}, axis{}, items, true)
		c.x, c.y = sameScale(xs, ys, c.plotW/c.high())
	} else {
		c = newCanvas(s.Frame, xs.axis(false, false, true), ys.axis(false, s.Percent, true), items, false)
	}
	radius := at(math.Max(1.1, math.Min(3.5, 60/math.Sqrt(float64(max(points, 1))))))
	for i := range most {
		for _, cloud := range s.Clouds {
			if i >= len(cloud.X) || !c.x.shown(cloud.X[i]) || !c.y.shown(cloud.Y[i]) {
				continue
			}
			fmt.Fprintf(c, `<circle class="wn-dot" %s cx="%s" cy="%s" r="%s"`, fill(cloud.Tone), at(c.px(cloud.X[i])), at(c.py(cloud.Y[i])), radius)
			if i < len(cloud.Titles) {
				fmt.Fprintf(c, `><title>%s</title></circle>`, html.EscapeString(cloud.Titles[i]))
			} else {
				c.WriteString("/>")
			}
		}
	}
	return c.finish(w)
}

// sameScale are axes on which a unit is as long in either direction; wide is the plot's width over its height.
func sameScale(xs, ys *span, wide float64) (x, y axis) {
	x0, x1 := opened(xs.from, xs.to)
	y0, y1 := opened(ys.from, ys.to)
	half := 0.52 * math.Max((x1-x0)/wide, y1-y0) // of the height, with a rim
	mx, my := (x0+x1)/2, (y0+y1)/2
	return axis{from: mx - half*wide, to: mx + half*wide}, axis{from: my - half, to: my + half}
}
