package graph

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"
)

// Structs with tags `onnx:"N"` are protobuf messages; N is the field's number. A field tagged `onnx:"rest"` keeps
// unknown fields; without such a field they are dropped. Byte slices that are read point into the message.

// fixed32 and fixed64 hold repeated numbers of 4 or 8 bytes, little-endian.
type (
	fixed32 []byte
	fixed64 []byte
)

// translated is a message that is read and written through another struct with tags. wire returns that struct, also
// for an empty message, and fromWire converts it after reading.
type translated interface {
	wire() any
	fromWire(w any) error
}

// layout maps field numbers to the indices of a struct's fields.
type layout struct {
	at      map[protowire.Number]int
	numbers []protowire.Number // in order
	rest    int                // index of the field for unknown fields; -1: none
}

var layouts sync.Map // from reflect.Type to *layout

func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	l := &layout{at: map[protowire.Number]int{}, rest: -1}
	for i := range t.NumField() {
		tag := t.Field(i).Tag.Get("onnx")
		if n, err := strconv.Atoi(tag); err == nil {
			l.at[protowire.Number(n)] = i
			l.numbers = append(l.numbers, protowire.Number(n))
		} else if tag == "rest" {
			l.rest = i
		}
	}
	slices.Sort(l.numbers)
	layouts.Store(t, l)
	return l
}

// maxDepth limits the nesting of messages. A graph inside a node is three levels deeper; real models have two or three.
const maxDepth = 100

// readMessage reads a message into a struct.
func readMessage(message []byte, to reflect.Value, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("graphs are nested more than %d messages deep", maxDepth)
	}
	if t, ok := to.Addr().Interface().(translated); ok {
		w := t.wire()
		if err := readMessage(message, reflect.ValueOf(w).Elem(), depth); err != nil {
			return err
		}
		return t.fromWire(w)
	}
	l := layoutOf(to.Type())
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return wireError(n)
		}
		m := protowire.ConsumeFieldValue(number, kind, message[n:])
		if m < 0 {
			return wireError(m)
		}
		whole, value := message[:n+m], message[n:n+m]
		message = message[n+m:]
		if i, ok := l.at[number]; ok {
			if err := readValue(value, kind, to.Field(i), depth); err != nil {
				return fmt.Errorf("%s: %w", strings.ToLower(to.Type().Field(i).Name), err)
			}
		} else if l.rest >= 0 {
			rest := to.Field(l.rest)
			rest.SetBytes(append(rest.Bytes(), whole...))
		}
	}
	return nil
}

func wireError(n int) error {
	if err := protowire.ParseError(n); !errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("this is not an ONNX model (%w)", err)
	}
	return errors.New("the data is cut short")
}

// readValue sets a field, or appends to it, from one value in wire form.
func readValue(value []byte, kind protowire.Type, to reflect.Value, depth int) error {
	b, _ := protowire.ConsumeBytes(value) // empty for other kinds
	want := protowire.BytesType
	switch list := to.Addr().Interface().(type) {
	case *[]byte:
		*list = b
	case *[]string:
		*list = append(*list, string(b))
	case *fixed32:
		return appendFixed((*[]byte)(list), value, kind, protowire.Fixed32Type)
	case *fixed64:
		return appendFixed((*[]byte)(list), value, kind, protowire.Fixed64Type)
	case *[]float32:
		var raw []byte
		err := appendFixed(&raw, value, kind, protowire.Fixed32Type)
		for ; len(raw) > 0; raw = raw[4:] {
			*list = append(*list, math.Float32frombits(binary.LittleEndian.Uint32(raw)))
		}
		return err
	case *[]int64:
		return appendInts(list, value, b, kind)
	default:
		switch to.Kind() {
		case reflect.String:
			to.SetString(string(b))
		case reflect.Int32, reflect.Int64:
			v, _ := protowire.ConsumeVarint(value)
			if want = protowire.VarintType; kind == want && to.OverflowInt(int64(v)) {
				return fmt.Errorf("found %d, which exceeds the range of the field", int64(v))
			}
			to.SetInt(int64(v))
		case reflect.Float32:
			v, _ := protowire.ConsumeFixed32(value)
			to.SetFloat(float64(math.Float32frombits(v)))
			want = protowire.Fixed32Type
		case reflect.Pointer:
			if !to.IsNil() {
				return errors.New("found two values, expected one")
			}
			to.Set(reflect.New(to.Type().Elem()))
			return readValue(value, kind, to.Elem(), depth)
		case reflect.Slice: // a slice of messages
			to.Set(reflect.Append(to, reflect.Zero(to.Type().Elem())))
			if err := readValue(value, kind, to.Index(to.Len()-1), depth); err != nil {
				return fmt.Errorf("%d: %w", to.Len(), err)
			}
			return nil
		default: // a single message
			if kind == want {
				return readMessage(b, to, depth+1)
			}
		}
	}
	return wantKind(kind, want)
}

