package vectorfile

import (
	"bufio"
	"io"
	"strconv"
	"strings"
)

// NewTSV writes the vectors for TensorBoard's projector: one row per line, separated by tabs, without a header.
// Numbers round-trip as float32.
func NewTSV(w io.Writer) Writer { return &tsvWriter{w: bufio.NewWriter(w)} }

type tsvWriter struct {
	w    *bufio.Writer
	text []byte
}

// Write implements [Writer].
func (t *tsvWriter) Write(rows []Row) error {
	for _, r := range rows {
		t.text = t.text[:0]
		for j, v := range r.Embedding {
			if j > 0 {
				t.text = append(t.text, '\t')
			}
			t.text = strconv.AppendFloat(t.text, float64(v), 'g', -1, 32)
		}
		if _, err := t.w.Write(append(t.text, '\n')); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [Writer].
func (t *tsvWriter) Close() error { return t.w.Flush() }

// plain replaces characters that would break a line of the projector's metadata, which has no quotes.
var plain = strings.NewReplacer("\t", " ", "\n", " ", "\r", " ")

// MetadataLine returns a line of the projector's metadata, separated by tabs. A tab or line break within a
// value becomes a space.
func MetadataLine(values ...string) string {
	for i, v := range values {
		values[i] = plain.Replace(v)
	}
	return strings.Join(values, "\t") + "\n"
}

// writeMetadata writes path, label, split for the projector.
func writeMetadata(w io.Writer, rows []Row) error {
	b := bufio.NewWriter(w)
	b.WriteString(MetadataLine("path", "label", "split"))
	for _, r := range rows {
		b.WriteString(MetadataLine(r.Path, r.Label, r.Split))
	}
	return b.Flush()
}
