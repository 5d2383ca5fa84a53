package embedding

import (
	"bufio"
	"encoding/binary"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"winnow/features"
	"winnow/internal/atomicfile"
)

// Row is one embedded image.
type Row struct {
	Path      string    `parquet:"path" json:"path"`
	Label     string    `parquet:"label,dict" json:"label,omitempty"` // given label, or ""
	Split     string    `parquet:"split,dict" json:"split,omitempty"`
	Embedding []float32 `parquet:"embedding,list" json:"embedding"`
}

// The formats of files of rows, each named by its extension.
const (
	NPY     = "npy"     // n×d float32 for numpy, and a file .ids.csv that lists the rows
	CSV     = "csv"     // path,label,split,e0,e1,…; numbers round-trip as float32
	Parquet = "parquet" // columns path, label, split and embedding (a list)
	jsonl   = "jsonl"   // an object for each row
)

// Files returns the files that are written for a file of vectors: the file itself and, for .npy, the list of its rows.
func Files(out string) ([]string, error) {
	switch form := formOf(out); {
	case form == NPY:
		return []string{out, ListOfNPY(out)}, nil
	case slices.Contains([]string{CSV, Parquet, jsonl}, form):
		return []string{out}, nil
	}
	return nil, fmt.Errorf("%q does not end in .npy, .csv, .parquet or .jsonl", out)
}

// ListOfNPY returns the file that lists the rows of a .npy file: emb.ids.csv for emb.npy.
func ListOfNPY(out string) string { return strings.TrimSuffix(out, filepath.Ext(out)) + ".ids.csv" }

func formOf(out string) string { return strings.ToLower(strings.TrimPrefix(filepath.Ext(out), ".")) }

// WriteRows atomically writes a file in a format, with the rows of dim values that fill passes to put. It does not keep
// the vectors in memory.
func WriteRows(form, out string, dim int, fill func(put func([]Row) error) error) error {
	if form == NPY {
		return writeNPY(out, dim, fill)
	}
	return atomicfile.Write(out, func(w io.Writer) error {
		switch form {
		case CSV:
			return writeCSV(w, dim, fill)
		case Parquet:
			to := parquet.NewGenericWriter[Row](w, parquet.Compression(&parquet.Snappy),
				parquet.MaxRowsPerRowGroup(1<<16))
			if err := fill(func(rows []Row) error { _, err := to.Write(rows); return err }); err != nil {
				return err
			}
			return to.Close()
		}
		return fill(writeLines(w))
	})
}

// writeLines returns a function that writes each row as a line of JSON.
func writeLines(w io.Writer) func([]Row) error {
	to := json.NewEncoder(w)
	to.SetEscapeHTML(false)
	return func(rows []Row) error {
		for _, r := range rows {
			if err := to.Encode(r); err != nil {
				return err
			}
		}
		return nil
	}
}

func writeCSV(w io.Writer, dim int, fill func(put func([]Row) error) error) error {
	to, record := csv.NewWriter(w), []string{"path", "label", "split"}
	for j := range dim {
		record = append(record, "e"+strconv.Itoa(j))
	}
	if err := to.Write(record); err != nil {
		return err
	}
	err := fill(func(rows []Row) error {
		for _, r := range rows {
			record = append(record[:0], r.Path, r.Label, r.Split)
			for _, v := range r.Embedding {
				record = append(record, strconv.FormatFloat(float64(v), 'g', -1, 32))
			}
			if err := to.Write(record); err != nil {
				return err
			}
		}
		return nil
	})
	to.Flush()
	if err != nil {
		return err
	}
	return to.Error()
}

// writeNPY writes the values to a temporary file next to out until their number is known, which the file starts with.
func writeNPY(out string, dim int, fill func(put func([]Row) error) error) error {
	f, err := os.CreateTemp(filepath.Dir(out), "."+filepath.Base(out)+".tmp-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	_ = os.Remove(f.Name()) // if the system can remove an open file, a killed process leaves nothing
	values, n := bufio.NewWriterSize(f, 1<<20), 0
	ids := [][]string{{"row", "path", "label", "split"}}
	if err := fill(func(rows []Row) error {
		for _, r := range rows {
			if err := binary.Write(values, binary.LittleEndian, r.Embedding); err != nil {
				return err
			}
			ids = append(ids, []string{strconv.Itoa(n), r.Path, r.Label, r.Split})
			n++
		}
		return nil
	}); err != nil {
		return err
	}
	if err := values.Flush(); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := atomicfile.Write(out, func(w io.Writer) error {
		if _, err := w.Write(features.NPYHeader(n, dim)); err != nil {
			return err
		}
		_, err := io.Copy(w, f)
		return err
	}); err != nil {
		return err
	}
	return atomicfile.Write(ListOfNPY(out), func(w io.Writer) error { return csv.NewWriter(w).WriteAll(ids) })
}
