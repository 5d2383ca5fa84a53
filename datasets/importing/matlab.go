package importing

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"slices"
	"strings"
	"unicode/utf16"
)

// maxMatlab limits the size of a MATLAB file in bytes, and the total memory of its unpacked variables and arrays. Among
// the known datasets, Stanford Cars needs most: 26 MB.
const maxMatlab = 1 << 26

// matArray is a variable of a MATLAB file or an element of a variable: a numeric, char, cell or struct array. Arrays of
// other classes are empty.
type matArray struct {
	name    string
	count   int         // number of elements
	numbers []float64   // elements of a numeric array
	text    string      // content of a char array with one row
	fields  []string    // field names of a struct, in order
	cells   []*matArray // elements of a cell array; for a struct, the fields of its first element, its second, …
}

// fieldOf returns a field of one element of a struct, or an empty array.
func (a *matArray) fieldOf(element int, name string) *matArray {
	if k := slices.Index(a.fields, name); k >= 0 {
		return a.cells[element*len(a.fields)+k]
	}
	return &matArray{}
}

// toInteger returns the number in an array of one number, or -1 for any other array.
func (a *matArray) toInteger() int {
	if len(a.numbers) != 1 {
		return -1
	}
	return int(a.numbers[0])
}

// readMatVariable reads a variable of a MATLAB level 5 file, the format that MATLAB writes with -v6 and -v7.
//
// Source: The MathWorks, "MAT-File Format", R2019b, chapter 1, level 5.
func readMatVariable(fsys fs.FS, file, name string) (*matArray, error) {
	f, err := fsys.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMatlab))
	if err == nil && (len(data) < 128 || string(data[124:128]) != "\x00\x01IM") {
		err = errors.New("expected a MATLAB file of level 5: save it with -v7")
	}
	p := matParser{left: maxMatlab}
	for in := data[min(128, len(data)):]; err == nil && len(in) > 0; {
		var e matElement
		if e, in, err = nextMatElement(in); err != nil {
			break
		}
		var a *matArray
		if a, err = p.parseVariable(e); err == nil && a.name == name {
			return a, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("found no variable %s", name)
	}
	return nil, fmt.Errorf("%s: %w", file, err)
}

// Types of elements.
const (
	matMatrix     = 14
	matCompressed = 15
)

// Classes of arrays; the classes from matDouble to matUint64 are numeric.
const (
	matCell   = 1
	matStruct = 2
	matChar   = 4
	matDouble = 6
	matUint64 = 15
)

// matElement is a type and its data.
type matElement struct {
	kind uint32
	data []byte
}

var errMatCut = errors.New("is cut short, or states a wrong size")

// nextMatElement splits the first element off in. The tag of an element may contain up to four bytes of data. Other
// elements are padded to 8 bytes unless they are compressed; the last element may lack its padding.
func nextMatElement(in []byte) (matElement, []byte, error) {
	if len(in) < 8 {
		return matElement{}, nil, errMatCut
	}
	kind, size := binary.LittleEndian.Uint32(in), uint64(binary.LittleEndian.Uint32(in[4:]))
	if small := kind >> 16; small != 0 {
		if small > 4 {
			return matElement{}, nil, errMatCut
		}
		return matElement{kind & 0xffff, in[4 : 4+small]}, in[8:], nil
	}
	if size > uint64(len(in)-8) {
		return matElement{}, nil, errMatCut
	}
	end := 8 + int(size)
	e := matElement{kind, in[8:end]}
	if kind != matCompressed {
		end = min((end+7)&^7, len(in))
	}
	return e, in[end:], nil
}

// matParser counts the bytes that the arrays of a file may still use.
type matParser struct{ left int }

func (p *matParser) spendBytes(n int) error {
	if p.left -= n; p.left < 0 {
		return fmt.Errorf("has arrays of more than %d MiB, which is the limit", maxMatlab>>20)
	}
	return nil
}

// parseVariable reads a top-level element, which may be compressed.
func (p *matParser) parseVariable(e matElement) (*matArray, error) {
	if e.kind == matCompressed {
		z, err := zlib.NewReader(bytes.NewReader(e.data))
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(io.LimitReader(z, int64(p.left)+1))
		if err = errors.Join(err, p.spendBytes(len(data))); err != nil {
			return nil, err
		}
		if e, _, err = nextMatElement(data); err != nil {
			return nil, err
		}
	}
	return p.parseArray(e, 0)
}

