package mnist

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Bounds that no dataset in this format reaches.
const (
	maxCount = 1 << 24
	maxSide  = 1 << 10
	maxBytes = 1 << 31
)

// array is the content of an idx file of bytes: one (labels) or three (images) sizes, and the elements.
type array struct {
	sizes []int
	data  []byte
}

// readIdx reads an idx file with the given number of dimensions, compressed by gzip or not:
//
//	0 0 8 (unsigned bytes) dimensions, each size in 4 bytes with the highest first, the elements row by row
//
// The sizes are checked before memory is allocated, and memory grows with the file's content.
// Source: LeCun, Cortes and Burges, "The MNIST database of handwritten digits", "the IDX file format".
func readIdx(r io.Reader, dimensions int) (*array, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	if magic, _ := in.Peek(2); string(magic) == "\x1f\x8b" {
		unpacked, err := gzip.NewReader(in)
		if err != nil {
			return nil, explainTruncated(err)
		}
		in = bufio.NewReaderSize(unpacked, 1<<16)
	}
	head := make([]byte, 4+4*dimensions)
	n, err := io.ReadFull(in, head)
	if want := [4]byte{0, 0, 8, byte(dimensions)}; n >= 4 && [4]byte(head) != want {
		return nil, fmt.Errorf("starts with %x, expected %x: an idx file of bytes with %d dimensions", head[:4], want,
			dimensions)
	}
	if err != nil {
		return nil, explainTruncated(err)
	}
	a, total := &array{}, 1
	for i := range dimensions {
		size, most := int(binary.BigEndian.Uint32(head[4+4*i:])), maxSide
		if i == 0 {
			most = maxCount
		}
		if size < 1 || size > most {
			return nil, fmt.Errorf("size %d is %d, expected 1 to %d", i+1, size, most)
		}
		a.sizes = append(a.sizes, size)
		if total *= size; total > maxBytes {
			return nil, fmt.Errorf("sizes %v: more than %d bytes", a.sizes, maxBytes)
		}
	}
	var content bytes.Buffer
	if _, err := io.CopyN(&content, in, int64(total)); err != nil {
		return nil, explainTruncated(err)
	}
	if _, err := in.ReadByte(); err == nil {
		return nil, fmt.Errorf("sizes %v: found more than %d bytes behind them", a.sizes, total)
	} else if !errors.Is(err, io.EOF) {
		return nil, explainTruncated(err)
	}
	a.data = content.Bytes()
	return a, nil
}

// explainTruncated returns a plain error for a file that ends early.
func explainTruncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("is cut short")
	}
	return err
}
