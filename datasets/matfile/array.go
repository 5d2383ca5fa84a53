package matfile

import (
	"fmt"
	"strings"
)

const (
	maxDepth    = 64      // of nested arrays
	maxElements = 1 << 31 // elements of an array, whatever they cost
	arraySize   = 200     // bytes of an Array and the pointer to it
	complexFlag = 0x0800
)

// readVariable reads an element at a file's top level.
func (p *parser) readVariable(e element) (*Array, error) {
	if e.kind == miCompressed {
		var err error
		if e, err = p.inflateElement(e); err != nil {
			return nil, err
		}
	}
	return p.parseArray(e, 0)
}

// parseArray reads an array: flags, dimensions, name, then the data of its class.
func (p *parser) parseArray(e element, depth int) (*Array, error) {
	if e.kind != miMatrix {
		return nil, fmt.Errorf("found an element of type %d, expected an array (%d)", e.kind, miMatrix)
	}
	if depth > maxDepth {
		return nil, fmt.Errorf("arrays in arrays more than %d deep", maxDepth)
	}
	if err := p.holdBytes(arraySize); err != nil {
		return nil, err
	}
	if len(e.data) == 0 {
		return &Array{Class: Double, Dims: []int{0, 0}}, nil // an empty element of a cell or a struct
	}
	in := e.data
	flags, in, err := p.splitElement(in)
	if err != nil {
		return nil, fmt.Errorf("flags: %w", err)
	}
	if flags.kind != miUint32 || len(flags.data) != 8 {
		return nil, fmt.Errorf("flags: found type %d with %d bytes, expected %d with 8", flags.kind, len(flags.data),
			miUint32)
	}
	word := p.order.Uint32(flags.data)
	a := &Array{Class: Class(word)}
	if a.Class != Cell && a.Class != Struct && a.Class != Char && !a.Class.isNumericClass() {
		return a, nil
	}
	if in, err = p.readShape(a, in); err != nil {
		return nil, err
	}
	switch {
	case a.Class == Cell:
		err = p.readCellArrays(a, in, a.Len(), depth)
	case a.Class == Struct:
		err = p.readStructFields(a, in, depth)
	case a.Class == Char:
		err = p.readCharArray(a, in)
	default:
		err = p.readNumericValues(a, in, word&complexFlag != 0)
	}
	if err != nil {
		return nil, fmt.Errorf("%s array %.80q: %w", a.Class, a.Name, err)
	}
	return a, nil
}

// readShape reads the dimensions and the name.
func (p *parser) readShape(a *Array, in []byte) ([]byte, error) {
	e, in, err := p.splitElement(in)
	if err != nil {
		return nil, fmt.Errorf("dimensions: %w", err)
	}
	if e.kind != miInt32 || len(e.data) < 8 || len(e.data)%4 != 0 {
		return nil, fmt.Errorf("dimensions: found type %d with %d bytes, expected %d with 8 or more", e.kind,
			len(e.data), miInt32)
	}
	if err := p.holdBytes(4 * len(e.data)); err != nil { // 8 bytes each, in a list that grows
		return nil, err
	}
	total := int64(1)
	for b := e.data; len(b) > 0; b = b[4:] {
		n := int32(p.order.Uint32(b))
		if n < 0 {
			return nil, fmt.Errorf("dimensions: found %d, expected 0 or more", n)
		}
		if total *= int64(n); total > maxElements {
			return nil, fmt.Errorf("dimensions: found %d or more elements, expected at most %d", total, maxElements)
		}
		a.Dims = append(a.Dims, int(n))
	}
	if e, in, err = p.splitElement(in); err != nil {
		return nil, fmt.Errorf("name: %w", err)
	}
	if e.kind != miInt8 {
		return nil, fmt.Errorf("name: found type %d, expected %d", e.kind, miInt8)
	}
	a.Name = string(e.data)
	return in, p.holdBytes(len(a.Name))
}

// readNumericValues reads the numbers of a numeric array.
func (p *parser) readNumericValues(a *Array, in []byte, imaginary bool) error {
	e, in, err := p.splitElement(in)
	if err != nil {
		return err
	}
	if a.Numbers, err = p.readNumbers(e, a.Len()); err != nil || !imaginary {
		return err
	}
	if e, _, err = p.splitElement(in); err != nil {
		return fmt.Errorf("imaginary part: %w", err)
	}
	if a.Imag, err = p.readNumbers(e, a.Len()); err != nil {
		return fmt.Errorf("imaginary part: %w", err)
	}
	return nil
}

// readCellArrays reads n arrays.
func (p *parser) readCellArrays(a *Array, in []byte, n, depth int) error {
	if n > len(in)/8 { // each has at least its tag
		return fmt.Errorf("states %d elements, %d bytes are left", n, len(in))
	}
	if err := p.holdBytes(n * arraySize); err != nil { // fail early; array counts them again, one by one
		return err
	}
	p.budget += n * arraySize
	a.Cells = make([]*Array, n)
	for i := range a.Cells {
		e, rest, err := p.splitElement(in)
		if err == nil {
			a.Cells[i], err = p.parseArray(e, depth+1)
		}
		if err != nil {
			return fmt.Errorf("element %d: %w", i+1, err)
		}
		in = rest
	}
	return nil
}

// readStructFields reads a struct: the size of a field name, all names, then the fields of each element in turn.
func (p *parser) readStructFields(a *Array, in []byte, depth int) error {
	e, in, err := p.splitElement(in)
	if err != nil {
		return fmt.Errorf("size of field names: %w", err)
	}
	if e.kind != miInt32 || len(e.data) != 4 {
		return fmt.Errorf("size of field names: found type %d with %d bytes, expected %d with 4", e.kind, len(e.data),
			miInt32)
	}
	size := int(int32(p.order.Uint32(e.data)))
	if e, in, err = p.splitElement(in); err != nil {
		return fmt.Errorf("field names: %w", err)
	}
	if e.kind != miInt8 || size <= 0 || len(e.data)%size != 0 {
		return fmt.Errorf("field names: found type %d with %d bytes, expected %d with a multiple of %d", e.kind,
			len(e.data), miInt8, size)
	}
	if err := p.holdBytes(len(e.data) + len(e.data)/size*32); err != nil { // names, and their list, which grows
		return err
	}
	for b := e.data; len(b) > 0; b = b[size:] {
		name, _, _ := strings.Cut(string(b[:size]), "\x00")
		a.Fields = append(a.Fields, name)
	}
	if f := len(a.Fields); f > 0 && a.Len() > len(in)/8/f {
		return fmt.Errorf("states %d elements of %d fields, %d bytes are left", a.Len(), f, len(in))
	}
	return p.readCellArrays(a, in, a.Len()*len(a.Fields), depth)
}