func wantKind(kind, want protowire.Type) error {
	if kind != want {
		return fmt.Errorf("this is not an ONNX model (found wire type %d, expected %d)", kind, want)
	}
	return nil
}

// appendInts reads repeated integers, either packed into b or one value.
func appendInts(list *[]int64, value, b []byte, kind protowire.Type) error {
	if kind == protowire.VarintType {
		b = value
	} else if err := wantKind(kind, protowire.BytesType); err != nil {
		return err
	}
	for len(b) > 0 {
		v, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return wireError(n)
		}
		*list, b = append(*list, int64(v)), b[n:]
	}
	return nil
}

// appendFixed reads repeated numbers of one wire type, packed or single. The first packed list is used without a copy.
func appendFixed(to *[]byte, value []byte, kind, one protowire.Type) error {
	width := map[protowire.Type]int{protowire.Fixed32Type: 4, protowire.Fixed64Type: 8}[one]
	b := value
	if kind != one {
		if err := wantKind(kind, protowire.BytesType); err != nil {
			return err
		}
		if b, _ = protowire.ConsumeBytes(value); len(b)%width != 0 {
			return fmt.Errorf("found %d bytes, expected a multiple of %d", len(b), width)
		}
	}
	if len(*to) == 0 {
		*to = b[:len(b):len(b)]
	} else {
		*to = append(*to, b...)
	}
	return nil
}

// writer appends to a message, or only counts its bytes.
type writer struct {
	out  []byte
	only bool // only count the bytes
	size int
}

func (w *writer) add(b []byte) {
	if w.size += len(b); !w.only {
		w.out = append(w.out, b...)
	}
}

func (w *writer) addBytes(number protowire.Number, b []byte) {
	w.add(protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.BytesType), uint64(len(b))))
	w.add(b)
}

// marshalMessage returns a message in wire form.
func marshalMessage(from any) []byte {
	count := writer{only: true}
	count.addMessage(reflect.ValueOf(from).Elem())
	w := writer{out: make([]byte, 0, count.size)}
	w.addMessage(reflect.ValueOf(from).Elem())
	return w.out
}

func (w *writer) addMessage(from reflect.Value) {
	if t, ok := from.Addr().Interface().(translated); ok {
		from = reflect.ValueOf(t.wire()).Elem()
	}
	l := layoutOf(from.Type())
	stated, _ := from.Addr().Interface().(interface{ states(protowire.Number) bool })
	for _, n := range l.numbers {
		if f := from.Field(l.at[n]); !f.IsZero() || stated != nil && stated.states(n) {
			w.addValue(n, f)
		}
	}
	if l.rest >= 0 {
		w.add(from.Field(l.rest).Bytes())
	}
}

func (w *writer) addValue(number protowire.Number, from reflect.Value) {
	switch v := from.Interface().(type) {
	case []byte:
		w.addBytes(number, v)
		return
	case []float32:
		packed, _ := binary.Append(nil, binary.LittleEndian, v) // cannot fail: the numbers have a fixed size
		w.addBytes(number, packed)
		return
	case []int64:
		var packed []byte
		for _, i := range v {
			packed = protowire.AppendVarint(packed, uint64(i))
		}
		w.addBytes(number, packed)
		return
	}
	switch from.Kind() {
	case reflect.String:
		w.addBytes(number, []byte(from.String()))
	case reflect.Int32, reflect.Int64:
		w.add(protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), uint64(from.Int())))
	case reflect.Float32:
		w.add(protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type),
			math.Float32bits(float32(from.Float()))))
	case reflect.Pointer:
		w.addValue(number, from.Elem())
	case reflect.Slice:
		for i := range from.Len() {
			w.addValue(number, from.Index(i))
		}
	default:
		count := writer{only: true}
		count.addMessage(from)
		w.add(protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.BytesType), uint64(count.size)))
		if w.only {
			w.size += count.size
		} else {
			w.addMessage(from)
		}
	}
}
