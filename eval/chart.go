package eval

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Chart is a line chart or, with Bars, a histogram; both are drawn as SVG.
type Chart struct {
	Title, X, Y string // title and what the axes mean
	Series      []Series
	Bars        bool // values are bar heights between the X of their neighbours
	Percent     bool // Y is a share, shown in percent
}

// Series is one line or one set of bars.
type Series struct {
	Name string
	X, Y []float64
	Tone int // which colour: 0 blue, 1 orange, 2 grey, 3 green
}

// The drawing's measures, in SVG units.
const (
	chartW, chartH            = 520.0, 280.0
	chartLeft, chartRight     = 52.0, 14.0
	chartTop, chartBottom     = 12.0, 64.0
	plotW                     = chartW - chartLeft - chartRight
	plotH                     = chartH - chartTop - chartBottom
	tickCount             int = 5
)

// SVG draws the chart. Points that are not finite are left out.
func (c Chart) SVG() string {
	x0, x1, y0, y1 := c.ranges()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %g %g" role="img" aria-label="%s">`, chartW, chartH, html.EscapeString(c.Title))
	px := func(x float64) float64 { return chartLeft + (x-x0)/(x1-x0)*plotW }
	py := func(y float64) float64 { return chartTop + (1-(y-y0)/(y1-y0))*plotH }
	for _, y := range ticks(y0, y1) {
		label := trim(y)
		if c.Percent {
			label = trim(100*y) + " %"
		}
		fmt.Fprintf(&b, `<line class="grid" x1="%g" x2="%g" y1="%.1f" y2="%.1f"/><text class="tick" x="%g" y="%.1f" text-anchor="end">%s</text>`,
			chartLeft, chartW-chartRight, py(y), py(y), chartLeft-6, py(y)+4, label)
	}
	for _, x := range ticks(x0, x1) {
		fmt.Fprintf(&b, `<text class="tick" x="%.1f" y="%g" text-anchor="middle">%s</text>`, px(x), chartH-chartBottom+16, trim(x))
	}
	fmt.Fprintf(&b, `<text class="axis" x="%g" y="%g" text-anchor="middle">%s</text>`, chartLeft+plotW/2, chartH-chartBottom+34, html.EscapeString(c.X))
	for i, s := range c.Series {
		if c.Bars {
			drawBars(&b, s, px, py, y0)
		} else {
			drawLine(&b, s, px, py)
		}
		c.legend(&b, i)
	}
	b.WriteString("</svg>")
	return b.String()
}

func drawLine(b *strings.Builder, s Series, px, py func(float64) float64) {
	var points []string
	for i := range s.X {
		if finite(s.X[i]) && finite(s.Y[i]) {
			points = append(points, fmt.Sprintf("%.1f,%.1f", px(s.X[i]), py(s.Y[i])))
		}
	}
	if len(points) == 1 { // a line through one point shows nothing
		x, y, _ := strings.Cut(points[0], ",")
		fmt.Fprintf(b, `<circle class="key tone%d" cx="%s" cy="%s" r="3.5"/>`, s.Tone, x, y)
		return
	}
	fmt.Fprintf(b, `<polyline class="line tone%d" points="%s"/>`, s.Tone, strings.Join(points, " "))
}

func drawBars(b *strings.Builder, s Series, px, py func(float64) float64, y0 float64) {
	for i := range s.Y { // bar i stands between X[i] and X[i+1]
		left, right := px(s.X[i]), px(s.X[i+1])
		fmt.Fprintf(b, `<rect class="bar tone%d" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`,
			s.Tone, left+0.5, py(s.Y[i]), math.Max(right-left-1, 0.5), py(y0)-py(s.Y[i]))
	}
}

func (c Chart) legend(b *strings.Builder, i int) {
	room := plotW / float64(len(c.Series))
	x := chartLeft + float64(i)*room
	fmt.Fprintf(b, `<rect class="key tone%d" x="%.1f" y="%g" width="12" height="12" rx="2"/><text class="legend" x="%.1f" y="%g">%s</text>`,
		c.Series[i].Tone, x, chartH-18, x+17, chartH-8, html.EscapeString(shortened(c.Series[i].Name, int((room-24)/7))))
}

// shortened is at most n letters of a name, about 7 units wide each.
func shortened(name string, n int) string {
	letters := []rune(name)
	if len(letters) <= n {
		return name
	}
	return string(letters[:max(n-1, 0)]) + "…"
}

// ranges finds what the axes span; shares and bars begin at 0.
func (c Chart) ranges() (x0, x1, y0, y1 float64) {
	x0, x1, y0, y1 = math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for _, s := range c.Series {
		for _, x := range s.X {
			if finite(x) {
				x0, x1 = math.Min(x0, x), math.Max(x1, x)
			}
		}
		for _, y := range s.Y {
			if finite(y) {
				y0, y1 = math.Min(y0, y), math.Max(y1, y)
			}
		}
	}
	if c.Bars || y0 > 0 && y0 < 0.4*y1 {
		y0 = 0
	}
	x0, x1 = opened(x0, x1)
	y0, y1 = opened(y0, y1)
	if c.Percent {
		y1 = math.Min(y1, math.Max(1, y0+0.1)) // no share is above 100 %
	}
	return x0, x1, y0, y1
}

// opened is a range that is none, of no value or of one, made wide enough for an axis.
func opened(from, to float64) (float64, float64) {
	switch {
	case to > from:
		return from, to
	case !finite(from) || from == 0:
		return 0, 1
	case from < 0:
		return 1.5 * from, 0.5 * from
	}
	return 0.5 * from, 1.5 * from
}

// ticks are round numbers within [from, to].
func ticks(from, to float64) []float64 {
	step := math.Pow(10, math.Floor(math.Log10((to-from)/float64(tickCount))))
	for _, m := range []float64{1, 2, 5, 10} {
		if (to-from)/(step*m) <= float64(tickCount)+0.5 {
			step *= m
			break
		}
	}
	var out []float64
	for k := math.Ceil(from/step - 1e-9); k*step <= to+1e-9*step; k++ {
		out = append(out, k*step)
	}
	return out
}

func trim(v float64) string { return fmt.Sprintf("%.4g", v+0) } // +0: no "-0"

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Histogram counts values into equal bins over [from, to]; values outside fall into the outer bins, NaN into
// none. The heights are shares of the values counted.
func Histogram(name string, values []float64, from, to float64, bins, tone int) Series {
	s := Series{Name: name, Tone: tone, X: make([]float64, bins+1), Y: make([]float64, bins)}
	for i := range s.X {
		s.X[i] = from + (to-from)*float64(i)/float64(bins)
	}
	values = slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	for _, v := range values {
		at := int((v - from) / (to - from) * float64(bins))
		s.Y[max(0, min(bins-1, at))] += 1 / float64(len(values))
	}
	return s
}
