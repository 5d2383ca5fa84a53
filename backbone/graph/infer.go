package graph

import (
	"cmp"
	"math"
	"slices"
)

// Infer finds types and shapes of the tensors of a model without running it, from the inputs, the initializers
// and what the file states. A tensor about which nothing is known is not in the map; an operator without a rule
// leaves its outputs unknown. Free sizes keep their names, so a batch "N" is still "N" at the output. Values of
// small integer tensors are tracked, because exporters compute shapes with them.
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

// fact is what is known about a tensor.
type fact struct {
	typ   DataType
	shape Shape
	ints  []number // the elements of a small tensor of integers, row by row; nil if unknown

	floats []float32 // the elements of a small float32 constant of rank 0 or 1; nil if unknown
}

// number is an integer in a tensor whose values are tracked: known, or a free size with its name.
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

// toDim returns the size that the number represents.
func (n number) toDim() Dim {
	if n.known {
		return checkedSize(n.value)
	}
	return Free(n.name)
}

// toShape returns the shape that the numbers represent.
func toShape(list []number) Shape {
	s := make(Shape, len(list))
	for i, n := range list {
		s[i] = n.toDim()
	}
	return s
}

// maxRank limits the number of tracked axes; a malicious file could double it with every node.
const maxRank = 16

// boundRank returns the shape, or an unknown one if it has too many axes.
func (s Shape) boundRank() Shape {
	if len(s) > maxRank {
		return nil
	}
	return s
}

// followed limits the number of elements in tensors whose values are tracked, and allFollowed their total in a
// model: otherwise a node of ten bytes could hold a thousand.
const (
	followed    = 1024
	allFollowed = 1 << 20
)

// call is one node with what is known about its inputs; a rule sets what follows for its outputs.
type call struct {
	*Node
	opset int64
	in    []fact
	out   []fact
}

// inputFact returns what is known about the i-th input, or nothing if it is omitted.
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

// inference is what is known so far about the tensors of a model, from its first nodes.
type inference struct {
	facts  map[string]fact
	stated map[string]*ValueInfo
	opset  int64
	left   int // elements that may still be tracked
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

// followNode adds what follows for the outputs of the next node.
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

// factOf returns what is known about a constant: everything, except that values are tracked for few numbers only.
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

// isComplete reports whether the tracked elements are as many as the shape holds. Without a shape they are a list.
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

// withStated adds what the file states where inference found less. A free size with a name is kept even if the file
// states a number: if the batch of a file was freed by renaming its input's first size, the old 1 is still
// stated everywhere after it.
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

// checkedSize returns a size computed from known ones, or a free one if the computation failed.
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

// normaliseAxis converts an axis, which counts from the end if negative, to 0..rank-1.
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

// listArg returns a list that newer operator sets give as the i-th input and older ones as an attribute. ok is
// false if it is given but unknown; the list is nil with ok true if it is omitted.
func (c *call) listArg(i int, attribute string) (list []int64, ok bool) {
	if c.Input(i) != "" {
		return knownValues(c.inputFact(i).ints)
	}
	return c.Ints(attribute), true
}
