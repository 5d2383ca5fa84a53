package shards

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/bits"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/format"
)

// Feature is the metadata that Hugging Face's library stores for a column.
type Feature struct {
	Type  string   `json:"_type"` // such as ClassLabel, Image
	Names []string `json:"names"` // the class names of a ClassLabel
}

// ParquetFile is an open Parquet file. It may contain images as Hugging Face's datasets embed them: a structure with
// the bytes and the path of an image, or bytes only. Reading unpacks one page per column at a time.
type ParquetFile struct {
	Columns  []string           // columns with one value per row; lists and structures are left out
	Images   []string           // columns that may hold images
	Features map[string]Feature // features by column; empty if the file has none
	Rows     int64

	file   *parquet.File
	size   int64
	at     []int          // leaf index of each of Columns
	leaf   map[string]int // leaf index of each of Images
	starts []int64        // first row of each row group
	mu     sync.Mutex
	chunks map[[2]int]*chunk // filled on first use, by row group and leaf
}

// chunk lists the pages of a column in a row group.
type chunk struct {
	column     *parquet.Column
	dictionary *pagePlace
	pages      []pagePlace
	starts     []int64 // first row of each page within the group
}

// OpenParquet reads the schema and the metadata of a file.
func OpenParquet(src io.ReaderAt, size int64) (f *ParquetFile, err error) {
	defer recoverBroken(&err)
	file, err := openGuarded(src, size)
	if err != nil {
		return nil, fmt.Errorf("is not a Parquet file: %w", err)
	}
	f = &ParquetFile{file: file, size: size, leaf: map[string]int{}, Features: map[string]Feature{},
		chunks: map[[2]int]*chunk{}}
	for i, column := range file.Schema().Columns() {
		leaf, ok := file.Schema().Lookup(column...)
		if !ok || leaf.MaxRepetitionLevel != 0 {
			continue
		}
		if len(column) == 1 {
			f.Columns, f.at = append(f.Columns, column[0]), append(f.at, i)
		}
		t := leaf.Node.Type()
		text := t.LogicalType() != nil || t.ConvertedType() != nil
		if t.Kind() == parquet.ByteArray && (len(column) == 2 && column[1] == "bytes" || len(column) == 1 && !text) {
			f.Images, f.leaf[column[0]] = append(f.Images, column[0]), i
		}
	}
	for _, g := range file.RowGroups() {
		if g.NumRows() < 0 {
			return nil, fmt.Errorf("states %d rows", g.NumRows())
		}
		f.starts = append(f.starts, f.Rows)
		f.Rows += g.NumRows()
	}
	return f, f.readFeatures()
}

// recoverBroken turns a panic into an error: on broken files, the library may index out of range.
func recoverBroken(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("is a broken Parquet file: %v", p)
	}
}

// readFeatures reads the features and ignores features in an unknown format.
func (f *ParquetFile) readFeatures() error {
	text, ok := f.file.Lookup("huggingface")
	if !ok {
		return nil
	}
	var notes struct {
		Info struct {
			Features map[string]json.RawMessage `json:"features"`
		} `json:"info"`
	}
	if err := json.Unmarshal([]byte(text), &notes); err != nil {
		return fmt.Errorf("the Hugging Face metadata are not valid JSON: %w", err)
	}
	for column, raw := range notes.Info.Features {
		var feature Feature
		if json.Unmarshal(raw, &feature) == nil {
			f.Features[column] = feature
		}
	}
	return nil
}

// Leave excludes a column from Columns.
func (f *ParquetFile) Leave(name string) {
	if i := slices.Index(f.Columns, name); i >= 0 {
		f.Columns, f.at = slices.Delete(f.Columns, i, i+1), slices.Delete(f.at, i, i+1)
	}
}

// TakePath adds the column NAME.path with the paths of a column's images to Columns. It returns false if the file has
// no such column.
func (f *ParquetFile) TakePath(name string) bool {
	at := []string{name, "path"}
	leaf, ok := f.file.Schema().Lookup(at...)
	if !ok || leaf.MaxRepetitionLevel != 0 {
		return false
	}
	f.Columns, f.at = append(f.Columns, name+".path"), append(f.at, leaf.ColumnIndex)
	return true
}

