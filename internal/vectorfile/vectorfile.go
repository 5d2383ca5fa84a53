// Package vectorfile writes embeddings for other tools, one image per row: for numpy, as CSV, Parquet and JSON lines.
package vectorfile

import (
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"winnow/features"
)

// Row is one embedded image in a file of vectors.
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

// Forms are the forms of files of vectors, named by their endings. The rows of npy, which numpy maps, are named
// in a second file.
var Forms = []string{"npy", "csv", "parquet", "jsonl"}

// FormOf returns the form of a file's ending, ignoring case.
func FormOf(path string) (form string, ok bool) {
	form = strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	return form, slices.Contains(Forms, form)
}

// Files returns the files that are written: the one at path and emb.ids.csv next to emb.npy.
func Files(path, form string) []string {
	if form == "npy" {
		return []string{path, strings.TrimSuffix(path, filepath.Ext(path)) + ".ids.csv"}
	}
	return []string{path}
}

// putFile writes one file, completely or not at all.
type putFile func(path string, write func(io.Writer) error) error

// Write writes the rows of dim values that fill provides and closes.
func Write(path, form string, dim int, put putFile, fill func(Writer) error) error {
	if form == "npy" {
		return writeNumpy(path, dim, put, fill)
	}
	return put(path, func(w io.Writer) error {
		switch form {
		case "csv":
			out := &csvRows{to: csv.NewWriter(w), record: []string{"path", "label", "split"}}
			for j := range dim {
				out.record = append(out.record, "e"+strconv.Itoa(j))
			}
			return errors.Join(out.to.Write(out.record), fill(out))
		case "parquet":
			return fill(parquetRows{parquet.NewGenericWriter[Row](w,
				parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(1<<16))})
		case "jsonl":
			return fill(NewJSONL(w))
		}
		return fmt.Errorf("form %q is unknown, expected one of %v", form, Forms)
	})
}

// writeNumpy writes an array for numpy and the list of its rows. The values stay in an open temporary file in the same
// folder until their number, which comes first, is known.
func writeNumpy(path string, dim int, put putFile, fill func(Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	_ = os.Remove(f.Name()) // if the system can remove an open file, a killed process leaves nothing
	rows := &numpyRows{w: f, ids: [][]string{{"row", "path", "label", "split"}}}
	if err := fill(rows); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	err = put(path, func(w io.Writer) error {
		if _, err := w.Write(features.NPYHeader(len(rows.ids)-1, dim)); err != nil {
			return err
		}
		_, err := io.Copy(w, f)
		return err
	})
	if err != nil {
		return err
	}
	return put(Files(path, "npy")[1], func(w io.Writer) error { return csv.NewWriter(w).WriteAll(rows.ids) })
}

// numpyRows writes values as little-endian float32, and keeps what the rows are.
type numpyRows struct {
	w     io.Writer
	bytes []byte
	ids   [][]string
}

// Write implements [Writer].
func (f *numpyRows) Write(rows []Row) error {
	f.bytes = f.bytes[:0]
	for _, r := range rows {
		f.ids = append(f.ids, []string{strconv.Itoa(len(f.ids) - 1), r.Path, r.Label, r.Split})
		for _, v := range r.Embedding {
			f.bytes = binary.LittleEndian.AppendUint32(f.bytes, math.Float32bits(v))
		}
	}
	_, err := f.w.Write(f.bytes)
	return err
}

// Close implements [Writer].
func (f *numpyRows) Close() error { return nil }

// csvRows writes a line a row. Numbers round-trip as float32.
type csvRows struct {
	to     *csv.Writer
	record []string
}

// Write implements [Writer].
func (c *csvRows) Write(rows []Row) error {
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

// Close implements [Writer].
func (c *csvRows) Close() error {
	c.to.Flush()
	return c.to.Error()
}

type parquetRows struct {
	*parquet.GenericWriter[Row]
}

// Write implements [Writer].
func (p parquetRows) Write(rows []Row) error {
	_, err := p.GenericWriter.Write(rows)
	return err
}

// jsonRows writes one object per line: path, label and split if there are any, embedding.
type jsonRows struct{ to *json.Encoder }

func NewJSONL(w io.Writer) *jsonRows {
	to := json.NewEncoder(w)
	to.SetEscapeHTML(false)
	return &jsonRows{to}
}

// Unreadable writes a line for an image without a vector: its path and the reason as error.
func (j *jsonRows) Unreadable(path, reason string) error {
	return j.to.Encode(struct {
		Path  string `json:"path"`
		Error string `json:"error"`
	}{path, reason})
}

// Write implements [Writer].
func (j *jsonRows) Write(rows []Row) error {
	for _, r := range rows {
		if err := j.to.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [Writer].
func (j *jsonRows) Close() error { return nil }
