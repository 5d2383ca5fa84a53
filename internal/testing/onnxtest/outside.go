// Package onnxtest writes ONNX files in forms that winnow reads but does not write.
package onnxtest

import (
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// Reference is a model's reference to tensor values in another file.
type Reference struct {
	Location       string
	Offset, Length int64
}

// Outside moves the values of a model's large initializers into a file next to the model, as PyTorch's exporter does:
// one after another, each at a multiple of 64 bytes. It returns the bytes of both files. spoil, if not nil, may change
// the reference of the i-th tensor.
func Outside(model []byte, location string, spoil func(i int, r *Reference)) (outside, data []byte) {
	count := 0
	tensor := func(t []byte) []byte {
		var out []byte
		each(t, func(number protowire.Number, field, content []byte) {
			if number != 9 || len(content) < 64 {
				out = append(out, field...)
				return
			}
			r := Reference{location, int64(len(data)+63) / 64 * 64, int64(len(content))}
			data = append(append(data, make([]byte, int(r.Offset)-len(data))...), content...)
			if spoil != nil {
				spoil(count, &r)
			}
			count++
			for _, p := range [][2]string{{"location", r.Location}, {"offset", strconv.FormatInt(r.Offset, 10)},
				{"length", strconv.FormatInt(r.Length, 10)}} {
				if p[1] != "" {
					out = message(out, 13, message(message(nil, 1, []byte(p[0])), 2, []byte(p[1])))
				}
			}
			out = protowire.AppendVarint(protowire.AppendTag(out, 14, protowire.VarintType), 1)
		})
		return out
	}
	graph := func(g []byte) []byte { return replace(g, 5, tensor) }
	return replace(model, 7, graph), data
}

// replace returns a message with the fields of this number changed.
func replace(m []byte, number protowire.Number, change func([]byte) []byte) (out []byte) {
	each(m, func(n protowire.Number, field, content []byte) {
		if n == number {
			field = message(nil, n, change(content))
		}
		out = append(out, field...)
	})
	return out
}

func message(to []byte, number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), content)
}

// each visits the fields of a well-formed message; field holds all bytes of a field, content only its value.
func each(m []byte, visit func(number protowire.Number, field, content []byte)) {
	for len(m) > 0 {
		num, kind, tag := protowire.ConsumeTag(m)
		n := tag + protowire.ConsumeFieldValue(num, kind, m[tag:])
		var content []byte
		if kind == protowire.BytesType {
			content, _ = protowire.ConsumeBytes(m[tag:])
		}
		visit(num, m[:n], content)
		m = m[n:]
	}
}
