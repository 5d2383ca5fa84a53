package parts

import (
	"encoding"
	"encoding/gob"
	"fmt"
	"io"
	"reflect"
)

// A value is written as messages of gob of a bounded size, as gob refuses one above 8 GiB (1 GiB where addresses have 32 bits) and holds
// each in memory. What is small is a message; what is larger falls into the fields of a struct, or the elements of a slice, as many together
// as are small; a single large one falls further. In front of each stands how it is written.

// mostMessage is about how many bytes of a value one message holds.
const mostMessage = 64 << 20

// node says how a value is written.
type node struct {
	Fields []string // that follow, each behind a node of its own; those left out are zero
	Runs   []int    // lengths of the stretches of a slice that follow: one message each, or of -1 a single element behind a node of its own
	// neither: one message follows
}

// writeValue writes a value.
func writeValue[T any](w io.Writer, v T, most int) error {
	return messages{gob.NewEncoder(w), most}.write(reflect.ValueOf(&v).Elem())
}

type messages struct {
	to   *gob.Encoder
	most int
}

func (m messages) write(v reflect.Value) error {
	for v.Kind() == reflect.Pointer && !v.IsNil() && !whole(v.Type()) {
		v = v.Elem()
	}
	switch {
	case size(v, m.most) <= m.most || whole(v.Type()):
	case v.Kind() == reflect.Struct:
		return m.fields(v)
	case v.Kind() == reflect.Slice:
		return m.runs(v)
	}
	if err := m.to.Encode(node{}); err != nil {
		return err
	}
	return m.to.EncodeValue(v)
}

func (m messages) fields(v reflect.Value) error {
	var n node
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !v.Field(i).IsZero() {
			n.Fields = append(n.Fields, f.Name)
		}
	}
	if err := m.to.Encode(n); err != nil {
		return err
	}
	for _, name := range n.Fields {
		if err := m.write(v.FieldByName(name)); err != nil {
			return err
		}
	}
	return nil
}

func (m messages) runs(v reflect.Value) error {
	var n node
	have := 0 // bytes in the last run
	for i := range v.Len() {
		one := size(v.Index(i), m.most)
		switch last := len(n.Runs) - 1; {
		case one > m.most && !whole(v.Type().Elem()):
			n.Runs, have = append(n.Runs, -1), m.most
		case have+one > m.most || last < 0:
			n.Runs, have = append(n.Runs, 1), one
		default:
			n.Runs[last]++
			have += one
		}
	}
	if err := m.to.Encode(n); err != nil {
		return err
	}
	at := 0
	for _, length := range n.Runs {
		if length < 0 {
			if err := m.write(v.Index(at)); err != nil {
				return err
			}
			at++
			continue
		}
		if err := m.to.EncodeValue(v.Slice(at, at+length)); err != nil {
			return err
		}
		at += length
	}
	return nil
}

// size returns about how many bytes a value takes, or some number above most if it is more than that.
func size(v reflect.Value, most int) int {
	n := 0
	switch v.Kind() {
	case reflect.String:
		return v.Len()
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			n = size(v.Elem(), most)
		}
		return n
	case reflect.Struct:
		for i := 0; i < v.NumField() && n <= most; i++ {
			n += size(v.Field(i), most-n)
		}
		return n
	case reflect.Map:
		for i := v.MapRange(); i.Next() && n <= most; {
			n += size(i.Key(), most) + size(i.Value(), most)
		}
		return n
	case reflect.Slice, reflect.Array:
		if flat(v.Type().Elem()) {
			return v.Len() * int(v.Type().Elem().Size())
		}
		for i := 0; i < v.Len() && n <= most; i++ {
			n += size(v.Index(i), most-n)
		}
		return n
	}
	return int(v.Type().Size())
}

// flat reports whether all values of a type take the same memory.
func flat(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return flat(t.Elem())
	case reflect.String, reflect.Pointer, reflect.Interface, reflect.Struct, reflect.Map, reflect.Slice:
		return false
	}
	return true
}

// whole reports whether the values of a type say themselves how they are written, so that they cannot be cut.
func whole(t reflect.Type) bool {
	for _, own := range []reflect.Type{reflect.TypeFor[gob.GobEncoder](), reflect.TypeFor[encoding.BinaryMarshaler](), reflect.TypeFor[encoding.TextMarshaler]()} {
		if t.Implements(own) || reflect.PointerTo(t).Implements(own) {
			return true
		}
	}
	return false
}

// readValue reads a value into what to points to.
func readValue(from *gob.Decoder, to any) error { return read(from, reflect.ValueOf(to).Elem()) }

// read reads a value; one that is not valid is passed over.
func read(from *gob.Decoder, v reflect.Value) error {
	var n node
	if err := from.Decode(&n); err != nil {
		return err
	}
	if n.Fields == nil && n.Runs == nil {
		return decode(from, v)
	}
	for v.IsValid() && v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	if found, expected := v.Kind(), kindOf(n); v.IsValid() && found != expected {
		return fmt.Errorf("found a %v, expected a %v", expected, found)
	}
	for _, name := range n.Fields {
		var field reflect.Value
		if v.IsValid() {
			if field = v.FieldByName(name); !field.CanSet() {
				field = reflect.Value{}
			}
		}
		if err := read(from, field); err != nil {
			return err
		}
	}
	for _, length := range n.Runs {
		if err := readRun(from, v, length); err != nil {
			return err
		}
	}
	return nil
}

func kindOf(n node) reflect.Kind {
	if n.Fields != nil {
		return reflect.Struct
	}
	return reflect.Slice
}

// readRun appends a run to a slice.
func readRun(from *gob.Decoder, v reflect.Value, length int) error {
	if !v.IsValid() {
		if length < 0 {
			return read(from, v)
		}
		return decode(from, v)
	}
	if length < 0 {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		return read(from, v.Index(v.Len()-1))
	}
	run := reflect.New(v.Type()).Elem()
	if err := decode(from, run); err != nil {
		return err
	}
	v.Set(reflect.AppendSlice(v, run))
	return nil
}

func decode(from *gob.Decoder, v reflect.Value) error {
	if !v.IsValid() {
		return from.DecodeValue(reflect.Value{}) // passes over it
	}
	return from.DecodeValue(v.Addr())
}
