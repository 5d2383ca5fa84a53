package train

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// An archive is a JSON header and numeric arrays in one checked file:
//
//	magic 8 bytes · version uint32 · length of the header uint32 · header (JSON) · arrays · SHA-256
//
// little-endian; the header lists the arrays (name, kind, length) in their order, and the sum is of all
// bytes before it. Numbers keep their bits.
const (
	archiveMagic   = "WINNOWCK"
	archiveVersion = 2
	archiveFixed   = len(archiveMagic) + 8
)

// array is one named list of numbers; exactly one of the slices is used, as kind says.
type array struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // f32, f64, int (as int64)
	Len  int    `json:"len"`

	f32  []float32
	f64  []float64
	ints []int
}

func float32s(name string, v []float32) array {
	return array{Name: name, Kind: "f32", Len: len(v), f32: v}
}
func float64s(name string, v []float64) array {
	return array{Name: name, Kind: "f64", Len: len(v), f64: v}
}
func integers(name string, v []int) array {
	return array{Name: name, Kind: "int", Len: len(v), ints: v}
}

// kindSizes are the bytes a number takes.
var kindSizes = map[string]int{"f32": 4, "f64": 8, "int": 8}

// archiveHeader is the JSON part: what the caller put in, and the list of arrays.
type archiveHeader[T any] struct {
	State  T       `json:"state"`
	Arrays []array `json:"arrays"`
}

// writeArchive writes state and arrays.
func writeArchive[T any](w io.Writer, state T, arrays []array) error {
	header, err := json.Marshal(archiveHeader[T]{state, arrays})
	if err != nil {
		return err
	}
	sum := sha256.New()
	out := io.MultiWriter(w, sum)
	fixed := []byte(archiveMagic)
	fixed = binary.LittleEndian.AppendUint32(fixed, archiveVersion)
	fixed = binary.LittleEndian.AppendUint32(fixed, uint32(len(header)))
	for _, part := range [][]byte{fixed, header} {
		if _, err := out.Write(part); err != nil {
			return err
		}
	}
	buf := make([]byte, 0, 1<<16)
	for _, a := range arrays {
		if err := a.write(out, buf); err != nil {
			return err
		}
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// write streams the numbers through buf, which is shorter than a large array.
func (a array) write(w io.Writer, buf []byte) error {
	at := 0
	for at < a.Len {
		n := min(a.Len-at, cap(buf)/8)
		buf = buf[:0]
		for i := at; i < at+n; i++ {
			switch a.Kind {
			case "f32":
				buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(a.f32[i]))
			case "f64":
				buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(a.f64[i]))
			default:
				buf = binary.LittleEndian.AppendUint64(buf, uint64(int64(a.ints[i])))
			}
		}
		if _, err := w.Write(buf); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// readArchive checks the whole before it trusts a part: nothing is allocated from a length that the bytes
// do not bear out.
func readArchive[T any](data []byte) (state T, arrays map[string]array, err error) {
	var h archiveHeader[T]
	if len(data) < archiveFixed+sha256.Size || string(data[:len(archiveMagic)]) != archiveMagic {
		return state, nil, fmt.Errorf("not a checkpoint of winnow, or cut short: %d bytes, expected to start with %q", len(data), archiveMagic)
	}
	if v := binary.LittleEndian.Uint32(data[len(archiveMagic):]); v != archiveVersion {
		return state, nil, fmt.Errorf("format version is %d, expected %d", v, archiveVersion)
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if found := sha256.Sum256(body); !bytes.Equal(found[:], sum) {
		return state, nil, fmt.Errorf("checksum differs: the file is cut short or damaged")
	}
	rest := body[archiveFixed:]
	size := binary.LittleEndian.Uint32(body[len(archiveMagic)+4:])
	if uint64(size) > uint64(len(rest)) {
		return state, nil, fmt.Errorf("header of %d bytes, %d are left in the file", size, len(rest))
	}
	dec := json.NewDecoder(bytes.NewReader(rest[:size]))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&h); err != nil {
		return state, nil, fmt.Errorf("header: %w", err)
	}
	arrays, err = readArrays(h.Arrays, rest[size:])
	return h.State, arrays, err
}

func readArrays(list []array, rest []byte) (map[string]array, error) {
	arrays := make(map[string]array, len(list))
	for _, a := range list {
		size, ok := kindSizes[a.Kind]
		if _, twice := arrays[a.Name]; twice || !ok || a.Len < 0 || a.Len > len(rest)/size {
			return nil, fmt.Errorf("array %q: %d of kind %q do not fit the %d bytes left, or come twice", a.Name, a.Len, a.Kind, len(rest))
		}
		a.read(rest)
		arrays[a.Name] = a
		rest = rest[a.Len*size:]
	}
	if len(rest) > 0 {
		return nil, fmt.Errorf("%d bytes too many", len(rest))
	}
	return arrays, nil
}

func (a *array) read(data []byte) {
	switch a.Kind {
	case "f32":
		a.f32 = make([]float32, a.Len)
		for i := range a.f32 {
			a.f32[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[4*i:]))
		}
	case "f64":
		a.f64 = make([]float64, a.Len)
		for i := range a.f64 {
			a.f64[i] = math.Float64frombits(binary.LittleEndian.Uint64(data[8*i:]))
		}
	default:
		a.ints = make([]int, a.Len)
		for i := range a.ints {
			a.ints[i] = int(int64(binary.LittleEndian.Uint64(data[8*i:])))
		}
	}
}
