package parquetguard

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Types of Thrift's compact protocol.
const (
	boolTrue = 1
	boolTwo  = 2
	oneByte  = 3
	varint16 = 4
	varint64 = 6
	double   = 7
	text     = 8
	list     = 9
	set      = 10
	dict     = 11
	object   = 12
	uuid     = 16
)

// What a footer or the header of a page may hold.
const (
	maxDepth    = 16
	maxElements = 1 << 17 // in all lists
	leastObject = 3       // bytes of an object in a list: the order of a column has so many, nothing that is listed has less
)

var errCut = errors.New("is cut short")

// walker passes over Thrift and allocates nothing: the library allocates what lists and texts state before it reads them.
type walker struct {
	in       []byte
	elements int
}

// structure returns how many bytes the structure takes that in begins with.
func structure(in []byte) (int, error) {
	w := walker{in: in}
	if err := w.object(0); err != nil {
		return 0, err
	}
	return len(in) - len(w.in), nil
}

func (w *walker) take(n uint64) error {
	if n > uint64(len(w.in)) {
		return errCut
	}
	w.in = w.in[n:]
	return nil
}

func (w *walker) varint() (uint64, error) {
	v, n := binary.Uvarint(w.in)
	if n <= 0 {
		return 0, errCut
	}
	w.in = w.in[n:]
	return v, nil
}

func (w *walker) byte() (byte, error) {
	if len(w.in) == 0 {
		return 0, errCut
	}
	b := w.in[0]
	w.in = w.in[1:]
	return b, nil
}

func (w *walker) object(depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("is nested more than %d deep", maxDepth)
	}
	for {
		head, err := w.byte()
		if err != nil || head == 0 {
			return err
		}
		if head>>4 == 0 { // the field's number follows
			if _, err := w.varint(); err != nil {
				return err
			}
		}
		if kind := head & 15; kind != boolTrue && kind != boolTwo { // whose value is their type
			if err := w.value(kind, depth); err != nil {
				return err
			}
		}
	}
}

func (w *walker) value(kind byte, depth int) error {
	switch kind {
	case boolTrue, boolTwo, oneByte:
		return w.take(1)
	case varint16, varint16 + 1, varint64:
		_, err := w.varint()
		return err
	case double:
		return w.take(8)
	case uuid:
		return w.take(16)
	case text:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.take(n)
	case list, set:
		return w.list(depth)
	case object:
		return w.object(depth + 1)
	}
	return fmt.Errorf("holds the type %d, which Parquet does not use", kind) // maps too
}

func (w *walker) list(depth int) error {
	head, err := w.byte()
	if err != nil {
		return err
	}
	n, kind, least := uint64(head>>4), head&15, 1
	if n == 15 {
		if n, err = w.varint(); err != nil {
			return err
		}
	}
	if kind == object {
		least = leastObject
	}
	if n > uint64(len(w.in)/least) {
		return fmt.Errorf("states a list of %d, %d bytes are left", n, len(w.in))
	}
	if w.elements += int(n); w.elements > maxElements {
		return fmt.Errorf("holds more than %d elements in lists", maxElements)
	}
	for range n {
		if err := w.value(kind, depth+1); err != nil {
			return err
		}
	}
	return nil
}
