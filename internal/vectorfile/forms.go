package vectorfile

import (
	"encoding/csv"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Form is a file format for vectors, named by its usual extension.
type Form string

// The forms, for n rows of d values.
const (
	NPY         Form = "npy"         // n×d float32 for numpy, and a file .ids.csv
	npz         Form = "npz"         // uncompressed zip of embeddings.npy as NPY, and paths, labels, splits.npy (text)
	safetensors Form = "safetensors" // the tensor embeddings, F32 [n,d], and a file .ids.csv
	fVecs       Form = "fvecs"       // d as int32, then d float32, n times, and a file .ids.csv
	CSV         Form = "csv"         // see [newCSV]
	tsv         Form = "tsv"         // d numbers per line, separated by tabs, and a file .metadata.tsv
	Parquet     Form = "parquet"     // see [newParquet]
	jsonLines   Form = "jsonl"       // see [NewJSONL]
)

// Forms lists all forms.
var Forms = []Form{NPY, npz, safetensors, fVecs, CSV, tsv, Parquet, jsonLines}

// FormOf returns the form of a file's extension, ignoring case.
func FormOf(path string) (Form, bool) {
	form := Form(strings.ToLower(strings.TrimPrefix(filepath.Ext(path), ".")))
	return form, slices.Contains(Forms, form)
}

// Beside returns the second file, which names the rows of the one at path: emb.ids.csv for emb.npy. "": path
// names them itself.
func (f Form) Beside(path string) string {
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	switch f {
	case NPY, safetensors, fVecs:
		return stem + ".ids.csv"
	case tsv:
		return stem + ".metadata.tsv"
	}
	return ""
}

// Files returns the files that [Write] writes: the file and its second file, if any.
func (f Form) Files(path string) []string {
	if beside := f.Beside(path); beside != "" {
		return []string{path, beside}
	}
	return []string{path}
}

// put writes one file, completely or not at all.
type put func(path string, write func(io.Writer) error) error

// Write writes the rows of dim values that fill provides, using put: first the file, then its second file.
// Formats that begin with the number of rows keep the values in an open temporary file in the same folder until
// all are there.
func Write(path string, form Form, dim int, put put, fill func(Writer) error) error {
	kept := &keeper{}
	var err error
	if form.hasRowCount() {
		err = spoolValues(path, form, dim, put, kept, fill)
	} else {
		err = put(path, func(w io.Writer) error {
			out, err := form.newFormWriter(w, dim)
			if err != nil {
				return err
			}
			if form.Beside(path) == "" {
				return fill(out)
			}
			kept.Writer = out
			return fill(kept)
		})
	}
	if err != nil {
		return err
	}
	return form.putBeside(path, put, kept.rows)
}

// WriteRows writes existing rows as [Write] does, without a temporary file.
func WriteRows(path string, form Form, dim int, put put, rows []Row) error {
	err := put(path, func(w io.Writer) error {
		if form.hasRowCount() {
			return form.writeCounted(w, dim, rows, func(w io.Writer) error {
				return writeAll(&floats{w: w}, rows)
			})
		}
		out, err := form.newFormWriter(w, dim)
		if err != nil {
			return err
		}
		return writeAll(out, rows)
	})
	if err != nil {
		return err
	}
	return form.putBeside(path, put, rows)
}

// putBeside writes the second file of path.
func (f Form) putBeside(path string, put put, rows []Row) error {
	beside := f.Beside(path)
	if beside == "" {
		return nil
	}
	return put(beside, func(w io.Writer) error {
		if f == tsv {
			return writeMetadata(w, rows)
		}
		return writeIDs(w, rows)
	})
}

// newFormWriter returns a writer for a form that does not begin with the number of rows.
func (f Form) newFormWriter(w io.Writer, dim int) (Writer, error) {
	switch f {
	case fVecs:
		return &floats{w: w, front: uint32(dim), fronted: true}, nil
	case CSV:
		return newCSV(w, dim)
	case tsv:
		return NewTSV(w), nil
	case Parquet:
		return newParquet(w), nil
	case jsonLines:
		return NewJSONL(w), nil
	}
	return nil, fmt.Errorf("vectorfile: form %q is unknown, expected one of %v", string(f), Forms)
}

// keeper passes rows on and keeps their names.
type keeper struct {
	Writer
	rows []Row // without vectors
}

// Write implements [Writer].
func (k *keeper) Write(rows []Row) error {
	for _, r := range rows {
		r.Embedding = nil
		k.rows = append(k.rows, r)
	}
	return k.Writer.Write(rows)
}

// group is how many rows are written at a time.
const group = 4096

// writeAll writes all rows and ends the file.
func writeAll(out Writer, rows []Row) error {
	for some := range slices.Chunk(rows, group) {
		if err := out.Write(some); err != nil {
			return err
		}
	}
	return out.Close()
}

// writeIDs writes row,path,label,split.
func writeIDs(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	if err := out.Write([]string{"row", "path", "label", "split"}); err != nil {
		return err
	}
	for i, r := range rows {
		if err := out.Write([]string{strconv.Itoa(i), r.Path, r.Label, r.Split}); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
