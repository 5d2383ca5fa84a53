// Package parquetimages finds images in the columns of Parquet files, as Hugging Face's datasets embed them: a
// structure with the bytes of an image and its path, or bytes alone. Rows are located by the page index of the
// file; one page at a time is read and unpacked.
package parquetimages

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"winnow/internal/parquetguard"
)

// Feature is the metadata that Hugging Face's library stores for a column.
type Feature struct {
	Type  string   `json:"_type"` // such as ClassLabel, Image
	Names []string `json:"names"` // the class names of a ClassLabel
}

// File is an open file. Its methods are safe for concurrent use.
type File struct {
	Images   []string           // columns that may hold images
	Features map[string]Feature // by column; empty if the file has none
	Rows     int64

	file   *parquet.File
	leaf   map[string]int // of each of Images
	starts []int64        // first row of each group
	mu     sync.Mutex
	places map[[2]int]*chunk // pages by group and leaf, once they were needed
}

// chunk is the pages of a column in a row group.
type chunk struct {
	dictionary *parquetguard.Place
	pages      []parquetguard.Place
	starts     []int64 // first row of each page within the group
}

// bytesLeaf is the part of a structure that holds the image, pathLeaf the part that holds its path.
const (
	bytesLeaf = "bytes"
	pathLeaf  = "path"
)

// featuresKey is the metadata key of Hugging Face's features.
const featuresKey = "huggingface"

