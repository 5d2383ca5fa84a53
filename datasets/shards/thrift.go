package shards

import (
	"errors"
	"fmt"

	"github.com/parquet-go/parquet-go/encoding/thrift"
)

// Limits for decoding a footer or a page header.
const (
	maxDepth    = 16
	maxElements = 1 << 17 // total number of elements in all lists
	leastObject = 3       // smallest size in bytes of an object in a list: a column order
)

var errCut = errors.New("is cut short")

// decodeThrift decodes the object at the start of in and returns its length.
func decodeThrift(in []byte, object any) (int, error) {
	r := &bounded{BytesReader: new(thrift.CompactProtocol).NewReaderFromBytes(in), size: len(in), open: []int{1}}
	err := thrift.NewDecoder(r).Decode(object)
	return r.BytesRead(), err
}

// bounded reads from bytes. It rejects too long lists before the library allocates the stated number of elements. Texts
// are not copied.
type bounded struct {
	thrift.BytesReader
	size, elements int
	open           []int // number of unfinished objects at each depth
}

// Discard skips n bytes. The library uses this method if a reader has it.
func (r *bounded) Discard(n int) (int, error) {
	return r.BytesReader.(interface{ Discard(int) (int, error) }).Discard(n)
}

func (r *bounded) ReadField() (thrift.Field, error) {
	f, err := r.BytesReader.ReadField()
	switch {
	case err != nil:
		return f, err
	case f.Type == thrift.STRUCT:
		return f, r.nestObjects(1)
	case f.Type == thrift.STOP:
		last := len(r.open) - 1
		if r.open[last]--; r.open[last] == 0 {
			r.open = r.open[:last]
		}
	}
	return f, nil
}

func (r *bounded) ReadList() (thrift.List, error) {
	l, err := r.BytesReader.ReadList()
	if err != nil {
		return l, err
	}
	n, least, left := int(l.Size), 1, r.size-r.BytesRead()
	if l.Type == thrift.STRUCT {
		least = leastObject
	}
	if n > left/least {
		return l, fmt.Errorf("states a list of %d elements, but only %d bytes are left", n, left)
	}
	if r.elements += n; r.elements > maxElements {
		return l, fmt.Errorf("holds more than %d elements in lists", maxElements)
	}
	switch l.Type {
	case thrift.LIST, thrift.SET, thrift.MAP:
		return l, fmt.Errorf("holds a list of lists, which Parquet does not use")
	case thrift.STRUCT:
		if n > 0 {
			err = r.nestObjects(n)
		}
	}
	return l, err
}

// nestObjects starts n objects inside the current object.
func (r *bounded) nestObjects(n int) error {
	if r.open = append(r.open, n); len(r.open) > maxDepth {
		return fmt.Errorf("is nested more than %d deep", maxDepth)
	}
	return nil
}

// errForeign reports a set or a map.
var errForeign = errors.New("holds a set or a map, which Parquet does not use")

func (r *bounded) ReadSet() (thrift.Set, error) { return thrift.Set{}, errForeign }
func (r *bounded) ReadMap() (thrift.Map, error) { return thrift.Map{}, errForeign }
