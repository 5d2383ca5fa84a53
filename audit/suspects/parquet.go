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

// Rows are written to Parquet at a time, and lie in a group of a file.
const (
	batch = 4096
	group = 1 << 16
)

// What a file may become in memory: rows and texts of so many bytes for each of its own, and of any file so many. Texts that
// a file states once and repeats are counted each time.
const (
	leastRoom   = 16 << 20
	roomPerByte = 1000
	mostText    = 1 << 16
)

func writeParquet(w io.Writer, entries []Suspect) error {
	schema := parquet.NewSchema("Entry", parquet.SchemaOf(Suspect{})) // a name that no reader looks at, but a part of the file
	out := parquet.NewGenericWriter[Suspect](w, schema, parquet.Compression(&parquet.Snappy), parquet.MaxRowsPerRowGroup(group))
	for len(entries) > 0 {
		n := min(batch, len(entries))
		if _, err := out.Write(entries[:n]); err != nil {
			return err
		}
		entries = entries[n:]
	}
	return out.Close()
}

// leaf is a column of a Parquet file that is read, and how its values are taken: k counts the values of a row.
type leaf struct {
	at   int // among the file's leaves
	name string
	set  func(e *Suspect, k int, v string) error
}

// readParquet reads the columns that are known, one after the other in each group of rows; others are not even
// decompressed.
func readParquet(src io.ReaderAt, size int64, into *rows) (err error) {
	defer func() {
		if p := recover(); p != nil { // broken files lead the library out of its slices
			err = fmt.Errorf(": is no sound Parquet file: %v", p)
		}
	}()
	file, check, err := parquetguard.Open(src, size)
	if err != nil {
		return fmt.Errorf(": is no Parquet file: %w", err)
	}
	leaves, err := into.leaves(file.Schema())
	if err != nil {
		return fmt.Errorf(": %w", err)
	}
	into.room = leastRoom + roomPerByte*size
	for n, g := range file.RowGroups() {
		into.group = into.group[:0]
		for i, l := range leaves {
			if err := check(n, l.at); err != nil {
				return fmt.Errorf(": %s: %w", l.name, err)
			}
			if err := into.chunk(g.ColumnChunks()[l.at], l, i == 0); err != nil {
				return err
			}
		}
		for _, e := range into.group {
			if err := into.take(e); err != nil {
				return err
			}
		}
	}
	return nil
}

// leaves finds the columns among those of a schema, the path first.
func (r *rows) leaves(schema *parquet.Schema) ([]leaf, error) {
	var names []string
	for _, path := range schema.Columns() {
		name := path[0]
		if len(path) > 1 {
			name = path[0] + "." + path[len(path)-1] // NAME.list.element.path, by whatever names the middle goes
		}
		names = append(names, strings.ToLower(name))
	}
	at, err := place(names)
	if err != nil {
		return nil, err
	}
	var leaves []leaf
	for i, c := range columns {
		if c.list || at[i] < 0 {
			continue
		}
		l := leaf{at: at[i], name: c.name, set: func(e *Suspect, k int, v string) error {
			if k > 0 {
				return fmt.Errorf("holds a list, expected one value")
			}
			return c.set(r, e, []string{v})
		}}
		if leaves = append(leaves, l); c.name == "path" {
			leaves[0], leaves[len(leaves)-1] = leaves[len(leaves)-1], leaves[0]
		}
	}
	for name, set := range r.parts() {
		for i, n := range names {
			if n == name {
				leaves = append(leaves, leaf{at: i, name: name, set: set})
			}
		}
	}
	return leaves, nil
}

// parts returns the leaves of lists.
func (r *rows) parts() map[string]func(e *Suspect, k int, v string) error {
	parts := map[string]func(e *Suspect, k int, v string) error{
		copies + ".path":  func(e *Suspect, k int, v string) error { at(&e.Copies, k).Path = r.same(v); return nil },
		copies + ".label": func(e *Suspect, k int, v string) error { at(&e.Copies, k).Label = r.same(v); return nil },
		copies + ".similarity": func(e *Suspect, k int, v string) (err error) {
			at(&e.Copies, k).Similarity, err = number(v)
			return err
		},
	}
	for _, list := range nearby {
		parts[list.name+".path"] = func(e *Suspect, k int, v string) error { at(list.of(e), k).Path = r.same(v); return nil }
		parts[list.name+".similarity"] = func(e *Suspect, k int, v string) (err error) {
			at(list.of(e), k).Similarity, err = number(v)
			return err
		}
	}
	return parts
}

// at returns the k-th of a list that grows as it is filled.
func at[T any](list *[]T, k int) *T {
	for len(*list) <= k {
		var zero T
		*list = append(*list, zero)
	}
	return &(*list)[k]
}

// chunk takes the values of a column in a group of rows; the first column says how many there are.
func (r *rows) chunk(column parquet.ColumnChunk, l leaf, first bool) error {
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
			return fmt.Errorf(": %s: %w", l.name, err)
		}
		from := page.Values()
		for {
			n, err := from.ReadValues(values)
			for _, v := range values[:n] {
				if k++; v.RepetitionLevel() == 0 {
					row, k = row+1, 0
				}
				if row < 0 {
					return fmt.Errorf(": %s: begins amid a row", l.name)
				}
				if row == len(r.group) && first {
					if r.room -= int64(unsafe.Sizeof(Suspect{})); r.room < 0 {
						return fmt.Errorf(": has more rows than a file of this size holds")
					}
					r.group = append(r.group, Suspect{})
				}
				if row >= len(r.group) {
					return fmt.Errorf(": %s: has more values than there are paths", l.name)
				}
				n := 0
				if kind := v.Kind(); kind == parquet.ByteArray || kind == parquet.FixedLenByteArray {
					n = len(v.ByteArray())
				}
				if r.room -= int64(n); n > mostText || r.room < 0 {
					return fmt.Errorf(": row %d: %s: a text of %d bytes, expected at most %d, and fewer than %d for each byte of the file", r.given+row+1, l.name, n, mostText, roomPerByte)
				}
				if err := l.take(r, &r.group[row], k, v); err != nil {
					return fmt.Errorf(": row %d: %s: %w", r.given+row+1, l.name, err)
				}
			}
			if errors.Is(err, io.EOF) || n == 0 && err == nil {
				break
			}
			if err != nil {
				return fmt.Errorf(": %s: %w", l.name, err)
			}
		}
		parquet.Release(page)
	}
	if row+1 != len(r.group) {
		return fmt.Errorf(": %s: has values of %d rows, expected %d", l.name, row+1, len(r.group))
	}
	return nil
}

// take sets a value; of a list, nothing is no value.
func (l leaf) take(r *rows, e *Suspect, k int, v parquet.Value) error {
	if v.IsNull() && strings.Contains(l.name, ".") {
		return nil
	}
	return l.set(e, k, r.shown(v))
}

// shown returns a value as text; one that is known already is not made again.
func (r *rows) shown(v parquet.Value) string {
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
