package parquetguard

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
	"github.com/pierrec/lz4/v4"
)

// check unpacks a page and counts its values as the library will.
func (p page) check(column *parquet.Column, budget *Budget) error {
	repetition, definition := column.MaxRepetitionLevel(), column.MaxDefinitionLevel()
	switch {
	case p.Type == format.DictionaryPage && p.DictionaryPageHeader.Valid:
		if err := budget.take(p.DictionaryPageHeader.V.NumValues); err != nil {
			return err
		}
		_, err := p.unpack(column, p.packed, int(p.UncompressedPageSize))
		return err
	case p.Type == format.DataPage && p.DataPageHeader.Valid:
		h := &p.DataPageHeader.V
		if err := budget.take(h.NumValues); err != nil {
			return err
		}
		data, err := p.unpack(column, p.packed, int(p.UncompressedPageSize))
		if err != nil {
			return err
		}
		for _, level := range []int{repetition, definition} {
			if level == 0 {
				continue
			}
			var own []byte
			if own, data, err = cut(data); err != nil {
				return fmt.Errorf("levels: %w", err)
			}
			if err := runs(own, bits.Len(uint(level)), int(h.NumValues)); err != nil {
				return fmt.Errorf("levels: %w", err)
			}
		}
		return values(h.Encoding, data, int(h.NumValues))
	case p.Type == format.DataPageV2 && p.DataPageHeaderV2.Valid:
		h := &p.DataPageHeaderV2.V
		if err := budget.take(h.NumValues); err != nil {
			return err
		}
		data := p.packed
		for _, l := range []struct{ level, length int }{{repetition, int(h.RepetitionLevelsByteLength)}, {definition, int(h.DefinitionLevelsByteLength)}} {
			if l.length < 0 || l.length > len(data) {
				return fmt.Errorf("states %d bytes of levels, %d are left", l.length, len(data))
			}
			if l.level == 0 {
				data = data[l.length:]
				continue
			}
			if err := runs(data[:l.length], bits.Len(uint(l.level)), int(h.NumValues)); err != nil {
				return fmt.Errorf("levels: %w", err)
			}
			data = data[l.length:]
		}
		if !h.IsCompressed.Valid || h.IsCompressed.V {
			var err error
			if data, err = p.unpack(column, data, int(p.UncompressedPageSize)-(len(p.packed)-len(data))); err != nil {
				return err
			}
		}
		return values(h.Encoding, data, int(h.NumValues))
	}
	return fmt.Errorf("is of type %v, expected data or a dictionary", p.Type)
}

// take counts values.
func (b *Budget) take(n int32) error {
	if b.values -= int64(n); n < 0 || b.values < 0 {
		return fmt.Errorf("states %d values, more than a file of this size holds", n)
	}
	return nil
}

// unpack returns the data that a page states to have so many bytes, and refuses any other number.
func (p page) unpack(column *parquet.Column, packed []byte, size int) (data []byte, err error) {
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
	case format.Lz4Raw:
		data = make([]byte, size)
		if n, err := lz4.UncompressBlock(packed, data); err != nil || n != size {
			return nil, fmt.Errorf("does not unpack to the %d bytes that it states", size)
		}
		return data, nil
	case format.Gzip:
		in, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		return exactly(in, size)
	case format.Zstd:
		in, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxMemory(maxPage), zstd.WithDecoderMaxWindow(freeBytes))
		if err != nil {
			return nil, err
		}
		defer in.Close()
		return exactly(in, size)
	}
	return nil, fmt.Errorf("is packed by %v, expected none, snappy, gzip, zstd or lz4", codec)
}

// exactly reads as many bytes as there must be.
func exactly(in io.Reader, size int) ([]byte, error) {
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(in, int64(size)+1))
	if err == nil && n != int64(size) {
		err = fmt.Errorf("does not unpack to the %d bytes that it states", size)
	}
	return out.Bytes(), err
}

// cut takes a part off that begins with its length.
func cut(data []byte) (part, rest []byte, err error) {
	if len(data) < 4 {
		return nil, nil, errCut
	}
	n := binary.LittleEndian.Uint32(data)
	if uint64(n) > uint64(len(data)-4) {
		return nil, nil, errCut
	}
	return data[4 : 4+n], data[4+n:], nil
}

// slack is how many values more than a page has the runs may make: the last of packed ones is filled up.
const slack = 512

// runs counts values in the mixture of repeated and packed ones that Parquet calls RLE.
func runs(data []byte, width, n int) error {
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

// values counts what an encoding makes of the data of a page of n values.
func values(encoding format.Encoding, data []byte, n int) error {
	switch encoding {
	case format.Plain, format.ByteStreamSplit:
		return nil // each value has its bytes
	//lint:ignore SA1019 files of before still name it
	case format.PlainDictionary, format.RLEDictionary:
		if len(data) == 0 {
			return nil
		}
		return runs(data[1:], int(data[0]), n)
	case format.RLE:
		part, _, err := cut(data)
		if err != nil {
			return err
		}
		return runs(part, 1, n)
	case format.DeltaBinaryPacked, format.DeltaLengthByteArray:
		return delta(data, n)
	}
	return fmt.Errorf("is encoded by %v, expected PLAIN, a dictionary, RLE, DELTA_BINARY_PACKED, DELTA_LENGTH_BYTE_ARRAY or BYTE_STREAM_SPLIT", encoding)
}

// delta checks the head of integers that are stored by their differences: those of a block, its parts, how many.
func delta(data []byte, n int) error {
	var head [3]uint64
	for i := range head {
		v, k := binary.Uvarint(data)
		if k <= 0 {
			return errCut
		}
		head[i], data = v, data[k:]
	}
	if head[0] > 1<<16 || head[1] == 0 || head[1] > head[0] || head[2] > uint64(n) {
		return fmt.Errorf("states %d differences in blocks of %d and %d parts, for %d values", head[2], head[0], head[1], n)
	}
	return nil
}
