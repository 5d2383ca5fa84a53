package graph

// Half reports whether any tensor of a model holds floating-point numbers of 16 bits.
func Half(m *Model) bool {
	for _, f := range inferModel(m) {
		if f.typ == Float16 || f.typ == BFloat16 {
			return true
		}
	}
	return false
}

// quantised lists the operators that compute with integers of 8 bits or convert to them.
var quantised = []string{"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul",
	"ConvInteger", "MatMulInteger"}

// Quantised returns the first operator in a model that computes with integers of 8 bits, or "" if there is none.
func Quantised(m *Model) string {
	for _, n := range m.Graph.Nodes {
		if n.hasOp(quantised...) {
			return n.Op
		}
	}
	return ""
}

// asFloat32 casts a tensor to float32 if its numbers have 16 or 64 bits.
func (b *Builder) asFloat32(tensor string, t DataType) string {
	if t.Floating() && t != Float32 {
		return b.NodeTo(b.Fresh(tensor+"_float32"), "Cast", []string{tensor}, Int("to", int64(Float32)))
	}
	return tensor
}
