// Package parquetguard bounds what a Parquet file makes its reader allocate. The library trusts sizes that a file states:
// of its lists, its pages, the values of a page and the runs of values inside; forty kilobytes can ask for gigabytes. The
// guard looks at all of them first, and unpacks each page once to count.
//
// A reader calls Footer, opens it, and calls Column for each part of a column before reading it. It imports
// nothing of winnow.
package parquetguard

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

const (
	maxFooter  = 16 << 20
	maxHeader  = 1 << 16 // of a page: a few numbers, and its least and largest value
	maxSchema  = 1000
	maxChunks  = 1 << 17 // columns × groups of rows
	maxPage    = 256 << 20
	freeBytes  = 8 << 20 // what the pages of a column may unpack to in any file; in a larger one
	bytesEach  = 256     // so many for each byte of the file
	freeValues = 1 << 12 // values of a column that any file may have; a larger one
	valuesEach = 16      // so many for each of its bytes
)

// Footer checks the list of what is in a file.
func Footer(src io.ReaderAt, size int64) error {
	var tail [8]byte
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
	n, err := structure(text)
	if err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	var meta format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), text[:n], &meta); err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	if len(meta.Schema) > maxSchema || len(meta.Schema)*len(meta.RowGroups) > maxChunks {
		return fmt.Errorf("footer: %d columns in %d groups of rows, expected fewer", len(meta.Schema), len(meta.RowGroups))
	}
	return nil
}

// Budget is how many values of a column may still be read, and how many bytes its pages may still unpack to.
type Budget struct{ values, bytes int64 }

// ForColumn returns the budget of a column of a file.
func ForColumn(size int64) Budget {
	return Budget{freeValues + valuesEach*size, freeBytes + bytesEach*size}
}

// Column checks the pages of a column in a group of rows, and takes what they hold from the budget.
func Column(src io.ReaderAt, file *parquet.File, group, column int, budget *Budget) error {
	leaf, ok := file.RowGroups()[group].ColumnChunks()[column].(*parquet.FileColumnChunk).Node().(*parquet.Column)
	if !ok {
		return fmt.Errorf("is no column of a file")
	}
	meta := &file.Metadata().RowGroups[group].Columns[column].MetaData
	at, length, size := meta.DataPageOffset, meta.TotalCompressedSize, file.Size()
	if meta.DictionaryPageOffset != 0 {
		at = meta.DictionaryPageOffset
	}
	if at < 0 || length < 0 || at > size || length > size-at {
		return fmt.Errorf("states %d bytes from byte %d, the file has %d", length, at, size)
	}
	for end := at + length; at < end; {
		page, n, err := read(src, at, end, budget)
		if err == nil {
			err = page.check(leaf, budget)
		}
		if err != nil {
			return fmt.Errorf("page at byte %d: %w", at, err)
		}
		at += n
	}
	return nil
}

// page is a page as it lies in the file.
type page struct {
	format.PageHeader
	packed []byte
}

// read reads the page at a place and returns its length with its header.
func read(src io.ReaderAt, at, end int64, budget *Budget) (page, int64, error) {
	var p page
	head := make([]byte, min(maxHeader, end-at))
	if _, err := src.ReadAt(head, at); err != nil && err != io.EOF {
		return p, 0, err
	}
	n, err := structure(head)
	if err != nil {
		return p, 0, fmt.Errorf("header: %w, or has more than %d bytes", err, maxHeader)
	}
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), head[:n], &p.PageHeader); err != nil {
		return p, 0, fmt.Errorf("header: %w", err)
	}
	packed, unpacked := int64(p.CompressedPageSize), int64(p.UncompressedPageSize)
	if packed < 0 || packed > end-at-int64(n) {
		return p, 0, fmt.Errorf("states %d bytes, %d are left", packed, end-at-int64(n))
	}
	if budget.bytes -= unpacked; unpacked < 0 || unpacked > maxPage || budget.bytes < 0 {
		return p, 0, fmt.Errorf("states %d bytes unpacked, more than a file of this size holds", unpacked)
	}
	if len(head) >= n+int(packed) {
		p.packed = head[n : n+int(packed)]
		return p, int64(n) + packed, nil
	}
	var text bytes.Buffer
	_, err = io.Copy(&text, io.NewSectionReader(src, at+int64(n), packed))
	p.packed = text.Bytes()
	return p, int64(n) + packed, err
}
