package shards

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"winnow/internal/regular"
)

// These limits bound the memory allocated for a Parquet file. The library trusts the stated sizes of lists, pages,
// values per page and runs of values, so 40 kB of input could request gigabytes. Therefore footers and page headers are
// decoded with a bounded reader, and pages are unpacked and counted in this package.
const (
	maxFooter  = 16 << 20
	firstRead  = 1 << 16 // first read of a page header, which may contain long minimum and maximum values
	maxHeader  = 16 << 20
	maxSchema  = 1000
	maxChunks  = 1 << 17 // columns × row groups
	maxPage    = 256 << 20
	freeBytes  = 8 << 20 // unpacked bytes allowed per column in any file,
	bytesEach  = 256     // plus this number for each byte of the file
	freeValues = 1 << 12 // values allowed per column in any file,
	valuesEach = 16      // plus this number for each byte of the file
)

// pageBudget holds the numbers of values and of unpacked bytes that may still be read.
type pageBudget struct{ values, bytes int64 }

// openGuarded checks the footer of a Parquet file and opens the file.
func openGuarded(src io.ReaderAt, size int64) (*parquet.File, error) {
	if err := checkFooter(src, size); err != nil {
		return nil, err
	}
	return parquet.OpenFile(src, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
}

func checkFooter(src io.ReaderAt, size int64) error {
	var tail [8]byte
	var head [64]byte
	if n, _ := src.ReadAt(head[:], 0); regular.Pointer(head[:n]) != nil {
		return regular.Pointer(head[:n])
	}
	if size < 12 {
		return errCut
	}
	if _, err := src.ReadAt(tail[:], size-8); err != nil && err != io.EOF {
		return err
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	if string(tail[4:]) != "PAR1" || length > min(size-12, maxFooter) {
		return fmt.Errorf("has a footer of %d bytes in a file of %d, or does not end with PAR1", length, size)
	}
	text := make([]byte, length)
	if _, err := src.ReadAt(text, size-8-length); err != nil && err != io.EOF {
		return err
	}
	var meta format.FileMetaData
	if _, err := decodeThrift(text, &meta); err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	if len(meta.Schema) > maxSchema || len(meta.Schema)*len(meta.RowGroups) > maxChunks {
		return fmt.Errorf("footer: %d columns in %d row groups, more than winnow accepts",
			len(meta.Schema), len(meta.RowGroups))
	}
	return nil
}

// leafOf returns a leaf column, which contains values.
func leafOf(file *parquet.File, group, column int) (*parquet.Column, error) {
	chunk, ok := file.RowGroups()[group].ColumnChunks()[column].(*parquet.FileColumnChunk)
	if ok {
		if leaf, ok := chunk.Node().(*parquet.Column); ok {
			return leaf, nil
		}
	}
	return nil, errors.New("does not have this column in its file")
}

// findColumnSpan returns the byte range of a column's pages in a row group.
func findColumnSpan(file *parquet.File, group, column int) (at, end int64, err error) {
	meta := &file.Metadata().RowGroups[group].Columns[column].MetaData
	at, length, size := meta.DataPageOffset, meta.TotalCompressedSize, file.Size()
	if meta.DictionaryPageOffset != 0 {
		at = meta.DictionaryPageOffset
	}
	if at < 0 || length < 0 || at > size || length > size-at {
		return 0, 0, fmt.Errorf("column: has %d bytes at byte %d, but the file has only %d", length, at, size)
	}
	return at, at + length, nil
}

// pageContent is the unpacked content of a page, in the parts that the library's encodings decode. Its values have been
// counted.
type pageContent struct {
	Values   int             // number of values, including nulls
	Levels   []byte          // definition levels without their length; empty if the column has none
	Encoding format.Encoding // encoding of Data; always plain for a dictionary
	Data     []byte
}

// pagePlace is the location of a page with its header, and the content of the header.
type pagePlace struct {
	At, Length int64
	Values     int // number of rows, if the column is not repeated
	Dictionary bool
}

// listPlaces lists the pages of a column in a row group by reading their headers only.
func listPlaces(file *parquet.File, src io.ReaderAt, group, column int) (places []pagePlace, err error) {
	at, end, err := findColumnSpan(file, group, column)
	if err != nil {
		return nil, err
	}
	for at < end {
		p, _, n, err := readPageHeader(src, at, end)
		if err != nil {
			return nil, fmt.Errorf("page at byte %d: %w", at, err)
		}
		place := pagePlace{At: at, Length: n + int64(p.CompressedPageSize)}
		switch {
		case p.Type == format.DictionaryPage && p.DictionaryPageHeader.Valid:
			place.Dictionary, place.Values = true, int(p.DictionaryPageHeader.V.NumValues)
		case p.Type == format.DataPage && p.DataPageHeader.Valid:
			place.Values = int(p.DataPageHeader.V.NumValues)
		case p.Type == format.DataPageV2 && p.DataPageHeaderV2.Valid:
			place.Values = int(p.DataPageHeaderV2.V.NumValues)
		default:
			return nil, fmt.Errorf("page at byte %d: is of type %v, expected data or a dictionary", at, p.Type)
		}
		if place.Values < 0 {
			return nil, fmt.Errorf("page at byte %d: states a negative number of values, %d", at, place.Values)
		}
		places = append(places, place)
		at += place.Length
	}
	return places, nil
}

// openPage reads and unpacks a page of a column.
func (p pagePlace) openPage(file *parquet.File, src io.ReaderAt, group, column int) (pageContent, error) {
	leaf, err := leafOf(file, group, column)
	if err != nil {
		return pageContent{}, err
	}
	left := pageBudget{freeValues + valuesEach*file.Size(), freeBytes + bytesEach*file.Size()}
	page, _, err := readPage(src, p.At, p.At+p.Length, &left)
	var c pageContent
	if err == nil {
		c, err = page.unpackContent(leaf, &left)
	}
	if err != nil {
		err = fmt.Errorf("page at byte %d: %w", p.At, err)
	}
	return c, err
}

// packedPage is a compressed page with its header.
type packedPage struct {
	format.PageHeader
	packed []byte
}

// readPageHeader reads the page header at the given offset of the file and returns the header's length. head holds the
// header and the bytes read after it.
func readPageHeader(src io.ReaderAt, at, end int64) (p packedPage, head []byte, length int64, err error) {
	n, err := 0, errCut
	for size := int64(firstRead); err != nil; size *= 2 {
		if int64(len(head)) == min(maxHeader, end-at) {
			return p, nil, 0, fmt.Errorf("header: %w, or is longer than %d bytes", err, maxHeader)
		}
		head = make([]byte, min(size, maxHeader, end-at))
		if _, err := src.ReadAt(head, at); err != nil && err != io.EOF {
			return p, nil, 0, err
		}
		p.PageHeader = format.PageHeader{}
		n, err = decodeThrift(head, &p.PageHeader)
	}
	if packed := int64(p.CompressedPageSize); packed < 0 || packed > end-at-int64(n) {
		return p, nil, 0, fmt.Errorf("states %d bytes, but only %d are left", packed, end-at-int64(n))
	}
	return p, head, int64(n), nil
}

// readPage reads the page at offset at. It returns the page and its length including the header.
func readPage(src io.ReaderAt, at, end int64, left *pageBudget) (packedPage, int64, error) {
	p, head, n, err := readPageHeader(src, at, end)
	if err != nil {
		return p, 0, err
	}
	packed, unpacked := int64(p.CompressedPageSize), int64(p.UncompressedPageSize)
	if left.bytes -= unpacked; unpacked < 0 || unpacked > maxPage || left.bytes < 0 {
		return p, 0, fmt.Errorf("states %d unpacked bytes, more than allowed for a file of this size", unpacked)
	}
	if int64(len(head)) >= n+packed {
		p.packed = head[n : n+packed]
		return p, n + packed, nil
	}
	var text bytes.Buffer
	_, err = io.Copy(&text, io.NewSectionReader(src, at+n, packed))
	p.packed = text.Bytes()
	return p, n + packed, err
}
