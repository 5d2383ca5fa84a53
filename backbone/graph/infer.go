package graph

import (
	"cmp"
	"math"
	"slices"
)

// Infer determines types and shapes of a model's tensors without running the model, from the inputs, the initializers
// and the types and shapes that the file declares. A tensor whose type and shape are unknown is not in the map;
// outputs of an operator without a rule are unknown. Free sizes keep their names, so a batch "N" is still "N" at the
// output. Infer also tracks the values of small integer tensors, because exporters compute shapes with them.
func Infer(m *Model) map[string]*ValueInfo {
	facts := inferModel(m)
	out := make(map[string]*ValueInfo, len(facts))
	for name, f := range facts {
		if f.typ != 0 || f.shape != nil {
			out[name] = &ValueInfo{Name: name, Type: f.typ, Shape: slices.Clone(f.shape)}
		}
	}
	return out
}

// fact holds the known properties of a tensor.
type fact struct {
	typ   DataType
	shape Shape
	ints  []number // elements of a small integer tensor, row by row; nil if unknown

	floats []float32 // elements of a small float32 constant of rank 0 or 1; nil if unknown
}

// number is a tracked integer: a known value, or a free size with its name.
type number struct {
	known bool
	value int64
	name  string
}

func knownNumber(v int64) number { return number{known: true, value: v} }

func numberOf(d Dim) number {
	if d.Known() {
		return knownNumber(d.Size)
	}
	return number{name: d.Name}
}

// toDim returns the number as a size.
func (n number) toDim() Dim {
	if n.known {
		return checkedSize(n.value)
	}
	return Free(n.name)
}

// toShape returns the numbers as a shape.
func toShape(list []number) Shape {
	s := make(Shape, len(list))
	for i, n := range list {
		s[i] = n.toDim()
	}
	return s
}

// maxRank limits the rank of tracked shapes, because a malicious file could double the rank with every node.
const maxRank = 16

// boundRank returns the shape, or an unknown shape if the rank exceeds maxRank.
func (s Shape) boundRank() Shape {
	if len(s) > maxRank {
		return nil
	}
	return s
}

// followed limits the number of elements in a tensor whose values are tracked, and allFollowed the total in a model.
// Without limits, a node of ten bytes could make a thousand elements.
const (
	followed    = 1024
	allFollowed = 1 << 20
)

// call is one node with the facts about its inputs; a rule sets the facts about its outputs.
type call struct {
	*Node
	opset int64
	in    []fact
	out   []fact
}

// inputFact returns the fact about the i-th input, or an empty fact if the input is omitted.
func (c *call) inputFact(i int) fact {
	if i < len(c.in) {
		return c.in[i]
	}
	return fact{}
}

// setOutput sets the type and shape of the i-th output.
func (c *call) setOutput(i int, t DataType, s Shape) {
	if i < len(c.out) {
		c.out[i].typ, c.out[i].shape = t, s.boundRank()
	}
}

// setInts sets the elements of the first output.
func (c *call) setInts(v []number) {
	if len(c.out) > 0 && v != nil && len(v) <= followed {
		c.out[0].ints = v
	}
}

func inferModel(m *Model) map[string]fact {
	i := beginInference(m)
	for _, n := range m.Graph.Nodes {
		i.followNode(n)
	}
	return i.facts
}

// inference holds the facts about a model's tensors up to the current node.
type inference struct {
	facts  map[string]fact
	stated map[string]*ValueInfo
	opset  int64
	left   int // number of elements that may still be tracked
}

func beginInference(m *Model) *inference {
	g := m.Graph
	facts := make(map[string]fact, len(g.Nodes)+len(g.Initializers))
	for _, v := range g.Inputs {
		facts[v.Name] = fact{typ: v.Type, shape: v.Shape.boundRank()}
	}
	for _, t := range g.Initializers {
		facts[t.Name] = factOf(t)
	}
	stated := map[string]*ValueInfo{}
	for _, v := range slices.Concat(g.ValueInfo, g.Outputs) {
		if stated[v.Name] == nil || v.Shape != nil {
			stated[v.Name] = v
		}
	}
	return &inference{facts: facts, stated: stated, opset: m.Opset(), left: allFollowed}
}

