package page

import (
	"fmt"
	"html"
	"io"

	"winnow/internal/spread"
)

// Boxes is a box plot: at every named place on the x axis, a box for each series.
type Boxes struct {
	Frame
	Places []Place
}

// Place holds a name below the x axis and the boxes drawn above it, from left to right.
type Place struct {
	Name  string
	Boxes []Box
}

// Box shows a distribution: a line at the median, a box between the quartiles, whiskers from Low to High (usually the
// outermost values within 1.5 times the box's height), and values outside of the whiskers as dots.
type Box struct {
	Name                      string // for the legend; the same in every place
	Low, Q1, Median, Q3, High float64
	Beyond                    []float64
	Tone                      int
}

// WriteSVG writes the box plot. It leaves out boxes with a number that is not finite.
func (b Boxes) WriteSVG(w io.Writer) error {
	ys := newSpan(b.LogY)
	var items []legendItem
	seen := map[string]bool{}
	names, most := make([]string, len(b.Places)), 1
	for i, p := range b.Places {
		names[i], most = p.Name, max(most, len(p.Boxes))
		for _, x := range p.Boxes {
			ys.widenBy(x.Low, x.Q1, x.Median, x.Q3, x.High)
			ys.widenBy(x.Beyond...)
			if !seen[x.Name] {
				seen[x.Name] = true
				items = append(items, legendItem{x.Name, x.Tone})
			}
		}
	}
	c := newCanvas(b.Frame, newNamedAxis(names, width-90), ys.newAxis(false, b.Percent, true), items)
	slot := c.plotW / float64(max(len(b.Places), 1))
	each := min(slot*0.72/float64(most), 46)
	for i, p := range b.Places {
		for j, x := range p.Boxes {
			centre := c.px(float64(i)) + (float64(j)-float64(len(p.Boxes)-1)/2)*each
			c.drawBox(x, p.Name, centre, each*0.84)
		}
	}
	return c.finishDrawing(w)
}

func (c *canvas) drawBox(b Box, place string, x, wide float64) {
	for _, v := range []float64{b.Low, b.Q1, b.Median, b.Q3, b.High} {
		if !c.y.canShow(v) {
			return
		}
	}
	from, to := formatPlace(x-wide/2), formatPlace(x+wide/2)
	title := fmt.Sprintf("%s %s: median %.4g, quartiles %.4g and %.4g, whiskers %.4g and %.4g",
		place, b.Name, b.Median, b.Q1, b.Q3, b.Low, b.High)
	fmt.Fprintf(c, `<g %s><title>%s</title>`, setFillAndStroke(b.Tone), html.EscapeString(title))
	fmt.Fprintf(
		c,
		`<path class="wn-whisker" d="M%s %sV%sM%s %sV%sM%s %sH%sM%s %sH%s"/>`,
		formatPlace(
			x,
		),
		formatPlace(c.py(b.Low)),
		formatPlace(c.py(b.Q1)),
		formatPlace(x),
		formatPlace(c.py(b.Q3)),
		formatPlace(c.py(b.High)),
		formatPlace(
			x-wide/4,
		),
		formatPlace(c.py(b.Low)),
		formatPlace(x+wide/4),
		formatPlace(x-wide/4),
		formatPlace(c.py(b.High)),
		formatPlace(x+wide/4),
	)
	fmt.Fprintf(c, `<rect class="wn-box" x="%s" y="%s" width="%s" height="%s"/>`,
		from, formatPlace(c.py(b.Q3)), formatPlace(wide), formatPlace(c.py(b.Q1)-c.py(b.Q3)))
	fmt.Fprintf(c, `<path class="wn-median" d="M%s %sH%s"/>`, from, formatPlace(c.py(b.Median)), to)
	for _, v := range b.Beyond {
		if c.y.canShow(v) {
			fmt.Fprintf(c, `<circle class="wn-dot" cx="%s" cy="%s" r="1.8"/>`, formatPlace(x), formatPlace(c.py(v)))
		}
	}
	c.WriteString("</g>")
}

// BoxOf returns a box of the values: quartiles by linear interpolation, and whiskers to the outermost values within
// 1.5 times the box's height of the box. Without values, the numbers are NaN and the box is not drawn.
func BoxOf(name string, values []float64, tone int) Box {
	s := spread.New(values)
	b := Box{Name: name, Tone: tone, Low: s.Low, Q1: s.Q1, Median: s.Median, Q3: s.Q3, High: s.High}
	for _, v := range values {
		if v < s.Low || v > s.High {
			b.Beyond = append(b.Beyond, v)
		}
	}
	return b
}
