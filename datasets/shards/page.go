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
	var lengths []int32 // of the unpacked levels; nil: the levels are packed too and begin with their lengths
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

// takeValues subtracts values from the budget.
func (b *pageBudget) takeValues(n int32) error {
	if b.values -= int64(n); n < 0 || b.values < 0 {
		return fmt.Errorf("states %d values, more than a file of this size holds", n)
	}
	return nil
}

// unpackPage returns the unpacked data, which must have the stated size.
func (p packedPage) unpackPage(column *parquet.Column, packed []byte, size int) (data []byte, err error) {
	codec := format.Uncompressed
	if c := column.Compression(); c != nil {
		codec = c.CompressionCodec()
	}
	if size < 0 {
		return nil, fmt.Errorf("states %d bytes", size)
	}
	switch codec {
	case format.Uncompressed:
		return packed, nil
	case format.Snappy:
		if n, err := snappy.DecodedLen(packed); err != nil || n != size {
			return nil, fmt.Errorf("unpacks to %d bytes, states %d", n, size)
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
	return nil, fmt.Errorf("is packed by %v, expected none, snappy, gzip or zstd", codec)
}

// readExactly reads size bytes and returns an error if there are fewer or more.
func readExactly(in io.Reader, size int) ([]byte, error) {
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(in, int64(size)+1))
	if err == nil && n != int64(size) {
		err = fmt.Errorf("does not unpack to the %d bytes that it states", size)
	}
	return out.Bytes(), err
}

// cutPrefixed splits off a part that begins with its length.
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

// slack is how many more values than a page has the runs may state: the last packed run is filled up.
const slack = 512

// countRuns counts the values in Parquet's RLE, a mixture of repeated and packed runs.
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
			return fmt.Errorf("has runs of %d values or more, states %d", total, n)
		}
		data = data[min(room, uint64(len(data))):]
	}
	return nil
}

// countPageValues counts the values that an encoding makes of the data of a page of n values.
func countPageValues(encoding format.Encoding, data []byte, n int) error {
	switch encoding {
	case format.Plain, format.ByteStreamSplit:
		return nil // each value has its bytes
	//lint:ignore SA1019 files of before still name it
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
	return fmt.Errorf("is encoded by %v, expected PLAIN, a dictionary, RLE, DELTA_BINARY_PACKED, "+
		"DELTA_LENGTH_BYTE_ARRAY or BYTE_STREAM_SPLIT", encoding)
}

// checkDeltaHead checks the head of delta-encoded integers: the size of a block, its number of parts, the number of
// integers.
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
		return fmt.Errorf("states %d differences in blocks of %d and %d parts, for %d values",
			head[2], head[0], head[1], n)
	}
	return nil
}
