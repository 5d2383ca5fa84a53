package matfile

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// Types of data elements.
const (
	miInt8       = 1
	miUint8      = 2
	miInt16      = 3
	miUint16     = 4
	miInt32      = 5
	miUint32     = 6
	miSingle     = 7
	miDouble     = 9
	miInt64      = 12
	miUint64     = 13
	miMatrix     = 14
	miCompressed = 15
	miUTF8       = 16
	miUTF16      = 17
	miUTF32      = 18
)

// maxRatio is the largest ratio of deflate's output to its input.
const maxRatio = 1032

// element is a tag and its data.
type element struct {
	kind uint32
	data []byte
}

// parser holds the state of a whole file.
type parser struct {
	order  binary.ByteOrder
	budget int // bytes that may still be allocated
}

// holdBytes takes n bytes from the budget.
func (p *parser) holdBytes(n int) error {
	if n > p.budget {
		return fmt.Errorf("holds more than the %d MiB that a file's arrays may take", maxBytes>>20)
	}
	p.budget -= n
	return nil
}

// splitElement splits the first data element from in. Data of up to four bytes may be in the tag itself. All other
// elements except compressed ones are padded to 8 bytes; the last of a file may lack its padding.
func (p *parser) splitElement(in []byte) (element, []byte, error) {
	if len(in) < 8 {
		return element{}, nil, fmt.Errorf("found %d bytes, expected an element's tag of 8", len(in))
	}
	first := p.order.Uint32(in)
	if size := first >> 16; size != 0 {
		if size > 4 {
			return element{}, nil, fmt.Errorf("found a small element of %d bytes, expected at most 4", size)
		}
		return element{first & 0xffff, in[4 : 4+size]}, in[8:], nil
	}
	size := uint64(p.order.Uint32(in[4:]))
	if size > uint64(len(in)-8) {
		return element{}, nil, fmt.Errorf("element states %d bytes, %d are left", size, len(in)-8)
	}
	end := 8 + int(size)
	e := element{first, in[8:end]}
	if first != miCompressed {
		end = min((end+7)&^7, len(in))
	}
	return e, in[end:], nil
}

// inflateElement unpacks a compressed element, which holds exactly one other.
func (p *parser) inflateElement(e element) (element, error) {
	z, err := zlib.NewReader(bytes.NewReader(e.data))
	if err != nil {
		return element{}, fmt.Errorf("compressed: %w", err)
	}
	defer z.Close()
	var tag [8]byte
	if _, err := io.ReadFull(z, tag[:]); err != nil {
		return element{}, fmt.Errorf("compressed: %w", err)
	}
	kind, size := p.order.Uint32(tag[:]), int64(p.order.Uint32(tag[4:]))
	if kind != miMatrix {
		return element{}, fmt.Errorf("compressed: found an element of type %d, expected an array (%d)", kind, miMatrix)
	}
	if size > maxRatio*int64(len(e.data)) {
		return element{}, fmt.Errorf("compressed: array states %d bytes, more than %d compressed ones can hold", size,
			len(e.data))
	}
	if err := p.holdBytes(int(size)); err != nil {
		return element{}, fmt.Errorf("compressed: %w", err)
	}
	data := make([]byte, size)
	if _, err := io.ReadFull(z, data); err != nil {
		return element{}, fmt.Errorf("compressed: array of %d bytes: %w", size, err)
	}
	// Reading to the end makes zlib check its checksum; padding may follow.
	n, err := io.Copy(io.Discard, io.LimitReader(z, 8))
	if err != nil {
		return element{}, fmt.Errorf("compressed: array of %d bytes: %w", size, err)
	}
	if n > 7 {
		return element{}, fmt.Errorf("compressed: array of %d bytes: found %d or more behind it, expected at most "+
			"7 of padding", size, n)
	}
	return element{kind, data}, nil
}

// numberWidth returns the size of a type's numbers, 0 for types without numbers.
func numberWidth(kind uint32) int {
	switch kind {
	case miInt8, miUint8:
		return 1
	case miInt16, miUint16:
		return 2
	case miInt32, miUint32, miSingle:
		return 4
	case miDouble, miInt64, miUint64:
		return 8
	}
	return 0
}

// readNumbers reads an element of exactly n numbers.
func (p *parser) readNumbers(e element, n int) ([]float64, error) {
	w := numberWidth(e.kind)
	if w == 0 {
		return nil, fmt.Errorf("found an element of type %d, expected numbers", e.kind)
	}
	if len(e.data) != n*w {
		return nil, fmt.Errorf("found %d bytes, expected %d numbers of %d", len(e.data), n, w)
	}
	if err := p.holdBytes(8 * n); err != nil {
		return nil, err
	}
	list := make([]float64, n)
	for i := range list {
		list[i] = p.decodeNumber(e.kind, e.data[i*w:])
	}
	return list, nil
}

func (p *parser) decodeNumber(kind uint32, b []byte) float64 {
	switch kind {
	case miInt8:
		return float64(int8(b[0]))
	case miUint8:
		return float64(b[0])
	case miInt16:
		return float64(int16(p.order.Uint16(b)))
	case miUint16:
		return float64(p.order.Uint16(b))
	case miInt32:
		return float64(int32(p.order.Uint32(b)))
	case miUint32:
		return float64(p.order.Uint32(b))
	case miSingle:
		return float64(math.Float32frombits(p.order.Uint32(b)))
	case miInt64:
		return float64(int64(p.order.Uint64(b)))
	case miUint64:
		return float64(p.order.Uint64(b))
	}
	return math.Float64frombits(p.order.Uint64(b))
}
