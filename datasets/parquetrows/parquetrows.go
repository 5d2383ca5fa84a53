// Package parquetrows reads the plain columns of a Parquet file as rows of text.
//
// It knows nothing of images.
package parquetrows

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/parquet-go/parquet-go"

	"winnow/internal/parquetguard"
)

// What the texts of a file may take in memory: so many bytes for each of its own, and of any file so many. Texts that a
// file states once and repeats are counted each time.
const (
	leastRoom   = 16 << 20
	roomPerByte = 1000
	cell        = 16 // bytes that a text takes beside its own
)

// Table is an open file.
type Table struct {
	Columns []string // names of the columns that hold one value a row; lists and structures are left out

	file  *parquet.File
	check func(group, column int) error
	at    []int // place of each leaf among Columns, -1 for those left out
	room  int64
}

// Open reads which columns there are.
func Open(src io.ReaderAt, size int64) (t *Table, err error) {
	defer sound(&err)
	file, check, err := parquetguard.Open(src, size)
	if err != nil {
		return nil, fmt.Errorf("is no Parquet file: %w", err)
	}
	t = &Table{file: file, check: check, room: leastRoom + roomPerByte*size}
	for _, column := range file.Schema().Columns() {
		at := -1
		if leaf, ok := file.Schema().Lookup(column...); ok && len(column) == 1 && leaf.MaxRepetitionLevel == 0 {
			at = len(t.Columns)
			t.Columns = append(t.Columns, column[0])
		}
		t.at = append(t.at, at)
	}
	return t, nil
}

// sound makes an error of a panic: broken files lead the library out of its slices.
func sound(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("is no sound Parquet file: %v", p)
	}
}

// Each gives the rows in order, a value a column, "" where there is none. The slice is used again; an error of yield ends the
// reading and is returned unchanged.
func (t *Table) Each(yield func(record []string) error) (err error) {
	defer sound(&err)
	for group := range t.file.RowGroups() {
		for column := range t.at {
			if err := t.check(group, column); err != nil {
				return err
			}
		}
	}
	in := parquet.NewReader(t.file)
	defer in.Close()
	record, buffer := make([]string, len(t.Columns)), make([]parquet.Row, 256)
	for {
		n, err := in.ReadRows(buffer)
		for _, row := range buffer[:n] {
			clear(record)
			for _, v := range row {
				at := t.at[v.Column()]
				if at < 0 || v.IsNull() {
					continue
				}
				record[at] = shown(v)
				t.room -= int64(len(record[at]))
			}
			if t.room -= int64(cell * len(record)); t.room < 0 {
				return fmt.Errorf("holds more text than a file of this size, expected fewer than %d bytes for each of its own", roomPerByte)
			}
			if err := yield(record); err != nil {
				return err
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// shown returns a value as text.
func shown(v parquet.Value) string {
	switch v.Kind() {
	case parquet.Float:
		return strconv.FormatFloat(float64(v.Float()), 'g', -1, 32)
	case parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	case parquet.ByteArray, parquet.FixedLenByteArray:
		return string(v.ByteArray())
	}
	return v.String()
}
