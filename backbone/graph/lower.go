package graph

import (
	"fmt"
	"slices"
)

// wide are operators that compute with float32 numbers only, whatever the precision.
var wide = []string{"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "NonMaxSuppression", "Upsample"}

// wideInputs are the inputs that stay float32 when the rest of an operator becomes smaller.
var wideInputs = map[string][]int{"Resize": {1, 2}}

// bfloat16From is the version of ONNX's operator set from which an operator is lowered to bfloat16: ONNX allows it and
// ONNX Runtime 1.29 computes it on CUDA, which has it for convolutions only from version 22 on (TestPrecisionNoGPU of
// package ort tries all). Absent are operators that it lacks (batch normalization, max and global pooling, means,
// padding, resizing) and those that would lose too much: powers, roots, exponentials.
var bfloat16From = map[string]int64{
	"Conv": 22, "MatMul": 13, "Gemm": 13,
	"Add": 13, "Sub": 13, "Mul": 13, "Div": 13, "Neg": 13, "Sum": 13, "Max": 13, "Min": 13, "Where": 16,
	"Relu": 13, "Clip": 13, "Sigmoid": 13, "Tanh": 13, "Erf": 13, "Gelu": 20, "HardSigmoid": 22, "HardSwish": 22,
	"Softplus": 22, "Softmax": 13, "LayerNormalization": 17, "AveragePool": 22, "ReduceSum": 13,
	"Identity": 13, "Reshape": 13, "Transpose": 13, "Flatten": 13, "Squeeze": 13, "Unsqueeze": 13, "Concat": 13,
	"Split": 13, "Slice": 13, "Gather": 13, "Expand": 13,
}

// Lowers reports whether [Lower] lowers an operator of a version of ONNX's operator set to a type of 16 bits.
func Lowers(op string, opset int64, to DataType) bool {
	if slices.Contains(wide, op) {
		return false
	}
	from := bfloat16From[op]
	return to == Float16 || from > 0 && opset >= from
}

// Lower returns a model that computes in floating-point numbers of 16 bits, to, between inputs and outputs of float32.
// Initializers stay float32 in the model; the runtime converts them once, when it loads it. Operators that cannot
// compute in that type stay float32. Numbers beyond float16's largest, 65,504, become ±∞; bfloat16 has the range of
// float32 and 8 bits of its 24 of precision.
//
// Lower fails if most products and convolutions, which take the time, would stay float32.
func Lower(m *Model, to DataType) (*Model, error) {
	if !isHalf(to) {
		panic(fmt.Sprintf("graph: lower to %v", to))
	}
	l := &lowering{b: Extend(m), to: to, facts: inferModel(m), opset: m.Opset(),
		wide: map[string]string{}, narrow: map[string]string{}, outputs: map[string]string{}}
	if err := l.lowerModel(); err != nil {
		return nil, fmt.Errorf("graph: %v: %w", to, err)
	}
	return l.b.Model(), nil
}

// lowering is one call of Lower. A float32 tensor of the model has a wide form, a narrow one, or both: the second is
// made when the first node asks for it.
type lowering struct {
	b       *Builder
	to      DataType
	facts   map[string]fact
	opset   int64
	wide    map[string]string // float32 forms by the tensor's name
	narrow  map[string]string // forms of 16 bits
	outputs map[string]string // narrow names of the model's outputs
	heavy   int               // products and convolutions
	kept    int               // those of them that stay float32
	ops     []string          // the operators of kept
}

func (l *lowering) lowerModel() error {
	g := l.b.Model().Graph
	nodes := g.Nodes
	g.Nodes, g.ValueInfo = nil, nil
	for _, in := range g.DataInputs() {
		if in.Type == Float32 {
			l.wide[in.Name] = in.Name
		}
	}
	for _, t := range g.Initializers {
		if t.Type == Float32 {
			l.wide[t.Name] = t.Name
		}
	}
	for _, out := range g.Outputs {
		if out.Type != Float32 {
			return fmt.Errorf("output %v, expected float32", out)
		}
		l.outputs[out.Name] = l.b.Fresh(out.Name + "." + l.to.String())
	}
	for _, n := range nodes {
		if len(n.Subgraphs()) > 0 {
			return fmt.Errorf("node %q is a %s, expected no nodes that hold graphs", n.Name, n.Op)
		}
		heavy, keep := n.hasOp("Conv", "ConvTranspose", "MatMul", "Gemm", "Einsum"), l.staysWide(n)
		if heavy {
			l.heavy++
		}
		if heavy && keep {
			l.kept++
			if !slices.Contains(l.ops, n.Op) {
				l.ops = append(l.ops, n.Op)
			}
		}
		if keep {
			l.addWide(n)
		} else {
			l.addNarrow(n)
		}
	}
	if 2*l.kept > l.heavy {
		return fmt.Errorf("%d of %d products and convolutions cannot be computed in it (operators %q of operator set "+
			"%d), expected at most half", l.kept, l.heavy, l.ops, l.opset)
	}
	return nil
}

// staysWide reports whether a node computes in float32: it must, or it makes numbers from none.
func (l *lowering) staysWide(n *Node) bool {
	switch {
	case n.hasOp("Cast") && n.Int("to", 0) == int64(Float32):
		return false // becomes a cast to 16 bits
	case !l.makesFloats(n.Inputs):
		return l.makesFloats(n.Outputs) && !slices.ContainsFunc(n.Inputs, func(t string) bool {
			return t != "" && l.facts[t].typ == 0 // it may hold float32 numbers
		})
	case !IsONNX(n.Domain):
		return l.to == BFloat16
	}
	return !Lowers(n.Op, l.opset, l.to)
}

// makesFloats reports whether one of the tensors is known to hold float32 numbers.
func (l *lowering) makesFloats(tensors []string) bool {
	return slices.ContainsFunc(tensors, func(t string) bool { return l.facts[t].typ == Float32 })
}

// addWide adds a node that computes in float32.
func (l *lowering) addWide(n *Node) {
	c := *n
	c.Inputs = slices.Clone(n.Inputs)
	for i, name := range c.Inputs {
		c.Inputs[i] = l.wideForm(name)
	}
	l.b.Add(&c)
	for _, name := range c.Outputs {
		if name != "" && l.facts[name].typ == Float32 {
			l.wide[name] = name
		}
	}
}

// wideForm returns the float32 form of a float32 tensor. Others have one form.
func (l *lowering) wideForm(name string) string {
	if w := l.wide[name]; w != "" {
		return w
	}
	low := l.narrow[name]
	if low == "" {
		return name
	}
	l.wide[name] = l.b.Node("Cast", []string{low}, Int("to", int64(Float32)))
	return l.wide[name]
}

// addNarrow adds a node that computes in 16 bits.
func (l *lowering) addNarrow(n *Node) {
	c := *n
	c.Inputs, c.Outputs = slices.Clone(n.Inputs), slices.Clone(n.Outputs)
	for i, name := range c.Inputs {
		if slices.Contains(wideInputs[n.Op], i) {
			c.Inputs[i] = l.wideForm(name)
		} else {
			c.Inputs[i] = l.narrowForm(name)
		}
	}
	if n.hasOp("Cast") && n.Int("to", 0) == int64(Float32) {
		c.Attributes = []*Attribute{Int("to", int64(l.to))}
	}
	for i, name := range c.Outputs {
		if low := l.outputs[name]; low != "" {
			c.Outputs[i] = low
		}
	}
	l.b.Add(&c)
	for i, name := range n.Outputs {
		if name != "" && l.facts[name].typ == Float32 {
			l.narrow[name] = c.Outputs[i]
		}
		if low := l.outputs[name]; low != "" {
			l.narrow[name] = low
			l.b.Add(&Node{Name: l.b.Fresh(name + ".float32"), Op: "Cast", Inputs: []string{low},
				Outputs: []string{name}, Attributes: []*Attribute{Int("to", int64(Float32))}})
			l.wide[name] = name
		}
	}
}

// narrowForm returns the form of 16 bits of a float32 tensor. Others have one form.
func (l *lowering) narrowForm(name string) string {
	if low := l.narrow[name]; low != "" {
		return low
	}
	w := l.wide[name]
	if w == "" {
		return name
	}
	l.narrow[name] = l.b.Node("Cast", []string{w}, Int("to", int64(l.to)))
	return l.narrow[name]
}
