package inspect

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"

	"winnow/internal/parquetguard"
	"winnow/internal/regular"
)

// tableOfParquet reads a column of numbers for each class, or one column of lists. A column path names the rows.
func tableOfParquet(path string, most int64) (t *table, err error) {
	defer func() {
		if p := recover(); p != nil { // the library panics on broken files
			err = fmt.Errorf("is no sound Parquet file: %v", p)
		}
	}()
	f, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	file, check, err := parquetguard.Open(f, info.Size())
	if err != nil {
		return nil, err
	}
	r := parquetRows{t: &table{at: func(row int) string { return fmt.Sprintf("row %d, from 0", row) }}, most: most}
	for k, c := range file.Schema().Columns() {
		for group := range file.RowGroups() {
			if err := check(group, k); err != nil {
				return nil, err
			}
		}
		r.leaves = append(r.leaves, c[0])
	}
	r.paths, r.use = r.t.findHead(r.leaves, true)
	in := parquet.NewReader(file)
	defer in.Close()
	buffer := make([]parquet.Row, 64)
	for {
		n, err := in.ReadRows(buffer)
		for _, row := range buffer[:n] {
			if err := r.addParquetRow(row); err != nil {
				return nil, err
			}
		}
		if errors.Is(err, io.EOF) {
			return r.newParquetTable(), nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// parquetRows makes a table of rows.
type parquetRows struct {
	t      *table
	leaves []string // names of the columns
	paths  int      // the column of paths, -1 for none
	use    []int    // those of probabilities
	most   int64    // values that may be held, as full counts them
	texts  int64    // bytes of the paths
}

// addParquetRow takes a row: as many probabilities as the first row has, and a path if there is a column of paths.
func (r *parquetRows) addParquetRow(row parquet.Row) error {
	x, before, paths := &r.t.x, len(r.t.x.Data), len(r.t.paths)
	refuse := func(format string, args ...any) error {
		return fmt.Errorf("%s: %s", r.t.at(x.Rows), fmt.Sprintf(format, args...))
	}
	for _, v := range row {
		switch {
		case v.Column() == r.paths:
			if k := v.Kind(); k != parquet.ByteArray && k != parquet.FixedLenByteArray {
				return refuse("column %q holds %v, expected text", r.leaves[r.paths], k)
			}
			r.t.paths = append(r.t.paths, string(v.ByteArray()))
			r.texts += int64(len(v.ByteArray()))
		case !slices.Contains(r.use, v.Column()):
		case v.Kind() == parquet.Double:
			x.Data = append(x.Data, float32(v.Double()))
		case v.Kind() == parquet.Float:
			x.Data = append(x.Data, v.Float())
		default:
			return refuse("column %q holds %v, expected float or double", r.leaves[v.Column()], v.Kind())
		}
	}
	if n := len(r.t.paths) - paths; r.paths >= 0 && n != 1 {
		return refuse("%d paths, expected one", n)
	}
	if err := checkTableSize(int64(len(x.Data))+r.texts/8, r.most); err != nil {
		return err
	}
	n := len(x.Data) - before
	if x.Rows == 0 {
		x.Cols = n
	}
	if n != x.Cols {
		return refuse("%d probabilities, expected %d as before", n, x.Cols)
	}
	x.Rows++
	return nil
}

// newParquetTable returns the table.
func (r *parquetRows) newParquetTable() *table {
	if r.t.x.Cols != len(r.t.names) {
		r.t.names = nil // a column of lists
	}
	r.t.x.Stride = max(r.t.x.Cols, 1)
	return r.t
}
