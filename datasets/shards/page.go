package shards

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// unpackContent unpacks a page and counts its values.
func (p packedPage) unpackContent(column *parquet.Column, budget *pageBudget) (c pageContent, err error) {
	var n int32
	encoding, data, size, packed := format.Plain, p.packed, int(p.UncompressedPageSize), true
	highest := []int{column.MaxRepetitionLevel(), column.MaxDefinitionLevel()}
	var lengths []int32 // lengths of uncompressed levels; nil: levels are compressed and prefixed by their lengths
	switch {
	case p.Type == format.DictionaryPage && p.DictionaryPageHeader.Valid:
		n, highest = p.DictionaryPageHeader.V.NumValues, nil
	case p.Type == format.DataPage && p.DataPageHeader.Valid:
		n, encoding = p.DataPageHeader.V.NumValues, p.DataPageHeader.V.Encoding
	case p.Type == format.DataPageV2 && p.DataPageHeaderV2.Valid:
		h := &p.DataPageHeaderV2.V
		n, encoding, packed = h.NumValues, h.Encoding, !h.IsCompressed.Valid || h.IsCompressed.V
		lengths = []int32{h.RepetitionLevelsByteLength, h.DefinitionLevelsByteLength}
	default:
		return c, fmt.Errorf("is of type %v, expected data or a dictionary", p.Type)
	}
	if err := budget.takeValues(n); err != nil {
		return c, err
	}
	if lengths == nil {
		if data, err = p.unpackPage(column, data, size); err != nil {
			return c, err
		}
	}
	var own []byte // the definition levels come last
	for i, level := range highest {
		own = nil
		switch {
		case lengths != nil:
			own, data, err = splitBytes(data, int64(lengths[i]))
		case level > 0:
			own, data, err = cutPrefixed(data)
		}
		if err == nil && level > 0 {
			err = countRuns(own, bits.Len(uint(level)), int(n))
		}
		if err != nil {
			return c, fmt.Errorf("levels: %w", err)
		}
	}
	if lengths != nil && packed {
		if data, err = p.unpackPage(column, data, size-(len(p.packed)-len(data))); err != nil {
			return c, err
		}
	}
	return pageContent{int(n), own, encoding, data}, countPageValues(encoding, data, int(n))
}

// takeValues subtracts n values from the budget.
func (b *pageBudget) takeValues(n int32) error {
	if b.values -= int64(n); n < 0 || b.values < 0 {
		return fmt.Errorf("states %d values, more than allowed for a file of this size", n)
	}
	return nil
}

// unpackPage decompresses data and checks that the result has the stated size.
func (p packedPage) unpackPage(column *parquet.Column, packed []byte, size int) (data []byte, err error) {
	codec := format.Uncompressed
	if c := column.Compression(); c != nil {
		codec = c.CompressionCodec()
	}
	if size < 0 {
		return nil, fmt.Errorf("states a negative size, %d bytes", size)
	}
	switch codec {
	case format.Uncompressed:
		return packed, nil
	case format.Snappy:
		if n, err := snappy.DecodedLen(packed); err != nil || n != size {
			return nil, fmt.Errorf("unpacks to %d bytes, but states %d", n, size)
		}
		return snappy.Decode(nil, packed)
	case format.Gzip:
		in, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return readExactly(in, size)
	case format.Zstd:
		in, err := zstd.NewReader(bytes.NewReader(packed),
			zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxPage), zstd.WithDecoderMaxWindow(freeBytes))
		if err != nil {
			return nil, err
		}
		defer in.Close()
		return readExactly(in, size)
	}
	return nil, fmt.Errorf("is compressed with %v, expected no compression, snappy, gzip or zstd", codec)
}

// readExactly reads size bytes. It returns an error if the input is shorter or longer.
func readExactly(in io.Reader, size int) ([]byte, error) {
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(in, int64(size)+1))
	if err == nil && n != int64(size) {
		err = fmt.Errorf("does not unpack to the stated %d bytes", size)
	}
	return out.Bytes(), err
}

// cutPrefixed splits off a part that starts with its own length.
func cutPrefixed(data []byte) (part, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, errCut
	}
	return splitBytes(data[4:], int64(binary.LittleEndian.Uint32(data)))
}

// splitBytes splits off n bytes.
func splitBytes(data []byte, n int64) (part, rest []byte, err error) {
	if n < 0 || n > int64(len(data)) {
		return nil, nil, errCut
	}
	return data[:n], data[n:], nil
}

// slack is how many values the runs may have beyond those of the page, because the last packed run is padded.
const slack = 512

// countRuns checks the number of values in Parquet's RLE encoding, a mixture of repeated and bit-packed runs.
func countRuns(data []byte, width, n int) error {
	for total := uint64(0); len(data) > 0; {
		head, k := binary.Uvarint(data)
		if k <= 0 {
			return errCut
		}
		data = data[k:]
		count, room := head>>1, uint64(width+7)/8
		if head&1 == 1 {
			count, room = 8*(head>>1), uint64(width)*(head>>1)
		}
		if total += count; count > 1<<31 || total > uint64(n)+slack {
			return fmt.Errorf("has at least %d values in its runs, but states %d", total, n)
		}
		data = data[min(room, uint64(len(data))):]
	}
	return nil
}

// countPageValues checks that the data of a page do not decode to more than n values.
func countPageValues(encoding format.Encoding, data []byte, n int) error {
	switch encoding {
	case format.Plain, format.ByteStreamSplit:
		return nil // every value occupies bytes of its own
	//lint:ignore SA1019 older files still use it
	case format.PlainDictionary, format.RLEDictionary:
		if len(data) == 0 {
			return nil
		}
		return countRuns(data[1:], int(data[0]), n)
	case format.RLE:
		part, _, err := cutPrefixed(data)
		if err != nil {
			return err
		}
		return countRuns(part, 1, n)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		return checkDeltaHead(data, n)
	}
	return fmt.Errorf("has the encoding %v, expected PLAIN, a dictionary, RLE, DELTA_BINARY_PACKED, "+
		"DELTA_LENGTH_BYTE_ARRAY or BYTE_STREAM_SPLIT", encoding)
}

// checkDeltaHead checks the header of delta-encoded integers: the size of a block, its number of parts, and the number
// of integers.
func checkDeltaHead(data []byte, n int) error {
	var head [3]uint64
	for i := range head {
		v, k := binary.Uvarint(data)
		if k <= 0 {
			return errCut
		}
		head[i], data = v, data[k:]
	}
	if head[0] > 1<<16 || head[1] == 0 || head[1] > head[0] || head[2] > uint64(n) {
		return fmt.Errorf("states %d delta-encoded integers in blocks of %d with %d parts, expected at most %d",
			head[2], head[0], head[1], n)
	}
	return nil
}