// Nulls returns how many rows of a column have no image, according to the file's statistics.
func (f *ParquetFile) Nulls(column string) (n int64) {
	for i := range f.file.RowGroups() {
		n += f.file.Metadata().RowGroups[i].Columns[f.leaf[column]].MetaData.Statistics.NullCount
	}
	return n
}

// ImageName returns the name of a row's image inside a file: column, row number and extension.
func ImageName(column string, row int64, ending string) string {
	return fmt.Sprintf("%s/%06d%s", column, row, ending)
}

// Image returns an image by name. src is the file that was opened. The caller must not change the result.
func (f *ParquetFile) Image(src io.ReaderAt, cache *PageCache, name string) (image []byte, err error) {
	defer recoverBroken(&err)
	column, base := path.Split(name)
	leaf, known := f.leaf[strings.TrimSuffix(column, "/")]
	stem := strings.TrimSuffix(base, path.Ext(base))
	row, bad := strconv.ParseInt(stem, 10, 64)
	if !known || bad != nil || row < 0 || row >= f.Rows || stem != fmt.Sprintf("%06d", row) {
		return nil, fs.ErrNotExist
	}
	group := sort.Search(len(f.starts), func(i int) bool { return f.starts[i] > row }) - 1
	c, err := f.listPages(src, group, leaf)
	if err != nil {
		return nil, err
	}
	row -= f.starts[group]
	n := sort.Search(len(c.starts), func(i int) bool { return c.starts[i] > row }) - 1
	if n < 0 || row-c.starts[n] >= int64(c.pages[n].Values) {
		return nil, errors.New("the row is in no page of the file")
	}
	values, err := cache.getPage(pageKey{f, group, leaf, n}, func() ([]parquet.Value, error) {
		return f.readPage(src, c, group, leaf, n)
	})
	if err != nil {
		return nil, err
	}
	v := values[row-c.starts[n]]
	if v.IsNull() {
		return nil, errors.New("the row has no image bytes, perhaps only a path")
	}
	return v.ByteArray(), nil
}

// Limits on the memory for the texts of a file: roomPerByte bytes for each byte of the file, but at least leastRoom. A
// text that the file stores once and repeats is counted each time.
const (
	leastRoom   = 16 << 20
	roomPerByte = 1000
	cellBytes   = 16 // overhead of each text
)

// EachRow passes the rows to yield in order, with one text for each of Columns, "" for null. It reuses the slice. If
// yield returns an error, EachRow stops and returns that error unchanged.
func (f *ParquetFile) EachRow(src io.ReaderAt, yield func(record []string) error) (err error) {
	defer recoverBroken(&err)
	record, room := make([]string, len(f.at)), leastRoom+roomPerByte*f.size
	for group, g := range f.file.RowGroups() {
		chunks, next, held := make([]*chunk, len(f.at)), make([]int, len(f.at)), make([][]parquet.Value, len(f.at))
		for i, leaf := range f.at {
			if chunks[i], err = f.listPages(src, group, leaf); err != nil {
				return fmt.Errorf("column %.80q: %w", f.Columns[i], err)
			}
		}
		for range g.NumRows() {
			for i := range f.at {
				for len(held[i]) == 0 {
					if next[i] == len(chunks[i].pages) {
						return fmt.Errorf("column %.80q: has fewer values than rows", f.Columns[i])
					}
					if held[i], err = f.readPage(src, chunks[i], group, f.at[i], next[i]); err != nil {
						return fmt.Errorf("column %.80q: %w", f.Columns[i], err)
					}
					next[i]++
				}
				record[i], held[i] = showCell(held[i][0]), held[i][1:]
				room -= int64(len(record[i]))
			}
			if room -= int64(cellBytes * max(len(record), 1)); room < 0 {
				return fmt.Errorf("holds more text than allowed for a file of this size, expected fewer than %d "+
					"bytes per byte of the file", roomPerByte)
			}
			if err := yield(record); err != nil {
				return err
			}
		}
	}
	return nil
}

// showCell returns a value as text, "" for null.
func showCell(v parquet.Value) string {
	switch {
	case v.IsNull():
		return ""
	case v.Kind() == parquet.Float:
		return strconv.FormatFloat(float64(v.Float()), 'g', -1, 32)
	case v.Kind() == parquet.Double:
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	case v.Kind() == parquet.ByteArray, v.Kind() == parquet.FixedLenByteArray:
		return string(v.ByteArray())
	}
	return v.String()
}

