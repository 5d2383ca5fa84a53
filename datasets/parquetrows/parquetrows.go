// Package parquetrows reads the plain columns of a Parquet file as rows of text.
//
// It knows nothing about images.
package parquetrows

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"

	"winnow/internal/parquetguard"
)

// Limits on the memory for a file's texts: roomPerByte bytes for each byte of the file, but at least leastRoom. A
// text that the file stores once and repeats counts each time.
const (
	leastRoom   = 16 << 20
	roomPerByte = 1000
	cell        = 16 // bytes that a text takes in addition to its own
)

// Table is an open file.
type Table struct {
	Columns []string // names of the columns with one value per row; lists and structures are left out

	file  *parquet.File
	check func(group, column int) error
	at    []int // index of each of Columns among the file's value columns
	room  int64
}

// Open reads which columns there are.
func Open(src io.ReaderAt, size int64) (t *Table, err error) {
	defer recoverBrokenFile(&err)
	file, check, err := parquetguard.Open(src, size)
	if err != nil {
		return nil, fmt.Errorf("is no Parquet file: %w", err)
	}
	t = &Table{file: file, check: check, room: leastRoom + roomPerByte*size}
	for i, column := range file.Schema().Columns() {
		if leaf, ok := file.Schema().Lookup(column...); ok && len(column) == 1 && leaf.MaxRepetitionLevel == 0 {
			t.Columns, t.at = append(t.Columns, column[0]), append(t.at, i)
		}
	}
	return t, nil
}

// Leave excludes a column from reading.
func (t *Table) Leave(name string) {
	if i := slices.Index(t.Columns, name); i >= 0 {
		t.Columns, t.at = slices.Delete(t.Columns, i, i+1), slices.Delete(t.at, i, i+1)
	}
}

// Take adds a part of a structure that has one value per row as a column; its name is the parts' names joined by
// dots.
func (t *Table) Take(path []string) {
	for i, column := range t.file.Schema().Columns() {
		if slices.Equal(column, path) {
			t.Columns, t.at = append(t.Columns, strings.Join(path, ".")), append(t.at, i)
		}
	}
}

// recoverBrokenFile turns a panic into an error: broken files make the library index out of range.
func recoverBrokenFile(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("is no sound Parquet file: %v", p)
	}
}

// Each passes the rows to yield in order, one value per column, "" if there is none. The slice is reused. An error
// of yield stops the reading and is returned unchanged.
func (t *Table) Each(yield func(record []string) error) (err error) {
	defer recoverBrokenFile(&err)
	for group := range t.file.RowGroups() {
		for _, column := range t.at {
			if err := t.check(group, column); err != nil {
				return err
			}
		}
	}
	record := make([]string, len(t.Columns))
	for _, group := range t.file.RowGroups() {
		if err := t.passGroup(group, record, yield); err != nil {
			return err
		}
	}
	return nil
}

// batch is how many rows are read at a time.
const batch = 256

// passGroup passes on the rows of a group.
func (t *Table) passGroup(group parquet.RowGroup, record []string, yield func([]string) error) error {
	chunks := group.ColumnChunks()
	in := make([]*values, len(t.at))
	for i, column := range t.at {
		in[i] = &values{pages: chunks[column].Pages()}
		defer in[i].pages.Close()
	}
	for range group.NumRows() {
		for i := range in {
			v, err := in[i].readNextValue()
			if err != nil {
				return fmt.Errorf("column %.80q: %w", t.Columns[i], err)
			}
			if record[i] = ""; !v.IsNull() {
				record[i] = showCell(v)
			}
			t.room -= int64(len(record[i]))
		}
		if t.room -= int64(cell * max(len(record), 1)); t.room < 0 {
			return fmt.Errorf("holds more text than a file of this size, expected fewer than %d bytes for each of "+
				"its own", roomPerByte)
		}
		if err := yield(record); err != nil {
			return err
		}
	}
	return nil
}

// values reads the values of a column in order.
type values struct {
	pages  parquet.Pages
	page   parquet.ValueReader
	buffer [batch]parquet.Value
	held   []parquet.Value
}

// readNextValue returns the next value, which is valid until the next page is read.
func (c *values) readNextValue() (parquet.Value, error) {
	for len(c.held) == 0 {
		if c.page == nil {
			page, err := c.pages.ReadPage()
			if errors.Is(err, io.EOF) {
				err = errors.New("has fewer values than rows")
			}
			if err != nil {
				return parquet.Value{}, err
			}
			c.page = page.Values()
		}
		n, err := c.page.ReadValues(c.buffer[:])
		c.held = c.buffer[:n]
		if errors.Is(err, io.EOF) {
			c.page = nil
		} else if err != nil {
			return parquet.Value{}, err
		} else if n == 0 {
			return parquet.Value{}, io.ErrNoProgress
		}
	}
	v := c.held[0]
	c.held = c.held[1:]
	return v, nil
}

// showCell returns a value as text.
func showCell(v parquet.Value) string {
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
