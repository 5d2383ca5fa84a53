package graph

import "slices"

// FreeBatch returns a model whose image input takes any number of images instead of a fixed one, as far as that number
// can be followed. It is written not only into the input, but also into the targets of Reshape and Expand, the sizes
// of Resize, the ends of Slice, and constants that are joined to every image:
//
//	Reshape [1,512]           → [-1,512]: the elements keep their order, and so do the images among them
//	Expand [1,1,768]          → the size 1, which keeps the input's
//	Resize, sizes [1,C,H,W]   → [N,C,H,W] with N from the image input
//	Concat of [1,1,768]       → expanded to [N,1,768] where the other inputs have N images
//	Slice 0:1 of the images   → all of them
//
// Shapes that the file states for other tensors are removed, as in [Sized]. Nodes that pick or mix images cannot be
// freed: then the first size of the model's outputs differs from that of its input. The caller must check this, and
// that the model still computes the same numbers: the rules know names and sizes, not what they are for.
func FreeBatch(m *Model, input string) *Model {
	c := restateInput(m, input, func(s Shape) { s[0] = Free(images) })
	in := findValueInfo(m.Graph.Inputs, input)
	if in == nil || len(in.Shape) != 4 || !in.Shape[0].Known() || in.Shape[0].Size < 1 {
		return c
	}
	b := Extend(c)
	nodes := b.m.Graph.Nodes
	b.m.Graph.Nodes = nil
	for _, out := range b.m.Graph.Outputs {
		out.Shape = nil // restated has made these values its own
	}
	f := freeing{Builder: b, input: input, batch: in.Shape[0].Size, was: inferModel(m), outer: map[string]int64{}}
	f.now = beginInference(b.m)
	for _, n := range nodes {
		f.addReplaced(f.freeNode(n), n)
	}
	facts := Infer(b.m)
	for i, out := range b.m.Graph.Outputs {
		if found := facts[out.Name]; found != nil {
			b.m.Graph.Outputs[i] = found
		}
	}
	return b.Model()
}

// freeing is a model that is freed node by node.
type freeing struct {
	*Builder
	input string
	batch int64           // the old number of images
	was   map[string]fact // with that number
	now   *inference      // with any number, up to the last node
	count string          // tensor [1] with the number of images; "" until one is needed

	// outer has the tensors with an axis of o·N·i places that images share, o > 1 of them before the images.
	outer map[string]int64
}

// addReplaced adds a node that replaces old.
func (f *freeing) addReplaced(n, old *Node) {
	f.Add(n)
	f.now.followNode(n)
	for _, out := range n.Outputs {
		fact, was := f.now.facts[out], f.was[out]
		if fact.shape == nil && len(was.shape) > 0 && was.shape[0].Known() && was.shape[0].Size%f.batch == 0 &&
			slices.ContainsFunc(old.Inputs, func(in string) bool { _, _, ok := f.imageAxis(in); return ok }) {
			// An operator without a rule, whose shape the file states.
			fact.typ, fact.shape = was.typ, slices.Clone(was.shape)
			fact.shape[0] = scaleDim(images, was.shape[0].Size/f.batch)
			f.now.facts[out] = fact
		}
		if _, k, ok := f.imageAxis(out); ok && k > 1 && f.outer[out] == 0 {
			for _, in := range n.Inputs {
				if _, same, ok := f.imageAxis(in); ok && same == k && f.outer[in] > 1 {
					f.outer[out] = f.outer[in]
				}
			}
		}
	}
}

// imageAxis returns the axis of a tensor that has the images, and the number of its places for each image.
func (f *freeing) imageAxis(tensor string) (axis int, each int64, ok bool) {
	for i, d := range f.now.facts[tensor].shape {
		if k, base := splitMultiple(d.Name); !d.Known() && base == images {
			return i, k, true
		}
	}
	return 0, 0, false
}

