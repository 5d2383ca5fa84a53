// Package matfile reads MATLAB's level 5 MAT-files (saved by -v6, -v7 or older defaults), the form of the published
// annotations of Stanford Cars and Oxford Flowers: numeric, char, cell and struct arrays, compressed or not, in
// either byte order.
//
// An array's elements are in MATLAB's order, the first index varying fastest. Numbers become float64, which is
// exact except for 64-bit integers beyond 2⁵³. Arrays of other classes (sparse, objects, function handles) are
// skipped: only their class is reported. Level 4 files and 7.3 files (HDF5) are rejected by name.
//
// Every size in a file is checked against the bytes present before it is used. What a file unpacks to, and what its
// arrays hold, is counted before it is allocated: compressed zeros give numbers of eight thousand times their size.
//
// The package imports nothing of winnow.
//
// Source: The MathWorks, "MAT-File Format", R2019b, chapter 1, level 5.
package matfile

import (
	"encoding/binary"
	"fmt"
	"io/fs"
)

// maxBytes bounds the size of a file, and the total memory of its unpacked variables and their arrays. Of the known
// data sets Stanford Cars needs most, 26 MB.
const maxBytes = 1 << 26

// Class is a MATLAB array type.
type Class uint8

// The classes whose contents are read. Others (Sparse, …) keep their number.
const (
	Cell   Class = 1
	Struct Class = 2
	Char   Class = 4
	Double Class = 6
	Single Class = 7
	Int8   Class = 8
	Uint64 Class = 15 // those between are the other integers
)

// classNames are the names of all classes by number.
var classNames = [...]string{1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 6: "double", 7: "single",
	8: "int8", 9: "uint8",
	10: "int16", 11: "uint16", 12: "int32", 13: "uint32", 14: "int64", 15: "uint64", 16: "function", 17: "opaque"}

func (c Class) String() string {
	if int(c) < len(classNames) && classNames[c] != "" {
		return classNames[c]
	}
	return fmt.Sprintf("class %d", uint8(c))
}

func (c Class) isNumericClass() bool { return c >= Double && c <= Uint64 }

// Array is a variable of a file, or an element of one.
type Array struct {
	Name    string
	Class   Class
	Dims    []int     // at least two; their product is the number of elements
	Numbers []float64 // of a numeric or logical array: the real parts
	Imag    []float64 // the imaginary parts of a complex array, otherwise nil
	Text    string    // of a char array; its rows are separated by line feeds
	Fields  []string  // names of a struct's fields, in order
	Cells   []*Array  // elements of a cell array; of a struct, the fields of its first element, of the second, …
}

// Len returns the number of elements.
func (a *Array) Len() int {
	n := 1
	for _, d := range a.Dims {
		n *= d
	}
	return n
}

// Field returns a field of a struct's element, nil if there is none of that name.
func (a *Array) Field(element int, name string) *Array {
	for f, field := range a.Fields {
		if field == name {
			return a.Cells[element*len(a.Fields)+f]
		}
	}
	return nil
}

// ReadFile reads the variables of a file, in order.
func ReadFile(fsys fs.FS, name string) ([]*Array, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("matfile: %w", err)
	}
	if info.Size() > maxBytes {
		return nil, fmt.Errorf("matfile: %s: found %d bytes, expected at most %d", name, info.Size(), maxBytes)
	}
	data, err := fs.ReadFile(fsys, name)
	if err != nil {
		return nil, fmt.Errorf("matfile: %w", err)
	}
	list, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("matfile: %s: %w", name, err)
	}
	return list, nil
}

// Find returns the variable of a name, nil if there is none.
func Find(list []*Array, name string) *Array {
	for _, a := range list {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// Parse reads the variables of a file's bytes, in order.
func Parse(data []byte) ([]*Array, error) {
	order, err := checkFileHeader(data)
	if err != nil {
		return nil, err
	}
	p := &parser{order: order, budget: maxBytes}
	var list []*Array
	for in := data[headerSize:]; len(in) > 0; {
		at := len(data) - len(in)
		e, rest, err := p.splitElement(in)
		if err != nil {
			return nil, fmt.Errorf("byte %d: %w", at, err)
		}
		in = rest
		a, err := p.readVariable(e)
		if err != nil {
			return nil, fmt.Errorf("variable %d at byte %d: %w", len(list)+1, at, err)
		}
		list = append(list, a)
	}
	return list, nil
}

// headerSize is 116 bytes of text, 8 of subsystem offset, version and byte order.
const headerSize = 128

// checkFileHeader checks a file's header and returns its byte order.
func checkFileHeader(data []byte) (binary.ByteOrder, error) {
	if len(data) < headerSize {
		return nil, fmt.Errorf("found %d bytes, expected a MAT-file with its header of %d", len(data), headerSize)
	}
	var order binary.ByteOrder
	switch string(data[126:128]) {
	case "IM":
		order = binary.LittleEndian
	case "MI":
		order = binary.BigEndian
	default:
		return nil, fmt.Errorf("byte order mark is %q, expected \"IM\" or \"MI\" of a level 5 MAT-file (level 4 "+
			"files must be saved again with -v7)", data[126:128])
	}
	switch v := order.Uint16(data[124:]); v {
	case 0x0100:
		return order, nil
	case 0x0200:
		return nil, fmt.Errorf("version is 7.3 (HDF5), expected level 5: save it with -v7")
	default:
		return nil, fmt.Errorf("version is %#04x, expected 0x0100", v)
	}
}
