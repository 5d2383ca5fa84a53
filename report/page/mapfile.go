package page

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"

	"winnow/internal/text"
)

// WriteSVG writes the map as an SVG file on a white background, with title and legend.
func (m Map) WriteSVG(w io.Writer) error {
	const top, column, line = 52.0, 196.0, 26.0
	names := m.Groups
	if len(names) > named {
		names = nil
	}
	_, height := m.placePoints()
	rows := (len(names) + 4) / 5
	foot := 40.0
	if rows > 0 {
		foot = line*float64(rows) + 20
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `<svg class="map" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%[1]g" `+
		`height="%[2]g" font-family="Helvetica, Arial, sans-serif">`, side, top+height+foot)
	fmt.Fprintf(b, "\n<title>%s</title>\n", html.EscapeString(m.Title))
	fmt.Fprintf(b, `<style>%s</style><rect width="100%%" height="100%%" fill="#fff"/>`, m.writeStyles())
	fmt.Fprintf(b, `<text x="%g" y="34" font-size="22" font-weight="bold" fill="#20242b">%s</text>`,
		margin, html.EscapeString(text.Shortened(m.Title, 84)))
	fmt.Fprintf(b, "\n<g transform=\"translate(0 %g)\">\n", top)
	m.drawPoints(b)
	fmt.Fprintln(b, "</g>")
	for i, name := range names {
		x, y := margin+column*float64(i%5), top+height+line*float64(i/5)+12
		fmt.Fprintf(b, `<circle class="p c%d" cx="%g" cy="%g" r="7"/>`+
			`<text x="%g" y="%g" font-size="15" fill="#20242b">%s</text>`,
			i, x+7, y, x+20, y+5, html.EscapeString(text.Shortened(name, 20)))
	}
	if names == nil {
		fmt.Fprintf(b, `<text x="%g" y="%g" font-size="15" fill="#20242b">%d groups; some have similar colours</text>`,
			margin, top+height+18, len(m.Groups))
	}
	fmt.Fprintln(b, "</svg>")
	return b.Flush()
}

// writeStyles returns CSS rules for the colours: classes c0, c1, … for groups, cn for points without a group.
func (m Map) writeStyles() string {
	light, _ := Colours(len(m.Groups))
	var b strings.Builder
	fmt.Fprintf(&b, ".cn{fill:%s}", grey)
	for i, c := range light {
		fmt.Fprintf(&b, ".c%d{fill:%s}", i, c)
	}
	return b.String()
}

// drawPoints writes the points and, if there are at most 24 groups, the names of the groups.
func (m Map) drawPoints(w io.Writer) {
	at, _ := m.placePoints()
	r := m.computeRadius()
	fmt.Fprint(w, `<g class="points" fill-opacity="0.82">`)
	for _, i := range m.orderPoints() {
		class := "cn"
		if g := m.Points[i].Group; g >= 0 {
			class = fmt.Sprintf("c%d", g)
		}
		fmt.Fprintf(w, `<circle class="p %s" cx="%.1f" cy="%.1f" r="%g"/>`, class, at[i][0], at[i][1], r)
	}
	fmt.Fprint(w, `</g><g class="signs" font-size="17" font-weight="bold" text-anchor="middle" fill="#20242b" `+
		`stroke="#fff" stroke-width="4" stroke-linejoin="round" paint-order="stroke">`)
	signs := m.placeGroupNames(at)
	for g, name := range m.Groups {
		if p, ok := signs[g]; ok {
			fmt.Fprintf(w, `<text class="s%d" x="%.1f" y="%.1f">%s</text>`,
				g, min(max(p[0], 70), side-70), p[1]+5, html.EscapeString(text.Shortened(name, 22)))
		}
	}
	fmt.Fprint(w, `</g>`)
}

// WriteTable writes the points as CSV, with the coordinates before scaling.
func (m Map) WriteTable(w io.Writer) error {
	lines := [][]string{{"path", "x", "y", "label", "true_label", "split", "score"}}
	for _, p := range m.Points {
		lines = append(lines, []string{p.Path, formatCell(p.X), formatCell(p.Y), p.Label, p.True, p.Split,
			formatCell(p.Score)})
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// formatCell returns the shortest decimal text that parses to v, or "" for NaN.
func formatCell(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