// freeNode returns the node for any number of images.
func (f *freeing) freeNode(n *Node) *Node {
	switch {
	case n.hasOp("Reshape"):
		return f.freeReshape(n)
	case n.hasOp("Expand"):
		return f.freeExpand(n)
	case n.hasOp("Concat"):
		return f.freeConcat(n)
	case n.hasOp("Slice"):
		return f.freeSlice(n)
	case n.hasOp("Resize"):
		return f.freeResize(n)
	}
	return n
}

// withInput returns the node with another input.
func (n *Node) withInput(i int, input string) *Node {
	c := *n
	c.Inputs = slices.Clone(n.Inputs)
	c.Inputs[i] = input
	return &c
}

// addIntList adds a constant list of integers.
func (f *freeing) addIntList(name string, v []int64) string {
	t := NewTensor(name, v, int64(len(v)))
	name = f.Constant(t)
	f.now.facts[name] = factOf(t)
	return name
}

// knownList returns the values of a list that do not depend on the number of images.
func (f *freeing) knownList(tensor string) ([]int64, bool) {
	return knownValues(f.now.facts[tensor].ints)
}

// reshape: elements keep their order, so the images stay between the same numbers of elements.
func (f *freeing) freeReshape(n *Node) *Node {
	x := f.now.facts[n.Input(0)].shape
	axis, each, ok := f.imageAxis(n.Input(0))
	to, whole := fixedSizes(f.was[n.Outputs[0]].shape)
	attribute := n.Attribute("shape")
	_, fixed := f.knownList(n.Input(1))
	if !ok || !whole || !fixed && attribute == nil {
		return n
	}
	before, whole := fixedSizes(x[:axis])
	outer := max(f.outer[n.Input(0)], 1)
	if !whole || each%outer != 0 {
		return n
	}
	at, o, ok := f.findImageAxis(to, product64(before)*outer)
	if !ok {
		return n
	}
	target := slices.Clone(to)
	target[at] = -1
	f.outer[n.Outputs[0]] = o
	if attribute != nil {
		c := *n
		c.Attributes = append(filterList(n.Attributes, func(a *Attribute) bool { return a != attribute }),
			Ints("shape", target...))
		return &c
	}
	return n.withInput(1, f.addIntList("shape_of_images", target))
}

// findImageAxis finds the axis of a shape that has the images, if there are before elements before them, and how many
// of the axis's places are before them. The images may share it: it is best if they do not, then if they are its first
// part and it is not the last axis, which holds the numbers that weights multiply.
func (f *freeing) findImageAxis(shape []int64, before int64) (axis int, outer int64, ok bool) {
	best := 0
	prefix := int64(1)
	for i, d := range shape {
		if prefix > 0 && before%prefix == 0 && before/prefix*f.batch > 0 {
			o := before / prefix
			rank := 0
			switch last := i == len(shape)-1; {
			case d%(o*f.batch) != 0 || d == 0:
			case o == 1 && d == f.batch:
				rank = 4
			case o == 1 && !last:
				rank = 3
			case !last:
				rank = 2
			default:
				rank = 1
			}
			if rank > best {
				best, axis, outer, ok = rank, i, o, true
			}
		}
		prefix *= d
	}
	return axis, outer, ok
}

// expand: a target of 1 keeps the input's size.
func (f *freeing) freeExpand(n *Node) *Node {
	axis, _, ok := f.imageAxis(n.Input(0))
	target, fixed := f.knownList(n.Input(1))
	if !ok || !fixed {
		return n
	}
	at := axis + len(target) - len(f.now.facts[n.Input(0)].shape)
	if at < 0 || at >= len(target) || target[at] == 1 {
		return n
	}
	target = slices.Clone(target)
	target[at] = 1
	return n.withInput(1, f.addIntList("sizes_of_images", target))
}

