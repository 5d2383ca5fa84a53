package graph

import (
	"fmt"
	"slices"
)

// wide are operators that compute with float32 numbers only, whatever the precision.
var wide = []string{"QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "NonMaxSuppression", "Upsample"}

// wideInputs are the inputs that stay float32 when the rest of an operator becomes smaller.
var wideInputs = map[string][]int{"Resize": {1, 2}}

// Lower returns a model that computes in float16 between inputs and outputs of float32. Initializers stay float32 in
// the model; the runtime converts them once, when it loads it. Operators that compute with float32 alone stay so.
// Numbers beyond float16's largest, 65,504, become ±∞.
func Lower(m *Model) (*Model, error) {
	l := &lowering{b: Extend(m), facts: inferModel(m), wide: map[string]string{}, narrow: map[string]string{},
		outputs: map[string]string{}}
	if err := l.lowerModel(); err != nil {
		return nil, fmt.Errorf("graph: float16: %w", err)
	}
	return l.b.Model(), nil
}

// lowering is one call of Lower. A float32 tensor of the model has a wide form, a narrow one, or both: the second is
// made when the first node asks for it.
type lowering struct {
	b       *Builder
	facts   map[string]fact
	wide    map[string]string // float32 forms by the tensor's name
	narrow  map[string]string // forms of 16 bits
	outputs map[string]string // narrow names of the model's outputs
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
		l.outputs[out.Name] = l.b.Fresh(out.Name + "." + "float16")
	}
	for _, n := range nodes {
		if len(n.Subgraphs()) > 0 {
			return fmt.Errorf("node %q is a %s, expected no nodes that hold graphs", n.Name, n.Op)
		}
		if l.staysWide(n) {
			l.addWide(n)
		} else {
			l.addNarrow(n)
		}
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
	}
	return n.hasOp(wide...)
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
		c.Attributes = []*Attribute{Int("to", int64(Float16))}
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
	l.narrow[name] = l.b.Node("Cast", []string{w}, Int("to", int64(Float16)))
	return l.narrow[name]
}
