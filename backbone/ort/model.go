package ort

import "encoding/binary"

// message is a growing protobuf message, with which this package writes its few ONNX models.
type message []byte

func (m message) putNumber(field int, v uint64) message {
	return binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3), v)
}

func (m message) putBytes(field int, b []byte) message {
	m = binary.AppendUvarint(binary.AppendUvarint(m, uint64(field)<<3|2), uint64(len(b)))
	return append(m, b...)
}

func (m message) putString(field int, s string) message { return m.putBytes(field, []byte(s)) }

// gemmModel returns an ONNX model of one node, Y = op(A)·op(B) with op the identity or the transpose. All sizes
// are free, so one session serves every product of its kind. Field numbers are those of onnx.proto.
func gemmModel(t ElementType, transA, transB bool) []byte {
	node := message{}.putString(1, "A").putString(1, "B").putString(2, "Y").putString(4, "Gemm")
	for _, a := range []struct {
		name string
		on   bool
	}{{"transA", transA}, {"transB", transB}} {
		if a.on {
			node = node.putBytes(5, message{}.putString(1, a.name).putNumber(3, 1).putNumber(20, 2)) // an INT attribute
		}
	}
	matrix := func(name, rows, cols string) []byte {
		shape := message{}.putBytes(1, message{}.putString(2, rows)).putBytes(1, message{}.putString(2, cols))
		tensor := message{}.putNumber(1, uint64(t)).putBytes(2, shape)
		return message{}.putString(1, name).putBytes(2, message{}.putBytes(1, tensor))
	}
	graph := message{}.putBytes(1, node).putString(2, "gemm").
		putBytes(11, matrix("A", "a0", "a1")).
		putBytes(11, matrix("B", "b0", "b1")).
		putBytes(12, matrix("Y", "m", "n"))
	opset := message{}.putNumber(2, 17)
	return message{}.putNumber(1, 8).putBytes(7, graph).putBytes(8, opset)
}