// followNode adds the facts about the next node's outputs.
func (f *inference) followNode(n *Node) {
	c := call{Node: n, opset: f.opset, in: make([]fact, len(n.Inputs)), out: make([]fact, len(n.Outputs))}
	for i, name := range n.Inputs {
		c.in[i] = f.facts[name]
	}
	if rule := rules[n.ruleKey()]; rule != nil {
		rule(&c)
	}
	for i, name := range n.Outputs {
		if f.left -= len(c.out[i].ints); f.left < 0 || !c.out[i].isComplete() {
			c.out[i].ints = nil
		}
		if name != "" {
			f.facts[name] = c.out[i].withStated(f.stated[name])
		}
	}
}

// factOf returns the fact about a constant. It is complete, except that values are tracked for few elements only.
func factOf(t *Tensor) fact {
	f := fact{typ: t.Type, shape: ShapeOf(t.Dims...).boundRank()}
	n, err := t.Size()
	switch {
	case err != nil || n > followed || f.shape == nil:
		return f
	case t.Type == Float32 && n <= maxRank && len(t.Dims) <= 1:
		if list, err := t.Float32s(); err == nil {
			f.floats = list
		}
		return f
	case t.Type != Int64 && t.Type != Int32:
		return f
	}
	if list, err := t.Int64s(); err == nil {
		f.ints = wholeNumbers(list)
	}
	return f
}

// isComplete reports whether as many elements are tracked as the shape holds. Elements without a shape are a list.
func (f fact) isComplete() bool {
	n, free, ok := shapeProduct(f.shape)
	return f.shape == nil || ok && len(free) == 0 && n == int64(len(f.ints))
}

func wholeNumbers(list []int64) []number {
	out := make([]number, len(list))
	for i, v := range list {
		out[i] = knownNumber(v)
	}
	return out
}

// withStated adds the type and sizes that the file declares where inference found less. A named free size takes
// precedence over a declared number: if the batch size of a file was freed by renaming its input's first size, the old
// number 1 is still declared for all later tensors.
func (f fact) withStated(v *ValueInfo) fact {
	if v == nil {
		return f
	}
	f.typ = cmp.Or(f.typ, v.Type)
	if f.shape == nil {
		f.shape = v.Shape.boundRank()
		return f
	}
	if len(v.Shape) != len(f.shape) {
		return f
	}
	f.shape = slices.Clone(f.shape)
	for i, d := range v.Shape {
		if !f.shape[i].Known() && f.shape[i].Name == "" {
			f.shape[i] = d
		}
	}
	return f
}

// checkedSize returns a computed size, or a free size if the computation overflowed or is negative.
func checkedSize(n int64) Dim {
	if n < 0 || n > math.MaxInt32*int64(math.MaxInt32) {
		return Free("")
	}
	return Fixed(n)
}

// multiplyDims returns the product of two sizes.
func multiplyDims(a, b Dim) Dim {
	switch {
	case a == Fixed(1):
		return b
	case b == Fixed(1):
		return a
	case a.Known() && b.Known() && (b.Size == 0 || a.Size <= math.MaxInt32*int64(math.MaxInt32)/b.Size):
		return Fixed(a.Size * b.Size)
	case a.Known() && !b.Known():
		return scaleDim(b.Name, a.Size)
	case b.Known() && !a.Known():
		return scaleDim(a.Name, b.Size)
	}
	return Free("")
}

// normaliseAxis converts an axis to 0..rank-1; a negative axis is relative to the end.
func normaliseAxis(a int64, rank int) (int, bool) {
	if a < 0 {
		a += int64(rank)
	}
	return int(a), a >= 0 && a < int64(rank)
}

// knownValues returns the values of a list of integers, if all are known.
func knownValues(list []number) ([]int64, bool) {
	if list == nil {
		return nil, false
	}
	out := make([]int64, len(list))
	for i, n := range list {
		if !n.known {
			return nil, false
		}
		out[i] = n.value
	}
	return out, true
}

// listArg returns a list that is the i-th input in newer operator sets and an attribute in older ones. ok is false if
// the list is given but unknown. If the list is omitted, it is nil and ok is true.
func (c *call) listArg(i int, attribute string) (list []int64, ok bool) {
	if c.Input(i) != "" {
		return knownValues(c.inputFact(i).ints)
	}
	return c.Ints(attribute), true
}