// concat: what does not depend on the images is repeated for each.
func (f *freeing) freeConcat(n *Node) *Node {
	axis, each := -1, int64(0)
	for _, in := range n.Inputs {
		if i, k, ok := f.imageAxis(in); ok {
			axis, each = i, k
		}
	}
	rank := len(f.was[n.Outputs[0]].shape)
	if along := n.Int("axis", 1); axis < 0 || each != 1 || along == int64(axis) || along+int64(rank) == int64(axis) {
		return n
	}
	c := n
	for i, in := range n.Inputs {
		shape, whole := fixedSizes(f.now.facts[in].shape)
		if !whole || axis >= len(shape) || shape[axis] != f.batch || f.batch > 1 {
			continue
		}
		parts := []string{f.imageCount()}
		if axis > 0 {
			parts = append([]string{f.addIntList("sizes_before", shape[:axis])}, parts...)
		}
		if axis+1 < len(shape) {
			parts = append(parts, f.addIntList("sizes_after", shape[axis+1:]))
		}
		all := f.addFreeNode("Concat", parts, Int("axis", 0))
		c = c.withInput(i, f.addFreeNode("Expand", []string{in, all}))
	}
	return c
}

// slice: a range over all images stays one.
func (f *freeing) freeSlice(n *Node) *Node {
	axis, _, ok := f.imageAxis(n.Input(0))
	starts, ok1 := f.knownList(n.Input(1))
	ends, ok2 := f.knownList(n.Input(2))
	if !ok || !ok1 || !ok2 || len(starts) != len(ends) {
		return n
	}
	axes, ok3 := f.knownList(n.Input(3))
	if n.Input(3) == "" {
		axes, ok3 = nil, true
		for i := range starts {
			axes = append(axes, int64(i))
		}
	}
	if steps, known := f.knownList(n.Input(4)); !ok3 || len(axes) != len(ends) || n.Input(4) != "" &&
		(!known || slices.ContainsFunc(steps, func(s int64) bool { return s != 1 })) {
		return n
	}
	changed := slices.Clone(ends)
	rank := int64(len(f.now.facts[n.Input(0)].shape))
	for i, a := range axes {
		if (a == int64(axis) || a+rank == int64(axis)) && starts[i] == 0 && ends[i] >= f.batch {
			changed[i] = 1<<63 - 1
		}
	}
	if slices.Equal(changed, ends) {
		return n
	}
	return n.withInput(2, f.addIntList("ends", changed))
}

// resize: its sizes are those of the output, the images included.
func (f *freeing) freeResize(n *Node) *Node {
	axis, each, ok := f.imageAxis(n.Input(0))
	to, fixed := f.knownList(n.Input(3))
	if !ok || !fixed || axis != 0 || each != 1 || len(to) < 2 || to[0] != f.batch {
		return n
	}
	return n.withInput(
		3,
		f.addFreeNode("Concat", []string{f.imageCount(), f.addIntList("sizes_after", to[1:])}, Int("axis", 0)),
	)
}

// imageCount returns the tensor with the number of images.
func (f *freeing) imageCount() string {
	if f.count == "" {
		all := f.addFreeNode("Shape", []string{f.input})
		f.count = f.addFreeNode("Gather", []string{all, f.addIntList("first", []int64{0})})
	}
	return f.count
}

// addFreeNode adds a node that the old graph does not have.
func (f *freeing) addFreeNode(op string, inputs []string, attributes ...*Attribute) string {
	out := f.Node(op, inputs, attributes...)
	f.now.followNode(f.m.Graph.Nodes[len(f.m.Graph.Nodes)-1])
	return out
}

// fixedSizes returns the sizes of a shape that is known completely.
func fixedSizes(s Shape) ([]int64, bool) {
	out := make([]int64, len(s))
	for i, d := range s {
		if !d.Known() {
			return nil, false
		}
		out[i] = d.Size
	}
	return out, s != nil
}

func product64(list []int64) int64 {
	p := int64(1)
	for _, v := range list {
		p *= max(v, 1)
	}
	return p
}
