package ort

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	ortgo "github.com/yalue/onnxruntime_go"
)

// Info describes one input or output of a model.
type Info struct {
	Name  string
	Type  ElementType
	Shape []int64 // -1: the size is free; nil: the rank is not known; empty: a scalar
}

// parseSignature lists a model's inputs and outputs, from the file: asking the wrapper loads the whole model again
// (166 ms for GoogLeNet's 28 MB). The wrapper is asked only if types or ranks must be inferred.
func parseSignature(model []byte) (in, out []Info, err error) {
	statedIn, statedOut, ok := readSignature(model)
	if ok {
		return statedIn, statedOut, nil
	}
	if len(model) == 0 {
		return nil, nil, errors.New("found 0 bytes, expected an ONNX model")
	}
	wrapped, wrappedOut, err := ortgo.GetInputOutputInfoWithONNXData(model)
	switch {
	case err != nil:
		return nil, nil, err
	case len(wrapped) == 0 || len(wrappedOut) == 0:
		return nil, nil, fmt.Errorf("found %d inputs and %d outputs, expected at least one of each",
			len(wrapped), len(wrappedOut))
	}
	return convertInfos(wrapped, statedIn), convertInfos(wrappedOut, statedOut), nil
}

// convertInfos converts what the wrapper found. It reports no sizes for a scalar, and none for an unknown rank; the
// file tells them apart.
func convertInfos(list []ortgo.InputOutputInfo, stated []Info) []Info {
	infos := make([]Info, len(list))
	for i, v := range list {
		infos[i] = Info{Name: v.Name, Type: ElementType(v.DataType), Shape: []int64(v.Dimensions)}
		if len(v.Dimensions) == 0 {
			at := slices.IndexFunc(stated, func(s Info) bool { return s.Name == v.Name })
			infos[i].Shape = nil
			if at >= 0 && len(stated[at].Shape) == 0 {
				infos[i].Shape = stated[at].Shape
			}
		}
	}
	return infos
}

// readSignature reads ModelProto.graph: inputs that are not initializers, and outputs. ok is false if anything
// is missing or odd; the library then decides, with its own message for a broken file. What was read is returned.
func readSignature(model []byte) (in, out []Info, ok bool) {
	graph, ok := lastField(model, 7)
	if !ok {
		return nil, nil, false
	}
	constants, complete := map[string]bool{}, true
	ok = walkFields(graph, func(number int, value []byte) bool {
		if number == 5 {
			name, _ := lastField(value, 8)
			constants[string(name)] = true
		}
		return true
	}) && walkFields(graph, func(number int, value []byte) bool {
		if number != 11 && number != 12 {
			return true
		}
		info, ok := readInfo(value)
		complete = complete && ok
		if number == 12 {
			out = append(out, info)
		} else if !constants[info.Name] {
			in = append(in, info)
		}
		return true
	})
	return in, out, ok && complete && len(in) > 0 && len(out) > 0
}

// readInfo reads a ValueInfoProto that holds a tensor of known type and rank.
func readInfo(value []byte) (Info, bool) {
	name, ok1 := lastField(value, 1)
	typ, ok2 := lastField(value, 2)
	tensor, ok3 := lastField(typ, 1)
	info := Info{Name: string(name)}
	if !ok1 || !ok2 || !ok3 {
		return info, false
	}
	ok := walkFields(tensor, func(number int, v []byte) bool {
		switch number {
		case 1:
			n, _ := binary.Uvarint(v)
			info.Type = ElementType(n)
		case 2:
			info.Shape = []int64{}
			return walkFields(v, func(number int, dim []byte) bool {
				if number == 1 {
					info.Shape = append(info.Shape, readDim(dim))
				}
				return true
			})
		}
		return true
	})
	return info, ok && info.Shape != nil && info.Type != 0
}

// readDim returns a dimension's fixed size, or -1.
func readDim(dim []byte) int64 {
	size := int64(-1)
	walkFields(dim, func(number int, v []byte) bool {
		if number == 1 {
			if n, _ := binary.Uvarint(v); n > 0 && n <= math.MaxInt32 {
				size = int64(n)
			}
		}
		return true
	})
	return size
}

// lastField returns the last value of a field, as protobuf defines it.
func lastField(m []byte, number int) (value []byte, found bool) {
	ok := walkFields(m, func(n int, v []byte) bool {
		if n == number {
			value, found = v, true
		}
		return true
	})
	return value, ok && found
}

// walkFields calls visit with each field of a message: the content of a length-delimited field, or the bytes of a
// varint. It stops and returns false at a malformed field or when visit returns false.
func walkFields(m []byte, visit func(number int, value []byte) bool) bool {
	for len(m) > 0 {
		key, n := binary.Uvarint(m)
		if n <= 0 {
			return false
		}
		m = m[n:]
		var size int
		switch key & 7 {
		case 0:
			if _, size = binary.Uvarint(m); size <= 0 {
				return false
			}
		case 1:
			size = 8
		case 2:
			length, n := binary.Uvarint(m)
			if n <= 0 || length > uint64(len(m)-n) {
				return false
			}
			m, size = m[n:], int(length)
		case 5:
			size = 4
		default:
			return false
		}
		if size > len(m) || !visit(int(key>>3), m[:size]) {
			return false
		}
		m = m[size:]
	}
	return true
}

// String formats the info as in messages: "x" float32 [?,3,224,224].
func (i Info) String() string { return fmt.Sprintf("%q %v %s", i.Name, i.Type, shapeText(i.Shape)) }

// shapeText formats a shape, with ? for a free size.
func shapeText(shape []int64) string {
	sizes := make([]string, len(shape))
	for i, d := range shape {
		if sizes[i] = "?"; d >= 0 {
			sizes[i] = fmt.Sprint(d)
		}
	}
	return "[" + strings.Join(sizes, ",") + "]"
}
