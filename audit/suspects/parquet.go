package suspects

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unsafe"

	"github.com/parquet-go/parquet-go"

	"winnow/internal/parquetguard"
)

const (
	batch = 4096    // rows that are written at a time
	group = 1 << 16 // rows of a group
)

// Limits to the memory that rows and texts of a file may take. A text that the file holds once and
// repeats counts each time.
const (
	leastRoom   = 16 << 20 // bytes for any file
	roomPerByte = 1000     // further bytes for each byte of the file
	mostText    = 1 << 16  // bytes of one text
)

func writeParquet(w io.Writer, entries []Suspect) error {
	// no reader uses the name, but it is part of the file
	schema := parquet.NewSchema("Entry", parquet.SchemaOf(Suspect{}))
	out := parquet.NewGenericWriter[Suspect](w, schema, parquet.Compression(&parquet.Snappy),
		parquet.MaxRowsPerRowGroup(group))
	var rows []Suspect
	for e := range Summed(entries) {
		if rows = append(rows, *e); len(rows) == batch {
			if _, err := out.Write(rows); err != nil {
				return err
			}
			rows = rows[:0]
		}
	}
	if _, err := out.Write(rows); err != nil {
		return err
	}
	return out.Close()
}

// leaf is a column of a Parquet file.
type leaf struct {
	column
	at int // among the leaves of the file
}

// readParquet reads the known columns, one after the other in each group of rows. It does not decompress others.
func readParquet(src io.ReaderAt, size int64, into *rows) (err error) {
	defer func() {
		if p := recover(); p != nil { // the library panics on broken files
			err = fmt.Errorf(": is no sound Parquet file: %v", p)
		}
	}()
	file, check, err := parquetguard.Open(src, size)
	if err != nil {
		return fmt.Errorf(": is no Parquet file: %w", err)
	}
	leaves, err := into.findLeaves(file.Schema())
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	into.room = leastRoom + roomPerByte*size
	for n, g := range file.RowGroups() {
		into.group = into.group[:0]
		for i, l := range leaves {
			if err := check(n, l.at); err != nil {
				return fmt.Errorf(": %s: %w", l.nameLeaf(), err)
			}
			if err := into.readColumnChunk(g.ColumnChunks()[l.at], l, i == 0); err != nil {
				return err
			}
		}
		for _, e := range into.group {
			if err := into.passRow(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// findLeaves finds the columns among those of a schema, the path first.
func (r *rows) findLeaves(schema *parquet.Schema) ([]leaf, error) {
	var names []string
	for _, path := range schema.Columns() {
		name := path[0]
		if len(path) > 1 {
			name = path[0] + "." + path[len(path)-1] // NAME.list.element.PART; names in the middle vary
		}
		names = append(names, strings.ToLower(name))
	}
	at, err := placeColumns(names, column.nameLeaf)
	if err != nil {
		return nil, err
	}
	var leaves []leaf
	for i, c := range columns {
		if at[i] < 0 {
			continue
		}
		if leaves = append(leaves, leaf{c, at[i]}); c.name == path {
			leaves[0], leaves[len(leaves)-1] = leaves[len(leaves)-1], leaves[0]
		}
	}
	return leaves, nil
}

// readColumnChunk reads the values of a column in a group of rows. The first column determines the number of rows.
func (r *rows) readColumnChunk(column parquet.ColumnChunk, l leaf, first bool) error {
	pages := column.Pages()
	defer pages.Close()
	row, k := -1, 0
	values := make([]parquet.Value, batch)
	for {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf(": %s: %w", l.nameLeaf(), err)
		}
		from := page.Values()
		for {
			n, err := from.ReadValues(values)
			for _, v := range values[:n] {
				if k++; v.RepetitionLevel() == 0 {
					row, k = row+1, 0
				}
				if row < 0 {
					return fmt.Errorf(": %s: begins amid a row", l.nameLeaf())
				}
				if row == len(r.group) && first {
					if r.room -= int64(unsafe.Sizeof(Suspect{})); r.room < 0 {
						return fmt.Errorf(": has more rows than a file of this size holds")
					}
					r.group = append(r.group, Suspect{})
				}
				if row >= len(r.group) {
					return fmt.Errorf(": %s: has more values than there are paths", l.nameLeaf())
				}
				n := 0
				if kind := v.Kind(); kind == parquet.ByteArray || kind == parquet.FixedLenByteArray {
					n = len(v.ByteArray())
				}
				if r.room -= int64(n); n > mostText || r.room < 0 {
					return fmt.Errorf(": row %d: %s: a text of %d bytes, expected at most %d, and fewer than %d for "+
						"each byte of the file", r.given+row+1, l.nameLeaf(), n, mostText, roomPerByte)
				}
				if err := l.setLeafValue(r, &r.group[row], k, v); err != nil {
					return fmt.Errorf(": row %d: %s: %w", r.given+row+1, l.nameLeaf(), err)
				}
			}
			if errors.Is(err, io.EOF) || n == 0 && err == nil {
				break
			}
			if err != nil {
				return fmt.Errorf(": %s: %w", l.nameLeaf(), err)
			}
		}
		parquet.Release(page)
	}
	if row+1 != len(r.group) {
		return fmt.Errorf(": %s: has values of %d rows, expected %d", l.nameLeaf(), row+1, len(r.group))
	}
	return nil
}

// setLeafValue sets a value, that of item k in a list. A list may hold no value.
func (l leaf) setLeafValue(r *rows, e *Suspect, k int, v parquet.Value) error {
	switch {
	case l.list != "" && v.IsNull():
		return nil
	case l.list == "" && k > 0:
		return fmt.Errorf("holds a list, expected one value")
	}
	return l.set(r, e, k, r.showParquetValue(v))
}

// showParquetValue returns a value as text, without a new copy of a text that is known.
func (r *rows) showParquetValue(v parquet.Value) string {
	switch {
	case v.IsNull():
		return ""
	case v.Kind() == parquet.Float:
		return strconv.FormatFloat(float64(v.Float()), 'g', -1, 32)
	case v.Kind() == parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	case v.Kind() == parquet.ByteArray:
		if known, ok := r.names[string(v.ByteArray())]; ok {
			return known
		}
		return string(v.ByteArray())
	}
	return v.String()
}
