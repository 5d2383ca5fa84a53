package page

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"

	"winnow/internal/text"
)

// Drawing is a chart or a map. WriteSVG returns only errors from w.
type Drawing interface {
	Caption() string // the title, for the page around it
	WriteSVG(w io.Writer) error
}

// Frame holds the title, the axes and the marks of a chart.
type Frame struct {
	Title   string // for screen readers; drawn only if Titled
	Titled  bool
	X, Y    string // labels of the axes, with units
	Percent bool   // Y is a share, shown in percent
	LogX    bool   // logarithmic axis; values ≤ 0 are left out
	LogY    bool
	Marks   []Mark // vertical lines
}

// Caption returns the title.
func (f Frame) Caption() string { return f.Title }

// Mark is a dashed vertical line at a value of X, such as a threshold.
type Mark struct {
	At   float64
	Name string // may be ""
}

// Sizes in SVG units. A unit is about a pixel in a report with two columns.
const (
	width     = 560.0
	plotH     = 216.0
	right     = 18.0
	letter    = 6.7 // mean width of a letter at font size 12
	spaced    = 8.3 // width of a letter of the legend, which narrow pages enlarge
	rowHeight = 20.0
)

// canvas is a chart in progress. It maps values to positions within its frame.
type canvas struct {
	bytes.Buffer
	frame       Frame
	x, y        axis
	left, top   float64
	plotW       float64
	bottom      float64 // below the plot: ticks, axis, legend
	legendItems []legendItem
}

// newCanvas reserves space for the axes and the legend, and draws the axes and the marks.
func newCanvas(f Frame, x, y axis, legend []legendItem) *canvas {
	c := &canvas{frame: f, x: x, y: y, top: 10, legendItems: legend}
	labels := 0
	for _, t := range y.ticks {
		labels = max(labels, len([]rune(t.label)))
	}
	c.left = 14 + letter*float64(labels)
	if f.Y != "" {
		c.left += 18
	}
	if f.Titled && f.Title != "" {
		c.top += 24
	}
	if slices.ContainsFunc(f.Marks, func(m Mark) bool { return m.Name != "" }) {
		c.top += 14
	}
	c.plotW = width - c.left - right
	rows := c.legendRows()
	c.bottom = 36 + rowHeight*float64(rows)
	if f.X != "" {
		c.bottom += 20
	}
	height := c.top + plotH + c.bottom
	fmt.Fprintf(c, `<svg%s class="wn" viewBox="0 0 %g %s" role="img" aria-label="%s">`,
		nameSpace, width, formatPlace(height), html.EscapeString(f.Title))
	c.WriteString(style)
	fmt.Fprintf(c, `<rect class="wn-paper" width="100%%" height="100%%"/>`)
	if f.Titled && f.Title != "" {
		title := html.EscapeString(text.Shortened(f.Title, int(c.plotW/7.4)))
		fmt.Fprintf(c, `<text class="wn-title" x="%s" y="22">%s</text>`, formatPlace(c.left), title)
	}
	c.drawAxes()
	c.drawMarks()
	return c
}

func (c *canvas) px(v float64) float64 { return c.left + c.x.placeValue(v)*c.plotW }
func (c *canvas) py(v float64) float64 { return c.top + (1-c.y.placeValue(v))*plotH }

// drawAxes draws the grid, the ticks and the labels of the axes.
func (c *canvas) drawAxes() {
	for _, t := range c.y.ticks {
		y := c.py(t.at)
		fmt.Fprintf(
			c,
			`<path class="wn-grid" d="M%s %sH%s"/>`,
			formatPlace(c.left),
			formatPlace(y),
			formatPlace(c.left+c.plotW),
		)
		fmt.Fprintf(c, `<text class="wn-tick" x="%s" y="%s" text-anchor="end">%s</text>`,
			formatPlace(c.left-6), formatPlace(y+4), html.EscapeString(t.label))
	}
	base := c.top + plotH
	for _, t := range c.x.ticks {
		x := c.px(t.at)
		fmt.Fprintf(c, `<path class="wn-foot" d="M%s %sv4"/>`, formatPlace(x), formatPlace(base))
		fmt.Fprintf(c, `<text class="wn-tick" x="%s" y="%s" text-anchor="middle">%s</text>`,
			formatPlace(x), formatPlace(base+17), html.EscapeString(t.label))
	}
	fmt.Fprintf(
		c,
		`<path class="wn-foot" d="M%s %sH%s"/>`,
		formatPlace(c.left),
		formatPlace(base),
		formatPlace(c.left+c.plotW),
	)
	if c.frame.X != "" {
		fmt.Fprintf(
			c,
			`<text class="wn-axis" x="%s" y="%s" text-anchor="middle">%s</text>`,
			formatPlace(
				c.left+c.plotW/2,
			),
			formatPlace(base+37),
			html.EscapeString(text.Shortened(c.frame.X, int(c.plotW/letter))),
		)
	}
	if c.frame.Y != "" {
		fmt.Fprintf(c, `<text class="wn-axis" transform="translate(14 %s) rotate(-90)" text-anchor="middle">%s</text>`,
			formatPlace(c.top+plotH/2), html.EscapeString(text.Shortened(c.frame.Y, int(math.Floor(plotH/letter)))))
	}
}

// drawMarks draws the marks that are inside the x axis.
func (c *canvas) drawMarks() {
	for _, m := range c.frame.Marks {
		if p := c.x.placeValue(m.At); !(p >= 0 && p <= 1) {
			continue
		}
		x := c.px(m.At)
		fmt.Fprintf(
			c,
			`<path class="wn-mark" d="M%s %sV%s"/>`,
			formatPlace(x),
			formatPlace(c.top),
			formatPlace(c.top+plotH),
		)
		if m.Name == "" {
			continue
		}
		anchor, half := "middle", letter*float64(len([]rune(m.Name)))/2
		switch {
		case x-half < c.left:
			anchor = "start"
		case x+half > width-right:
			anchor = "end"
		}
		fmt.Fprintf(c, `<text class="wn-tick" x="%s" y="%s" text-anchor="%s">%s</text>`,
			formatPlace(x), formatPlace(c.top-5), anchor, html.EscapeString(m.Name))
	}
}

// finishDrawing draws the legend, ends the SVG element and writes everything to w.
func (c *canvas) finishDrawing(w io.Writer) error {
	c.drawLegend()
	c.WriteString("</svg>\n")
	_, err := w.Write(c.Bytes())
	return err
}

// nameSpace is required in an SVG file, but not in HTML.
const nameSpace = ` xmlns="http://www.w3.org/2000/svg"`

// Inline returns a drawing as an element of an HTML page.
func Inline(d Drawing) string {
	var b strings.Builder
	d.WriteSVG(&b) // a strings.Builder never returns an error
	return strings.Replace(b.String(), nameSpace, "", 1)
}

// formatPlace formats a coordinate, rounded to a tenth of a unit.
func formatPlace(v float64) string {
	text := fmt.Sprintf("%.1f", v)
	text = strings.TrimSuffix(text, ".0")
	if text == "-0" {
		return "0"
	}
	return text
}

func isFiniteValue(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
