package page

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// Lines is a line chart.
type Lines struct {
	Frame
	Series []Line
}

// Line is one series of a line chart. Low and High, if set, are the edges of a band around the line, such as mean ±
// standard deviation.
type Line struct {
	Name      string
	X, Y      []float64
	Low, High []float64 // nil, or of X's length
	Tone      int       // colour: 0 blue, 1 orange, 2 grey, 3 green, 4 purple, 5 red, 6 teal, 7 brown, …
	Dashed    bool
	Dots      bool // draw a dot at every point
}

// WriteSVG draws.
func (l Lines) WriteSVG(w io.Writer) error {
	xs, ys := newSpan(l.LogX), newSpan(l.LogY)
	var items []legendItem
	for _, s := range l.Series {
		xs.widenBy(s.X...)
		ys.widenBy(s.Y...)
		ys.widenBy(s.Low...)
		ys.widenBy(s.High...)
		items = append(items, legendItem{s.Name, s.Tone})
	}
	for _, m := range l.Marks {
		xs.widenBy(m.At)
	}
	c := newCanvas(l.Frame, xs.newAxis(false, false, false), ys.newAxis(false, l.Percent, true), items)
	for _, s := range l.Series {
		c.drawBand(s)
	}
	for _, s := range l.Series {
		c.drawLine(s)
	}
	return c.finishDrawing(w)
}

// drawBand fills the area between Low and High.
func (c *canvas) drawBand(s Line) {
	if len(s.Low) != len(s.X) || len(s.High) != len(s.X) {
		return
	}
	var there, back []string
	for i := range s.X {
		if c.x.canShow(s.X[i]) && c.y.canShow(s.Low[i]) && c.y.canShow(s.High[i]) {
			x := formatPlace(c.px(s.X[i]))
			there = append(there, x+","+formatPlace(c.py(s.High[i])))
			back = append(back, x+","+formatPlace(c.py(s.Low[i])))
		}
	}
	slices.Reverse(back)
	there = append(there, back...)
	if len(there) > 2 {
		fmt.Fprintf(c, `<polygon class="wn-band" %s points="%s"/>`, setFill(s.Tone), strings.Join(there, " "))
	}
}

// maxPoints is the largest number of points drawn of a line. More points would not be visible.
const maxPoints = 1200

func (c *canvas) drawLine(s Line) {
	var xs, ys []float64
	for i := range s.X {
		if c.x.canShow(s.X[i]) && c.y.canShow(s.Y[i]) {
			xs, ys = append(xs, s.X[i]), append(ys, s.Y[i])
		}
	}
	class := "wn-line"
	if len(xs) > maxPoints/4 {
		class += " wn-fine"
	}
	xs, ys = thinLine(xs, ys)
	points := make([]string, len(xs))
	for i := range xs {
		x, y := formatPlace(c.px(xs[i])), formatPlace(c.py(ys[i]))
		points[i] = x + "," + y
		if s.Dots || len(xs) == 1 { // a line through one point would be invisible
			fmt.Fprintf(c, `<circle %s cx="%s" cy="%s" r="3.2"/>`, setFill(s.Tone), x, y)
		}
	}
	if len(points) < 2 {
		return
	}
	if s.Dashed {
		class += " wn-dashed"
	}
	fmt.Fprintf(c, `<polyline class="%s" %s points="%s"/>`, class, setStroke(s.Tone), strings.Join(points, " "))
}

// thinLine reduces a long series to the minimum and the maximum of each of maxPoints/2 segments, which keeps peaks.
func thinLine(xs, ys []float64) ([]float64, []float64) {
	if len(xs) <= maxPoints {
		return xs, ys
	}
	var tx, ty []float64
	stretches := maxPoints / 2
	for k := range stretches {
		from, to := k*len(xs)/stretches, (k+1)*len(xs)/stretches
		low, high := from, from
		for i := from; i < to; i++ {
			if ys[i] < ys[low] {
				low = i
			}
			if ys[i] > ys[high] {
				high = i
			}
		}
		first, second := min(low, high), max(low, high)
		tx, ty = append(tx, xs[first]), append(ty, ys[first])
		if second != first {
			tx, ty = append(tx, xs[second]), append(ty, ys[second])
		}
	}
	return tx, ty
}

// Histogram draws one or more series of half-transparent bars over each other. With LogY, bars ≤ 0 are left out, and
// all bars start at the bottom of the plot.
type Histogram struct {
	Frame
	Bars []Bars
}

// Bars holds the bars of one series. Bar i extends from Edges[i] to Edges[i+1].
type Bars struct {
	Name    string
	Edges   []float64 // ascending, one more than Heights
	Heights []float64
	Tone    int
}

// WriteSVG draws.
func (h Histogram) WriteSVG(w io.Writer) error {
	xs, ys := newSpan(h.LogX), newSpan(h.LogY)
	ys.widenBy(0) // a logarithmic span ignores it
	var items []legendItem
	for _, s := range h.Bars {
		xs.widenBy(s.Edges...)
		ys.widenBy(s.Heights...)
		items = append(items, legendItem{s.Name, s.Tone})
	}
	c := newCanvas(h.Frame, xs.newAxis(false, false, false), ys.newAxis(true, h.Percent, true), items)
	foot := c.top + plotH
	if !h.LogY {
		foot = c.py(0)
	}
	for _, s := range h.Bars {
		for i, v := range s.Heights {
			if !isFiniteValue(v) || !(v > 0) {
				continue
			}
			from, to := c.px(s.Edges[i]), c.px(s.Edges[i+1])
			fmt.Fprintf(
				c,
				`<rect class="wn-bar" %s x="%s" y="%s" width="%s" height="%s"/>`,
				setFillAndStroke(
					s.Tone,
				),
				formatPlace(from+0.4),
				formatPlace(c.py(v)),
				formatPlace(math.Max(to-from-0.8, 0.5)),
				formatPlace(foot-c.py(v)),
			)
		}
	}
	return c.finishDrawing(w)
}

// Count counts values in bins of equal width over [from, to] and returns bars whose heights are shares of all counted
// values. Values outside of the range are counted in the first or last bin; NaN is not counted.
func Count(name string, values []float64, from, to float64, bins, tone int) Bars {
	b := Bars{Name: name, Tone: tone, Edges: make([]float64, bins+1), Heights: make([]float64, bins)}
	for i := range b.Edges {
		b.Edges[i] = from + (to-from)*float64(i)/float64(bins)
	}
	n := 0
	for _, v := range values {
		if math.IsNaN(v) {
			continue
		}
		n++
		bin := math.Floor((v - from) / (to - from) * float64(bins))
		b.Heights[int(math.Max(0, math.Min(float64(bins-1), bin)))]++
	}
	for i := range b.Heights {
		b.Heights[i] /= math.Max(1, float64(n))
	}
	return b
}