// parseArray reads an array: flags, dimensions, name, then the data of its class.
func (p *matParser) parseArray(e matElement, depth int) (*matArray, error) {
	a := &matArray{}
	if e.kind != matMatrix || depth > 8 {
		return nil, errors.New("found no array, or arrays nested more than 8 deep")
	}
	if err := p.spendBytes(200); err != nil || len(e.data) == 0 {
		return a, err
	}
	var head [3]matElement
	var err error
	in := e.data
	for i := range head {
		if head[i], in, err = nextMatElement(in); err != nil {
			return nil, err
		}
	}
	if len(head[0].data) != 8 || len(head[1].data)%4 != 0 {
		return nil, errMatCut
	}
	a.name, a.count = string(head[2].data), 1
	for b := head[1].data; len(b) > 0; b = b[4:] {
		n := binary.LittleEndian.Uint32(b)
		if n > maxMatlab || a.count > maxMatlab {
			return nil, errMatCut
		}
		a.count *= int(n)
	}
	switch class := head[0].data[0]; {
	case class == matCell:
		err = p.parseCells(a, in, a.count, depth)
	case class == matStruct:
		err = p.parseStruct(a, in, depth)
	case class == matChar:
		if e, _, err = nextMatElement(in); err == nil {
			err = p.spendBytes(2 * len(e.data))
			a.text = decodeMatText(e)
		}
	case class >= matDouble && class <= matUint64:
		if e, _, err = nextMatElement(in); err == nil {
			err = p.parseNumbers(a, e)
		}
	}
	return a, err
}

// parseCells reads n arrays.
func (p *matParser) parseCells(a *matArray, in []byte, n, depth int) error {
	if n > len(in)/8 { // each array has at least a tag
		return errMatCut
	}
	for range n {
		e, rest, err := nextMatElement(in)
		if err != nil {
			return err
		}
		c, err := p.parseArray(e, depth+1)
		if err != nil {
			return err
		}
		a.cells, in = append(a.cells, c), rest
	}
	return nil
}

// parseStruct reads a struct: the size of a field name, all names, then the fields of each element in turn.
func (p *matParser) parseStruct(a *matArray, in []byte, depth int) error {
	size, in, err := nextMatElement(in)
	if err != nil || len(size.data) != 4 {
		return errMatCut
	}
	names, in, err := nextMatElement(in)
	width := int(binary.LittleEndian.Uint32(size.data))
	if err != nil || width < 1 || len(names.data)%width != 0 {
		return errMatCut
	}
	for b := names.data; len(b) > 0; b = b[width:] {
		name, _, _ := strings.Cut(string(b[:width]), "\x00")
		a.fields = append(a.fields, name)
	}
	if err := p.spendBytes(40 * len(a.fields)); err != nil || a.count > len(in) {
		return errors.Join(err, errMatCut)
	}
	return p.parseCells(a, in, a.count*len(a.fields), depth)
}

// decodeMatText decodes the characters of a row, stored as bytes or as 16-bit units.
func decodeMatText(e matElement) string {
	if e.kind != 4 && e.kind != 17 {
		return string(e.data)
	}
	units := make([]uint16, len(e.data)/2)
	for i := range units {
		units[i] = binary.LittleEndian.Uint16(e.data[2*i:])
	}
	return string(utf16.Decode(units))
}

// parseNumbers reads the numbers of an element, which may be stored in a smaller type than the array's class.
func (p *matParser) parseNumbers(a *matArray, e matElement) error {
	width := map[uint32]int{1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}[e.kind]
	if width == 0 || len(e.data) != a.count*width {
		return errMatCut
	}
	if err := p.spendBytes(8 * a.count); err != nil {
		return err
	}
	le := binary.LittleEndian
	for b := e.data; len(b) > 0; b = b[width:] {
		var v float64
		switch e.kind {
		case 1:
			v = float64(int8(b[0]))
		case 2:
			v = float64(b[0])
		case 3:
			v = float64(int16(le.Uint16(b)))
		case 4:
			v = float64(le.Uint16(b))
		case 5:
			v = float64(int32(le.Uint32(b)))
		case 6:
			v = float64(le.Uint32(b))
		case 7:
			v = float64(math.Float32frombits(le.Uint32(b)))
		case 9:
			v = math.Float64frombits(le.Uint64(b))
		default:
			v = float64(int64(le.Uint64(b)))
		}
		a.numbers = append(a.numbers, v)
	}
	return nil
}
