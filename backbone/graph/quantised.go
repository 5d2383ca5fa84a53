package graph

// Quantised networks compute with integers of 8 bits: q stands for scale·(q - zero). Exporters write them in two forms.
// In the form QDQ every operator stays, between DequantizeLinear and QuantizeLinear. In the form QLinear operators take
// and give integers (QLinearConv, QLinearMatMul, and those of ONNX Runtime's own domain).

// microsoft is the domain of ONNX Runtime's own operators.
const microsoft = "com.microsoft."

// quantisedInputs says where an operator on integers has its weights, and the scale of its output, which the zero point
// follows; 0: it has none.
var quantisedInputs = map[string]struct{ weights, scale int }{
	"QuantizeLinear": {0, 1},
	"QLinearConv":    {3, 6}, "QLinearMatMul": {3, 6}, microsoft + "QGemm": {3, 7},
	microsoft + "QLinearAdd": {0, 6}, microsoft + "QLinearMul": {0, 6},
	microsoft + "QLinearGlobalAveragePool": {0, 3}, microsoft + "QLinearAveragePool": {0, 3},
	microsoft + "QLinearReduceMean": {0, 3}, microsoft + "QLinearLeakyRelu": {0, 3},
	microsoft + "QLinearSigmoid": {0, 3}, microsoft + "QLinearSoftmax": {0, 3},
	"ConvInteger": {1, 0}, "MatMulInteger": {1, 0},
}

// Quantised returns the first operator of a model that computes with integers of 8 bits, or "".
func Quantised(m *Model) string {
	for _, n := range m.Graph.Nodes {
		if _, ok := quantisedInputs[n.ruleKey()]; ok || n.hasOp("DequantizeLinear", "DynamicQuantizeLinear") ||
			n.ruleKey() == microsoft+"QLinearConcat" {
			return n.Op
		}
	}
	return ""
}

// ruleOn applies the rule of an ordinary operator to one on integers, whose ordinary inputs are at these places.
func ruleOn(rule rule, typ DataType, places ...int) rule {
	return func(c *call) {
		plain := call{Node: c.Node, opset: c.opset, out: c.out}
		for _, i := range places {
			plain.in = append(plain.in, c.inputFact(i))
		}
		rule(&plain)
		if typ != 0 && len(c.out) > 0 {
			c.out[0].typ = typ
		}
	}
}

// quantise: the type is that of the zero point, uint8 without one.
func inferQuantise(c *call) {
	t := DataType(c.Int("output_dtype", int64(Uint8)))
	if zero := c.inputFact(2).typ; zero != 0 {
		t = zero
	}
	c.setOutput(0, t, c.inputFact(0).shape)
}

// dequantise: the type is that of the scale.
func inferDequantise(c *call) { c.setOutput(0, c.inputFact(1).typ, c.inputFact(0).shape) }

// dynamicQuantise also makes the scale and the zero point.
func dynamicQuantise(c *call) {
	c.setOutput(0, Uint8, c.inputFact(0).shape)
	c.setOutput(1, Float32, Shape{})
	c.setOutput(2, Uint8, Shape{})
}

// quantisedConcat: the scale and the zero point of the output, then three inputs for each part.
func quantisedConcat(c *call) {
	plain := call{Node: c.Node, opset: c.opset, out: c.out}
	for i := 2; i < len(c.in); i += 3 {
		plain.in = append(plain.in, c.inputFact(i))
	}
	inferConcat(&plain)
}

// scaleOf returns the tensors with the scale and the zero point of a quantised tensor; the zero point may be "".
func scaleOf(makers map[string]*Node, tensor string) (scale, zero string, ok bool) {
	for range len(makers) + 1 {
		n := makers[tensor]
		if n == nil {
			return "", "", false
		}
		if n.ruleKey() == microsoft+"QLinearConcat" {
			return n.Input(0), n.Input(1), true
		}
		if at := quantisedInputs[n.ruleKey()].scale; at > 0 {
			return n.Input(at), n.Input(at + 1), true
		}
		if n.hasOp("DynamicQuantizeLinear") && len(n.Outputs) == 3 {
			return n.Outputs[1], n.Outputs[2], true
		}
		if !n.hasOp("MaxPool", "Reshape", "Flatten", "Transpose", "Squeeze", "Unsqueeze", "Identity", "Slice", "Gather",
			"Relu", "Split", "Pad", "Clip") {
			return "", "", false
		}
		tensor = n.Input(0)
	}
	return "", "", false
}

// asFloat32 returns a tensor as float32: a half cast, a quantised one dequantised. Others are left as they are.
func (b *Builder) asFloat32(tensor string, t DataType) string {
	switch {
	case t == Uint8 || t == Int8:
		scale, zero, ok := scaleOf(b.m.Graph.Producers(), tensor)
		if !ok {
			return tensor
		}
		inputs := []string{tensor, scale}
		if zero != "" {
			inputs = append(inputs, zero)
		}
		return b.Node("DequantizeLinear", inputs)
	case t.Floating() && t != Float32:
		return b.NodeTo(b.Fresh(tensor+"_float32"), "Cast", []string{tensor}, Int("to", int64(Float32)))
	}
	return tensor
}
