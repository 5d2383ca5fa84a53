// Package archive reads and writes a state and arrays of numbers in one file with a checksum: the checkpoint of
// a training. It knows nothing about training.
package archive

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// An archive is a JSON header and numeric arrays in one file with a checksum:
//
//	magic 8 bytes · version uint32 · length of the header uint32 · header (JSON) · arrays · SHA-256
//
// All numbers are little-endian. The header lists the arrays (name, kind, length) in order, and the checksum
// covers all bytes before it. Numbers keep their bits.
const (
	magic     = "WINNOWCK"
	version   = 2
	fixedSize = len(magic) + 8
)

// Array is one named list of numbers. Exactly one of the slices is used, depending on Kind.
type Array struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // f32, f64, u32, int (as int64)
	Len  int    `json:"len"`

	F32  []float32 `json:"-"`
	F64  []float64 `json:"-"`
	U32  []uint32  `json:"-"`
	Ints []int     `json:"-"`
}

// Float32s returns an array of the values without copying them; so do the other constructors.
func Float32s(name string, v []float32) Array {
	return Array{Name: name, Kind: "f32", Len: len(v), F32: v}
}

// Float64s is [Float32s] of float64.
func Float64s(name string, v []float64) Array {
	return Array{Name: name, Kind: "f64", Len: len(v), F64: v}
}

// Uint32s is [Float32s] of uint32.
func Uint32s(name string, v []uint32) Array {
	return Array{Name: name, Kind: "u32", Len: len(v), U32: v}
}

// Ints is [Float32s] of int.
func Ints(name string, v []int) Array {
	return Array{Name: name, Kind: "int", Len: len(v), Ints: v}
}

// kindSizes are the sizes of numbers in bytes.
var kindSizes = map[string]int{"f32": 4, "f64": 8, "u32": 4, "int": 8}

// header is the JSON part: the state of the caller, and the list of arrays.
type header[T any] struct {
	State  T       `json:"state"`
	Arrays []Array `json:"arrays"`
}

// Write writes state and arrays.
func Write[T any](w io.Writer, state T, arrays []Array) error {
	text, err := json.Marshal(header[T]{state, arrays})
	if err != nil {
		return err
	}
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	fixed := []byte(magic)
	fixed = binary.LittleEndian.AppendUint32(fixed, version)
	fixed = binary.LittleEndian.AppendUint32(fixed, uint32(len(text)))
	for _, part := range [][]byte{fixed, text} {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	buf := make([]byte, 0, 1<<16)
	for _, a := range arrays {
		if err := a.writeNumbers(out, buf); err != nil {
			return err
		}
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// writeNumbers writes the numbers through buf, which is shorter than a large array.
func (a Array) writeNumbers(w io.Writer, buf []byte) error {
	at := 0
	for at < a.Len {
		n := min(a.Len-at, cap(buf)/8)
		buf = buf[:0]
		for i := at; i < at+n; i++ {
			switch a.Kind {
			case "f32":
				buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(a.F32[i]))
			case "f64":
				buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(a.F64[i]))
			case "u32":
				buf = binary.LittleEndian.AppendUint32(buf, a.U32[i])
			default:
				buf = binary.LittleEndian.AppendUint64(buf, uint64(int64(a.Ints[i])))
			}
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// Read verifies the whole file before it uses any part: it never allocates by a length that the bytes do not
// confirm. The bytes pass through a small buffer, so the numbers of a large network are in memory only once.
func Read[T any](r io.ReaderAt, size int64) (state T, arrays map[string]Array, err error) {
	fixed := make([]byte, fixedSize)
	if n, _ := r.ReadAt(fixed, 0); n < fixedSize || size < int64(fixedSize+sha256.Size) ||
		string(fixed[:len(magic)]) != magic {
		return state, nil, fmt.Errorf("not a checkpoint of winnow, or cut short: %d bytes, expected to start with %q",
			size, magic)
	}
	if v := binary.LittleEndian.Uint32(fixed[len(magic):]); v != version {
		return state, nil, fmt.Errorf("format version is %d, expected %d", v, version)
	}
	end := size - sha256.Size
	if err := checkSum(r, end); err != nil {
		return state, nil, err
	}
	length, left := int64(binary.LittleEndian.Uint32(fixed[len(magic)+4:])), end-int64(fixedSize)
	if length > left {
		return state, nil, fmt.Errorf("header of %d bytes, %d are left in the file", length, left)
	}
	var h header[T]
	dec := json.NewDecoder(io.NewSectionReader(r, int64(fixedSize), length))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&h); err != nil {
		return state, nil, fmt.Errorf("header: %w", err)
	}
	arrays, err = readArrays(h.Arrays, io.NewSectionReader(r, int64(fixedSize)+length, left-length))
	return h.State, arrays, err
}

// checkSum compares the sha256 of the bytes before end with the stored one.
func checkSum(r io.ReaderAt, end int64) error {
	found, expected := sha256.New(), make([]byte, sha256.Size)
	if _, err := io.Copy(found, io.NewSectionReader(r, 0, end)); err != nil {
		return err
	}
	if n, err := r.ReadAt(expected, end); n < len(expected) {
		return err
	}
	if !bytes.Equal(found.Sum(nil), expected) {
		return fmt.Errorf("checksum differs: the file is cut short or damaged")
	}
	return nil
}

func readArrays(list []Array, r *io.SectionReader) (map[string]Array, error) {
	arrays, left := make(map[string]Array, len(list)), r.Size()
	buf := make([]byte, 1<<16)
	for _, a := range list {
		size, ok := kindSizes[a.Kind]
		if _, twice := arrays[a.Name]; twice || !ok || a.Len < 0 || int64(a.Len) > left/int64(size) {
			return nil, fmt.Errorf("array %q: %d of kind %q do not fit the %d bytes left, or come twice", a.Name, a.Len,
				a.Kind, left)
		}
		if err := a.readArrayNumbers(r, buf); err != nil {
			return nil, fmt.Errorf("array %q: %w", a.Name, err)
		}
		arrays[a.Name] = a
		left -= int64(a.Len) * int64(size)
	}
	if left > 0 {
		return nil, fmt.Errorf("%d bytes too many", left)
	}
	return arrays, nil
}

// readArrayNumbers fills the array from r, through buf.
func (a *Array) readArrayNumbers(r io.Reader, buf []byte) error {
	switch a.Kind {
	case "f32":
		a.F32 = make([]float32, a.Len)
	case "f64":
		a.F64 = make([]float64, a.Len)
	case "u32":
		a.U32 = make([]uint32, a.Len)
	default:
		a.Ints = make([]int, a.Len)
	}
	size := kindSizes[a.Kind]
	for at := 0; at < a.Len; {
		n := min(a.Len-at, len(buf)/size)
		if _, err := io.ReadFull(r, buf[:n*size]); err != nil {
			return err
		}
		for i := range n {
			switch a.Kind {
			case "f32":
				a.F32[at+i] = math.Float32frombits(binary.LittleEndian.Uint32(buf[4*i:]))
			case "f64":
				a.F64[at+i] = math.Float64frombits(binary.LittleEndian.Uint64(buf[8*i:]))
			case "u32":
				a.U32[at+i] = binary.LittleEndian.Uint32(buf[4*i:])
			default:
				a.Ints[at+i] = int(int64(binary.LittleEndian.Uint64(buf[8*i:])))
			}
		}
		at += n
	}
	return nil
}
