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

// Limits on what a Parquet file makes its reader allocate. The library trusts the sizes that a file states: of its
// lists, its pages, the values of a page and the runs of values in it; forty kilobytes can ask for gigabytes. So
// footers and headers are decoded by a bounded reader, and pages are unpacked and counted here.
const (
	maxFooter  = 16 << 20
	firstRead  = 1 << 16 // first read of a page's header: numbers, and its least and largest value, which may be long
	maxHeader  = 16 << 20
	maxSchema  = 1000
	maxChunks  = 1 << 17 // columns × row groups
	maxPage    = 256 << 20
	freeBytes  = 8 << 20 // bytes that a column may unpack to in any file,
	bytesEach  = 256     // and in addition this many for each byte of the file
	freeValues = 1 << 12 // values that a column may have in any file,
	valuesEach = 16      // and in addition this many for each byte of the file
)

// pageBudget is how many values of a page may still be read, and how many bytes it may to.
type pageBudget struct{ values, bytes int64 }

// openGuarded checks the footer of a file and opens it.
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
		return fmt.Errorf("states a footer of %d bytes in %d, or no end PAR1", length, size)
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
		return fmt.Errorf("footer: %d columns in %d groups of rows, expected fewer",
			len(meta.Schema), len(meta.RowGroups))
	}
	return nil
}

// leafOf returns a column that holds values.
func leafOf(file *parquet.File, group, column int) (*parquet.Column, error) {
	chunk, ok := file.RowGroups()[group].ColumnChunks()[column].(*parquet.FileColumnChunk)
	if ok {
		if leaf, ok := chunk.Node().(*parquet.Column); ok {
			return leaf, nil
		}
	}
	return nil, errors.New("is not a column of a file")
}

// findColumnSpan returns where the pages of a column in a row group begin and end.
func findColumnSpan(file *parquet.File, group, column int) (at, end int64, err error) {
	meta := &file.Metadata().RowGroups[group].Columns[column].MetaData
	at, length, size := meta.DataPageOffset, meta.TotalCompressedSize, file.Size()
	if meta.DictionaryPageOffset != 0 {
		at = meta.DictionaryPageOffset
	}
	if at < 0 || length < 0 || at > size || length > size-at {
		return 0, 0, fmt.Errorf("states %d bytes from byte %d, the file has %d", length, at, size)
	}
	return at, at + length, nil
}

// pageContent is the unpacked content of a page, with its values counted: the parts that the library's encodings
// decode.
type pageContent struct {
	Values   int             // number of values, including nulls
	Levels   []byte          // definition levels without their length; empty if the column has none
	Encoding format.Encoding // encoding of Data; always plain for a dictionary
	Data     []byte
}

// pagePlace is the place of a page with its header, and what the header states.
type pagePlace struct {
	At, Length int64
	Values     int // number of rows, if the column is not repeated
	Dictionary bool
}

// listPlaces lists the pages of a column in a row group, reading only their headers.
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
			return nil, fmt.Errorf("page at byte %d: states %d values", at, place.Values)
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

// packedPage is a packed page of the file.
type packedPage struct {
	format.PageHeader
	packed []byte
}

// readPageHeader reads the header of the page at a place and its length. head holds the header and what was read after
// it.
func readPageHeader(src io.ReaderAt, at, end int64) (p packedPage, head []byte, length int64, err error) {
	n, err := 0, errCut
	for size := int64(firstRead); err != nil; size *= 2 {
		if int64(len(head)) == min(maxHeader, end-at) {
			return p, nil, 0, fmt.Errorf("header: %w, or has more than %d bytes", err, maxHeader)
		}
		head = make([]byte, min(size, maxHeader, end-at))
		if _, err := src.ReadAt(head, at); err != nil && err != io.EOF {
			return p, nil, 0, err
		}
		p.PageHeader = format.PageHeader{}
		n, err = decodeThrift(head, &p.PageHeader)
	}
	if packed := int64(p.CompressedPageSize); packed < 0 || packed > end-at-int64(n) {
		return p, nil, 0, fmt.Errorf("states %d bytes, %d are left", packed, end-at-int64(n))
	}
	return p, head, int64(n), nil
}

// readPage reads the page at a place and returns it with its length, including the header.
func readPage(src io.ReaderAt, at, end int64, left *pageBudget) (packedPage, int64, error) {
	p, head, n, err := readPageHeader(src, at, end)
	if err != nil {
		return p, 0, err
	}
	packed, unpacked := int64(p.CompressedPageSize), int64(p.UncompressedPageSize)
	if left.bytes -= unpacked; unpacked < 0 || unpacked > maxPage || left.bytes < 0 {
		return p, 0, fmt.Errorf("states %d bytes unpacked, more than a file of this size holds", unpacked)
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
