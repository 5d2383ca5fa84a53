// Package vectorfile writes embeddings for other tools: CSV and Parquet, one image a row. It imports nothing
// of winnow.
package vectorfile

import (
	"encoding/csv"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"
)

// Row is one embedded image.
type Row struct {
	Path      string    `parquet:"path"`
	Label     string    `parquet:"label,dict"` // the given one, "" where there is none
	Split     string    `parquet:"split,dict"`
	Embedding []float32 `parquet:"embedding,list"`
}

// WriteCSV writes a header path,label,split,e0,e1,… and a line a row; numbers round-trip as float32.
func WriteCSV(w io.Writer, dim int, rows []Row) error {
	out := csv.NewWriter(w)
	record := []string{"path", "label", "split"}
	for j := range dim {
		record = append(record, "e"+strconv.Itoa(j))
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for _, r := range rows {
		record = append(record[:0], r.Path, r.Label, r.Split)
		for _, v := range r.Embedding {
			record = append(record, strconv.FormatFloat(float64(v), 'g', -1, 32))
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// WriteParquet writes the columns path, label, split (strings) and embedding (a list of float32), Snappy
// compressed.
func WriteParquet(w io.Writer, rows []Row) error {
	out := parquet.NewGenericWriter[Row](w, parquet.Compression(&parquet.Snappy))
	const group = 4096
	for len(rows) > 0 {
		n := min(group, len(rows))
		if _, err := out.Write(rows[:n]); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return out.Close()
}
