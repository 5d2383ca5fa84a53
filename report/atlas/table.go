package atlas

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
)

// WriteTable writes a line for every point, with the original x and y.
func (m Map) WriteTable(w io.Writer) error {
	lines := [][]string{{"path", "x", "y", "label", "true_label", "split", "score"}}
	for _, p := range m.Points {
		lines = append(lines, []string{p.Path, formatCell(p.X), formatCell(p.Y), p.Label, p.True, p.Split,
			formatCell(p.Score)})
	}
	return csv.NewWriter(w).WriteAll(lines)
}

// formatCell returns the shortest text that parses back to v, or "" for NaN.
func formatCell(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
