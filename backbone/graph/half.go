package graph

// Half reports whether a model computes with floating-point numbers of 16 bits somewhere.
func Half(m *Model) bool {
	for _, f := range inferModel(m) {
		if f.typ == Float16 || f.typ == BFloat16 {
			return true
		}
	}
	return false
}

// quantised are the operators that compute with integers of 8 bits, or convert to them.
var quantised = []string{"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul",
	"ConvInteger", "MatMulInteger"}

// Quantised returns the first operator of a model that computes with integers of 8 bits, or "".
func Quantised(m *Model) string {
	for _, n := range m.Graph.Nodes {
		if n.hasOp(quantised...) {
			return n.Op
		}
	}
	return ""
}

// asFloat32 returns a tensor as float32 if its numbers have 16 or 64 bits.
func (b *Builder) asFloat32(tensor string, t DataType) string {
	if t.Floating() && t != Float32 {
		return b.NodeTo(b.Fresh(tensor+"_float32"), "Cast", []string{tensor}, Int("to", int64(Float32)))
	}
	return tensor
}
