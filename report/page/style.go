package page

import (
	"fmt"
	"html"
	"strings"

	"winnow/internal/text"
)

// tones are the colours of the series for light and dark backgrounds, in order. Blue and orange are first, because
// people with colour-vision deficiencies can distinguish them.
var tones = []struct{ light, dark string }{
	{"#2563a8", "#6aa6e8"}, {"#d9730d", "#f0a14e"}, {"#8a9099", "#818a96"}, {"#2c8a57", "#5cc08c"},
	{"#8a4fb0", "#bd8be0"}, {"#c23b3b", "#ef7a7a"}, {"#16858f", "#4fc3cd"}, {"#8a5a2b", "#c79a6b"},
}

// style is the style element of every chart. It defines colours as CSS variables, which use the page's own variables
// for background and text if the page defines them.
var style = "<style>" + defineColours(func(light, _ string) string { return light }) +
	"@media screen and (prefers-color-scheme:dark){" + defineColours(func(_, dark string) string { return dark }) +
	"}" +
	shapes + "</style>"

// defineColours returns CSS variables of the colours. pick selects the light or the dark variant of each colour.
func defineColours(pick func(light, dark string) string) string {
	var b strings.Builder
	b.WriteString(".wn{")
	for _, v := range []struct{ name, of, light, dark string }{
		{"paper", "card", "#fff", "#1d2127"}, {"ink", "ink", "#20242b", "#e6e8eb"},
		{"soft", "soft", "#5d6571", "#98a1ad"}, {"line", "line", "#e3e0d8", "#333a44"},
	} {
		fmt.Fprintf(&b, "--wn-%s:var(--%s,%s);", v.name, v.of, pick(v.light, v.dark))
	}
	for i, t := range tones {
		fmt.Fprintf(&b, "--wn%d:%s;", i, pick(t.light, t.dark))
	}
	b.WriteString("}")
	return b.String()
}

// shapes holds the CSS rules that are the same for light and dark pages.
const shapes = ".wn{width:100%;height:auto;display:block}" +
	".wn text{font:12px system-ui,'Segoe UI',Roboto,Helvetica,Arial,sans-serif;fill:var(--wn-soft)}" +
	".wn .wn-title{font-size:14px;font-weight:600;fill:var(--wn-ink)}" +
	".wn .wn-name{fill:var(--wn-ink)}.wn-paper{fill:var(--wn-paper)}" +
	".wn-grid{stroke:var(--wn-line)}.wn-foot{stroke:var(--wn-soft)}" +
	".wn-mark{stroke:var(--wn-soft);stroke-width:1.4;stroke-dasharray:4 3}" +
	".wn-line{fill:none;stroke-width:2.2;stroke-linejoin:round;stroke-linecap:round}" +
	".wn-fine{stroke-width:1.1}.wn-dashed{stroke-dasharray:6 4}.wn-band{stroke:none;fill-opacity:.16}" +
	".wn-bar{fill-opacity:.5;stroke-opacity:.9;stroke-width:.6}.wn-box{fill-opacity:.28;stroke-width:1.4}" +
	".wn-whisker{stroke-width:1.4}.wn-median{stroke-width:2.6}.wn-dot{stroke:none;fill-opacity:.75}"

// pickSeriesColour returns the colour of series i. After the colours of tones, hues differ by the golden angle.
func pickSeriesColour(i int) string {
	if i >= 0 && i < len(tones) {
		return fmt.Sprintf("var(--wn%d)", i)
	}
	return fmt.Sprintf("hsl(%.0f 55%% 52%%)", float64(i)*137.508-360*float64(int(float64(i)*137.508/360)))
}

// Colours are attributes, not inline styles, because a page's content security policy may forbid inline styles.
func setFill(i int) string          { return `fill="` + pickSeriesColour(i) + `"` }
func setStroke(i int) string        { return `stroke="` + pickSeriesColour(i) + `"` }
func setFillAndStroke(i int) string { return setFill(i) + " " + setStroke(i) }

// legendItem is an entry of the legend. Items without a name are not drawn.
type legendItem struct {
	name string
	tone int
}

// itemWidth returns the width of a legend item in SVG units.
func (c *canvas) itemWidth(it legendItem) float64 {
	return min(34+spaced*float64(len([]rune(it.name))), width-right-c.left)
}

// legendRows returns the number of rows of the legend.
func (c *canvas) legendRows() int {
	rows, x := 0, width
	for _, it := range c.legendItems {
		if it.name == "" {
			continue
		}
		if w := c.itemWidth(it); x+w > width-right {
			rows, x = rows+1, c.left+w
		} else {
			x += w
		}
	}
	return rows
}

// drawLegend draws the legend at the bottom of the chart.
func (c *canvas) drawLegend() {
	y := c.top + plotH + c.bottom - rowHeight*float64(c.legendRows()) - 8
	x := width
	for _, it := range c.legendItems {
		if it.name == "" {
			continue
		}
		w := c.itemWidth(it)
		if x+w > width-right {
			x, y = c.left, y+rowHeight
		}
		name := html.EscapeString(text.Shortened(it.name, int((w-34)/spaced+0.5)))
		fmt.Fprintf(
			c,
			`<rect %s x="%s" y="%s" width="11" height="11" rx="2.5"/>`,
			setFill(it.tone),
			formatPlace(x),
			formatPlace(y-13),
		)
		fmt.Fprintf(c, `<text class="wn-name" x="%s" y="%s">%s</text>`, formatPlace(x+16), formatPlace(y-3), name)
		x += w
	}
}
