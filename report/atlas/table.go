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

// WriteTable writes a line for every point, x and y as they were given, separated by commas or tabs; texts as cell has them.
func (m Map) WriteTable(w io.Writer, separator rune, cell func(string) string) error {
	c := csv.NewWriter(w)
	c.Comma = separator
	lines := [][]string{{"path", "x", "y", "label", "true_label", "split", "score"}}
	for _, p := range m.Points {
		lines = append(lines, []string{cell(p.Path), number(p.X), number(p.Y), cell(p.Label), cell(p.True), p.Split, number(p.Score)})
	}
	return c.WriteAll(lines)
}

// number is the shortest text that reads back as v, nothing for NaN.
func number(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// WriteTensors writes the vectors themselves as the projector of TensorBoard reads them: a line a row, tabs between.
func WriteTensors(w io.Writer, x blas32.General) error {
	out := vectorfile.NewTSV(w)
	for i := range x.Rows {
		if err := out.Write([]vectorfile.Row{{Embedding: x.Data[i*x.Stride : i*x.Stride+x.Cols]}}); err != nil {
			return err
		}
	}
	return out.Close()
}

// WriteMetadata writes what belongs to these vectors: a line of names, then one for each point. The format knows no
// quotes: a tab or a line's end within a name becomes a space.
func (m Map) WriteMetadata(w io.Writer) error {
	b := bufio.NewWriter(w)
	b.WriteString(vectorfile.MetadataLine("path", "label", "true_label", "split"))
	for _, p := range m.Points {
		b.WriteString(vectorfile.MetadataLine(p.Path, p.Label, p.True, p.Split))
	}
	return b.Flush()
}
