package ort

import "encoding/binary"

// message is a growing protobuf message, with which this package writes its few ONNX models.
type message []byte

func (m message) number(field int, v uint64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), v)
}

func (m message) bytes(field int, b []byte) message {
	m = binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3|2), uint64(len(b)))
	return append(m, b...)
}

func (m message) text(field int, s string) message { return m.bytes(field, []byte(s)) }

// gemmModel returns an ONNX model of one node, Y = op(A)·op(B) with op the identity or the transpose. All sizes
// are free, so one session serves every product of its kind. Field numbers are those of onnx.proto.
func gemmModel(t ElementType, transA, transB bool) []byte {
	node := message{}.text(1, "A").text(1, "B").text(2, "Y").text(4, "Gemm")
	for _, a := range []struct {
		name string
		on   bool
	}{{"transA", transA}, {"transB", transB}} {
		if a.on {
			node = node.bytes(5, message{}.text(1, a.name).number(3, 1).number(20, 2)) // an INT attribute
		}
	}
	matrix := func(name, rows, cols string) []byte {
		shape := message{}.bytes(1, message{}.text(2, rows)).bytes(1, message{}.text(2, cols))
		tensor := message{}.number(1, uint64(t)).bytes(2, shape)
		return message{}.text(1, name).bytes(2, message{}.bytes(1, tensor))
	}
	graph := message{}.bytes(1, node).text(2, "gemm").
		bytes(11, matrix("A", "a0", "a1")).
		bytes(11, matrix("B", "b0", "b1")).
		bytes(12, matrix("Y", "m", "n"))
	opset := message{}.number(2, 17)
	return message{}.number(1, 8).bytes(7, graph).bytes(8, opset)
}
