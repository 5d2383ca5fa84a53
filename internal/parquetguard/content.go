package parquetguard

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Content is the unpacked content of a page, with its values counted: the parts that the library's encodings
// decode.
type Content struct {
	Values   int             // number of values, including nulls
	Levels   []byte          // definition levels without their length; empty if the column has none
	Encoding format.Encoding // encoding of Data; always plain for a dictionary
	Data     []byte
}

// Place is the place of a page with its header, and what the header states.
type Place struct {
	At, Length int64
	Values     int // number of rows, if the column is not repeated
	Dictionary bool
}

// Places lists the pages of a column in a row group, reading only their headers.
func Places(file *parquet.File, src io.ReaderAt, group, column int) (places []Place, err error) {
	at, end, err := findColumnSpan(file, group, column)
	if err != nil {
		return nil, err
	}
	for at < end {
		p, _, n, err := readPageHeader(src, at, end)
		if err != nil {
			return nil, fmt.Errorf("page at byte %d: %w", at, err)
		}
		place := Place{At: at, Length: n + int64(p.CompressedPageSize)}
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

// Open reads and unpacks a page of a column.
func (p Place) Open(file *parquet.File, src io.ReaderAt, group, column int) (Content, error) {
	leaf, err := leafOf(file, group, column)
	if err != nil {
		return Content{}, err
	}
	left := budget{freeValues + valuesEach*file.Size(), freeBytes + bytesEach*file.Size()}
	page, _, err := readPage(src, p.At, p.At+p.Length, &left)
	var c Content
	if err == nil {
		c, err = page.openPage(leaf, &left)
	}
	if err != nil {
		err = fmt.Errorf("page at byte %d: %w", p.At, err)
	}
	return c, err
}