// Open reads a file's description.
func Open(src io.ReaderAt, size int64) (f *File, err error) {
	defer recoverBroken(&err)
	file, _, err := parquetguard.Open(src, size)
	if err != nil {
		return nil, fmt.Errorf("is no Parquet file: %w", err)
	}
	f = &File{file: file, leaf: map[string]int{}, Features: map[string]Feature{}, places: map[[2]int]*chunk{}}
	for i, column := range file.Schema().Columns() {
		leaf, ok := file.Schema().Lookup(column...)
		if !ok || leaf.MaxRepetitionLevel != 0 || leaf.Node.Type().Kind() != parquet.ByteArray {
			continue
		}
		text := leaf.Node.Type().LogicalType() != nil || leaf.Node.Type().ConvertedType() != nil
		if len(column) == 2 && column[1] == bytesLeaf || len(column) == 1 && !text {
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

// recoverBroken turns a panic into an error: broken files make the library index out of range.
func recoverBroken(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("is no sound Parquet file: %v", p)
	}
}

// readFeatures reads the features. Those in an unknown form are ignored.
func (f *File) readFeatures() error {
	text, ok := f.file.Lookup(featuresKey)
	if !ok {
		return nil
	}
	var notes struct {
		Info struct {
			Features map[string]json.RawMessage `json:"features"`
		} `json:"info"`
	}
	if err := json.Unmarshal([]byte(text), &notes); err != nil {
		return fmt.Errorf("its metadata %q is no JSON: %w", featuresKey, err)
	}
	for column, raw := range notes.Info.Features {
		var feature Feature
		if json.Unmarshal(raw, &feature) == nil {
			f.Features[column] = feature
		}
	}
	return nil
}

// PathColumn returns the parts of the column that holds the paths of a column's images, nil if there is none.
func (f *File) PathColumn(column string) []string {
	at := []string{column, pathLeaf}
	if leaf, ok := f.file.Schema().Lookup(at...); ok && leaf.MaxRepetitionLevel == 0 {
		return at
	}
	return nil
}

// Nulls returns how many rows of a column have no image, as far as the file says.
func (f *File) Nulls(column string) (n int64) {
	for i := range f.file.RowGroups() {
		n += f.file.Metadata().RowGroups[i].Columns[f.leaf[column]].MetaData.Statistics.NullCount
	}
	return n
}

// Name returns the name of a row's image inside the file: column and row number, with the image's ending.
func Name(column string, row int64, ending string) string {
	return fmt.Sprintf("%s/%06d%s", column, row, ending)
}

// Image returns an image by name. src is the file that was opened. The result must not be changed.
func (f *File) Image(src io.ReaderAt, cache *Cache, name string) (image []byte, err error) {
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
		return nil, errors.New("its row lies in no page of the file")
	}
	values, err := cache.getPage(key{f, group, leaf, n}, func() ([][]byte, error) {
		return f.readPageValues(src, c, group, leaf, n)
	})
	if err != nil {
		return nil, err
	}
	if image = values[row-c.starts[n]]; image == nil {
		return nil, errors.New("its row holds no bytes of an image, perhaps a path alone")
	}
	return image, nil
}

// listPages lists the pages of a column in a row group, once.
func (f *File) listPages(src io.ReaderAt, group, leaf int) (*chunk, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if c := f.places[[2]int{group, leaf}]; c != nil {
		return c, nil
	}
	all, err := parquetguard.Places(f.file, src, group, leaf)
	if err != nil {
		return nil, err
	}
	c, row := &chunk{}, int64(0)
	for _, p := range all {
		if p.Dictionary {
			c.dictionary = &p
			continue
		}
		c.pages, c.starts = append(c.pages, p), append(c.starts, row)
		row += int64(p.Values)
	}
	f.places[[2]int{group, leaf}] = c
	return c, nil
}

// readPageValues returns the values of a page, nil if there are none.
func (f *File) readPageValues(src io.ReaderAt, c *chunk, group, leaf, n int) (values [][]byte, err error) {
	defer recoverBroken(&err)
	content, err := c.pages[n].Open(f.file, src, group, leaf)
	if err != nil {
		return nil, err
	}
	column := f.file.RowGroups()[group].ColumnChunks()[leaf].(*parquet.FileColumnChunk).Node().(*parquet.Column)
	highest := byte(column.MaxDefinitionLevel())
	there := slices.Repeat([]byte{highest}, content.Values)
	if highest > 0 {
		if there, err = decodeLevels(content.Levels, highest, content.Values); err != nil {
			return nil, err
		}
	}
	count := 0
	for _, level := range there {
		if level == highest {
			count++
		}
	}
	full, err := f.decodePage(src, c, content, count, group, leaf)
	if err != nil {
		return nil, err
	}
	if len(full) < count {
		return nil, fmt.Errorf("a page holds %d values, states %d", len(full), count)
	}
	values = make([][]byte, content.Values)
	next := 0
	for i, level := range there {
		if level == highest {
			values[i] = full[next]
			next++
		}
	}
	return values, nil
}

// decodePage returns the values of a page that are not null.
func (f *File) decodePage(src io.ReaderAt, c *chunk, content parquetguard.Content,
	count, group, leaf int) ([][]byte, error) {
	switch content.Encoding {
	case format.Plain:
		return splitPlain(content.Data, count)
	//lint:ignore SA1019 older files still use it
	case format.PlainDictionary, format.RLEDictionary:
	default:
		offsets := make([]uint32, 0, count+1)
		data, offsets, err := parquet.LookupEncoding(content.Encoding).DecodeByteArray(nil, content.Data, offsets)
		if err != nil {
			return nil, err
		}
		var values [][]byte
		for i := range max(len(offsets), 1) - 1 {
			values = append(values, data[offsets[i]:offsets[i+1]:offsets[i+1]])
		}
		return values, nil
	}
	if c.dictionary == nil {
		return nil, errors.New("a page refers to a dictionary, and there is none")
	}
	words, err := c.dictionary.Open(f.file, src, group, leaf)
	if err != nil {
		return nil, err
	}
	list, err := splitPlain(words.Data, words.Values)
	if err != nil {
		return nil, err
	}
	at, err := parquet.RLEDictionary.DecodeInt32(nil, content.Data)
	if err != nil {
		return nil, err
	}
	values := make([][]byte, 0, count)
	for _, i := range at[:min(count, len(at))] {
		if i < 0 || int(i) >= len(list) {
			return nil, fmt.Errorf("a page refers to entry %d of a dictionary of %d", i, len(list))
		}
		values = append(values, list[i])
	}
	return values, nil
}

// decodeLevels decodes levels up to the highest.
func decodeLevels(data []byte, highest byte, n int) ([]byte, error) {
	out, err := levelEncoding(highest).DecodeLevels(nil, data)
	if err != nil {
		return nil, err
	}
	if len(out) < n {
		return nil, fmt.Errorf("a page holds %d levels, states %d", len(out), n)
	}
	return out[:n], nil
}

// splitPlain splits values that are each preceded by their length.
func splitPlain(data []byte, n int) ([][]byte, error) {
	values := make([][]byte, 0, min(n, len(data)/4))
	for range n {
		if len(data) < 4 {
			return nil, io.ErrUnexpectedEOF
		}
		size := int64(data[0]) | int64(data[1])<<8 | int64(data[2])<<16 | int64(data[3])<<24
		if data = data[4:]; size > int64(len(data)) {
			return nil, io.ErrUnexpectedEOF
		}
		values = append(values, data[:size:size])
		data = data[size:]
	}
	return values, nil
}
