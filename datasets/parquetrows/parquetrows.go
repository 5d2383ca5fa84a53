// Package parquetrows reads the plain columns of a Parquet file as rows of text.
//
// It knows nothing of images.
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
	at    []int // place of each of Columns among the file's columns of values
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
	for i, column := range file.Schema().Columns() {
		if leaf, ok := file.Schema().Lookup(column...); ok && len(column) == 1 && leaf.MaxRepetitionLevel == 0 {
			t.Columns, t.at = append(t.Columns, column[0]), append(t.at, i)
		}
	}
	return t, nil
}

// Leave leaves a column out, which is then not read.
func (t *Table) Leave(name string) {
	if i := slices.Index(t.Columns, name); i >= 0 {
		t.Columns, t.at = slices.Delete(t.Columns, i, i+1), slices.Delete(t.at, i, i+1)
	}
}

// Take takes a part of a structure that has one value a row, as a column that is called by its names with a dot between.
func (t *Table) Take(path []string) {
	for i, column := range t.file.Schema().Columns() {
		if slices.Equal(column, path) {
			t.Columns, t.at = append(t.Columns, strings.Join(path, ".")), append(t.at, i)
		}
	}
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
		for _, column := range t.at {
			if err := t.check(group, column); err != nil {
				return err
			}
		}
	}
	record := make([]string, len(t.Columns))
	for _, group := range t.file.RowGroups() {
		if err := t.group(group, record, yield); err != nil {
			return err
		}
	}
	return nil
}

// batch is how many rows are read at a time.
const batch = 256

// group gives the rows of a group.
func (t *Table) group(group parquet.RowGroup, record []string, yield func([]string) error) error {
	chunks := group.ColumnChunks()
	in := make([]*values, len(t.at))
	for i, column := range t.at {
		in[i] = &values{pages: chunks[column].Pages()}
		defer in[i].pages.Close()
	}
	for range group.NumRows() {
		for i := range in {
			v, err := in[i].next()
			if err != nil {
				return fmt.Errorf("column %.80q: %w", t.Columns[i], err)
			}
			if record[i] = ""; !v.IsNull() {
				record[i] = shown(v)
			}
			t.room -= int64(len(record[i]))
		}
		if t.room -= int64(cell * max(len(record), 1)); t.room < 0 {
			return fmt.Errorf("holds more text than a file of this size, expected fewer than %d bytes for each of its own", roomPerByte)
		}
		if err := yield(record); err != nil {
			return err
		}
	}
	return nil
}

// values are those of a column, one after the other.
type values struct {
	pages  parquet.Pages
	page   parquet.ValueReader
	buffer [batch]parquet.Value
	held   []parquet.Value
}

// next returns the next value; it stays until the page's next.
func (c *values) next() (parquet.Value, error) {
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