// listPages returns the pages of a column in a row group, which it lists on first use.
func (f *ParquetFile) listPages(src io.ReaderAt, group, leaf int) (*chunk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.chunks[[2]int{group, leaf}]; c != nil {
		return c, nil
	}
	all, err := listPlaces(f.file, src, group, leaf)
	if err != nil {
		return nil, err
	}
	c, row := &chunk{}, int64(0)
	c.column = f.file.RowGroups()[group].ColumnChunks()[leaf].(*parquet.FileColumnChunk).Node().(*parquet.Column)
	for _, p := range all {
		if p.Dictionary {
			c.dictionary = &p
			continue
		}
		c.pages, c.starts = append(c.pages, p), append(c.starts, row)
		row += int64(p.Values)
	}
	f.chunks[[2]int{group, leaf}] = c
	return c, nil
}

// readPage returns the values of a page, one for each row.
func (f *ParquetFile) readPage(src io.ReaderAt, c *chunk, group, leaf, n int) ([]parquet.Value, error) {
	content, err := c.pages[n].openPage(f.file, src, group, leaf)
	if err != nil {
		return nil, err
	}
	highest := byte(c.column.MaxDefinitionLevel())
	levels := slices.Repeat([]byte{highest}, content.Values)
	if highest > 0 {
		levels, err = (&rle.Encoding{BitWidth: bits.Len8(highest)}).DecodeLevels(nil, content.Levels)
		if err != nil || len(levels) < content.Values {
			return nil, fmt.Errorf("a page holds %d levels, expected %d: %w", len(levels), content.Values, err)
		}
	}
	count := 0
	for _, level := range levels[:content.Values] {
		if level == highest {
			count++
		}
	}
	full, err := f.decodeValues(src, c, content, count, group, leaf)
	if err != nil || len(full) < count {
		return nil, fmt.Errorf("a page holds %d values, expected %d: %w", len(full), count, err)
	}
	values, next := make([]parquet.Value, content.Values), 0
	for i := range values {
		if levels[i] == highest {
			values[i] = full[next]
			next++
		}
	}
	return values, nil
}

// decodeValues returns the non-null values of a page.
func (f *ParquetFile) decodeValues(src io.ReaderAt, c *chunk, content pageContent, count, group, leaf int) (
	[]parquet.Value, error) {
	//lint:ignore SA1019 older files still use it
	if content.Encoding != format.PlainDictionary && content.Encoding != format.RLEDictionary {
		page, err := c.decodePlain(content.Encoding, content.Data, count)
		if err != nil {
			return nil, err
		}
		values := make([]parquet.Value, count)
		n, err := c.column.Type().NewPage(leaf, count, page).Values().ReadValues(values)
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return values[:n], err
	}
	if c.dictionary == nil {
		return nil, errors.New("refers to a dictionary, but the column has none")
	}
	words, err := c.dictionary.openPage(f.file, src, group, leaf)
	if err != nil {
		return nil, err
	}
	page, err := c.decodePlain(format.Plain, words.Data, words.Values)
	if err != nil {
		return nil, err
	}
	dictionary := c.column.Type().NewDictionary(leaf, words.Values, page)
	at, err := parquet.RLEDictionary.DecodeInt32(nil, content.Data)
	if err != nil {
		return nil, err
	}
	values := make([]parquet.Value, 0, count)
	for _, i := range at[:min(count, len(at))] {
		if i < 0 || int(i) >= dictionary.Len() {
			return nil, fmt.Errorf("refers to entry %d of a dictionary with %d entries", i, dictionary.Len())
		}
		values = append(values, dictionary.Index(i))
	}
	return values, nil
}

// decodePlain decodes n values.
func (c *chunk) decodePlain(kind format.Encoding, data []byte, n int) (encoding.Values, error) {
	t, as := c.column.Type(), parquet.LookupEncoding(kind)
	var offsets []uint32
	if t.Kind() == parquet.ByteArray {
		offsets = make([]uint32, 0, n+1)
	}
	return t.Decode(t.NewValues(make([]byte, 0, t.EstimateDecodeSize(n, data, as)), offsets), data, as)
}
