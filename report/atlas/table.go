package atlas

import (
	"bufio"
	"encoding/csv"
	"io"
	"math"
	"strconv"

	"gonum.org/v1/gonum/blas/blas32"

	"winnow/internal/vectorfile"
)

// WriteTable writes a line for every point, with the original x and y, separated by commas or tabs. cell
// converts the texts; constants are further columns, each a name and the value of every row.
func (m Map) WriteTable(w io.Writer, separator rune, cell func(string) string, constants ...[2]string) error {
	c := csv.NewWriter(w)
	c.Comma = separator
	lines := [][]string{{"path", "x", "y", "label", "true_label", "split", "score"}}
	for _, p := range m.Points {
		lines = append(lines, []string{
			cell(
				p.Path,
			), formatCell(p.X), formatCell(p.Y), cell(p.Label), cell(p.True), cell(p.Split), formatCell(p.Score),
		})
	}
	for i := range lines {
		for _, c := range constants {
			lines[i] = append(lines[i], c[min(i, 1)])
		}
	}
	return c.WriteAll(lines)
}

// formatCell returns the shortest text that parses back to v, or "" for NaN.
func formatCell(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// WriteTensors writes the vectors for TensorBoard's projector: one row per line, separated by tabs.
func WriteTensors(w io.Writer, x blas32.General) error {
	out := vectorfile.NewTSV(w)
	for i := range x.Rows {
		if err := out.Write([]vectorfile.Row{{Embedding: x.Data[i*x.Stride : i*x.Stride+x.Cols]}}); err != nil {
			return err
		}
	}
	return out.Close()
}

// WriteMetadata writes the metadata for these vectors: a header line, then one line for each point. The format
// has no quotes, so a tab or line break within a name becomes a space.
func (m Map) WriteMetadata(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString(vectorfile.MetadataLine("path", "label", "true_label", "split"))
	for _, p := range m.Points {
		b.WriteString(vectorfile.MetadataLine(p.Path, p.Label, p.True, p.Split))
	}
	return b.Flush()
}
