// Package vectorfile writes embeddings for other tools, one image per row: numpy's npy and npz, safetensors,
// fvecs, CSV, TSV, Parquet and JSON lines.
package vectorfile

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// Row is one embedded image.
type Row struct {
	Path      string    `parquet:"path" json:"path"`
	Label     string    `parquet:"label,dict" json:"label,omitempty"` // given label, or ""
	Split     string    `parquet:"split,dict" json:"split,omitempty"`
	Embedding []float32 `parquet:"embedding,list" json:"embedding"`
}

// Writer writes batches of rows and keeps no vectors.
type Writer interface {
	Write(rows []Row) error
	Close() error // ends the file; the underlying writer stays open
}

// newCSV writes a header path,label,split,e0,e1,… and one line per row. Numbers round-trip as float32.
func newCSV(w io.Writer, dim int) (Writer, error) {
	out := &csvWriter{to: csv.NewWriter(w), record: []string{"path", "label", "split"}}
	for j := range dim {
		out.record = append(out.record, "e"+strconv.Itoa(j))
	}
	return out, out.to.Write(out.record)
}

type csvWriter struct {
	to     *csv.Writer
	record []string
}

func (c *csvWriter) Write(rows []Row) error {
	for _, r := range rows {
		c.record = append(c.record[:0], r.Path, r.Label, r.Split)
		for _, v := range r.Embedding {
			c.record = append(c.record, strconv.FormatFloat(float64(v), 'g', -1, 32))
		}
		if err := c.to.Write(c.record); err != nil {
			return err
		}
	}
	return nil
}

func (c *csvWriter) Close() error {
	c.to.Flush()
	return c.to.Error()
}

// newParquet writes the columns path, label, split (strings) and embedding (a list of float32), compressed with
// Snappy, in row groups of at most 65536 rows.
func newParquet(w io.Writer) Writer {
	return parquetWriter{parquet.NewGenericWriter[Row](w,
		parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(1<<16))}
}

type parquetWriter struct{ *parquet.GenericWriter[Row] }

func (p parquetWriter) Write(rows []Row) error {
	_, err := p.GenericWriter.Write(rows)
	return err
}

// NewJSONL writes one object per line: path, label and split if there are any, embedding.
func NewJSONL(w io.Writer) *jsonlWriter {
	to := json.NewEncoder(w)
	to.SetEscapeHTML(false)
	return &jsonlWriter{to}
}

// jsonlWriter is a [Writer] of JSON lines.
type jsonlWriter struct{ to *json.Encoder }

// Unreadable writes a line for an image without a vector: its path and the reason as error.
func (j *jsonlWriter) Unreadable(path, reason string) error {
	return j.to.Encode(struct {
		Path  string `json:"path"`
		Error string `json:"error"`
	}{path, reason})
}

// Write implements [Writer].
func (j *jsonlWriter) Write(rows []Row) error {
	for _, r := range rows {
		if err := j.to.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [Writer].
func (j *jsonlWriter) Close() error { return nil }
