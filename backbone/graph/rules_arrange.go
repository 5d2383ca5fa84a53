package graph

import "slices"

// inferFlatten returns two sizes: the product of the sizes before the axis, and of those from the axis on.
func inferFlatten(c *call) {
	x := c.inputFact(0)
	at := c.Int("axis", 1)
	if at < 0 {
		at += int64(len(x.shape))
	}
	if x.shape == nil || at < 0 || at > int64(len(x.shape)) {
		return
	}
	out := Shape{Fixed(1), Fixed(1)}
	for i, d := range x.shape {
		half := 0
		if int64(i) >= at {
			half = 1
		}
		out[half] = multiplyDims(out[half], d)
	}
	c.setOutput(0, x.typ, out)
}

// inferTranspose reorders the axes. perm lists the old axis of each new axis; if it is omitted, the order is reversed.
func inferTranspose(c *call) {
	x := c.inputFact(0)
	if x.shape == nil {
		return
	}
	out, order := make(Shape, len(x.shape)), make([]int, len(x.shape))
	perm := c.Ints("perm")
	if perm != nil && len(perm) != len(out) {
		return
	}
	for i := range out {
		from := len(out) - 1 - i
		if perm != nil {
			if perm[i] < 0 || perm[i] >= int64(len(out)) {
				return
			}
			from = int(perm[i])
		}
		out[i], order[i] = x.shape[from], from
	}
	c.setOutput(0, x.typ, out)
	if sizes, ok := fixedSizes(x.shape); ok && x.ints != nil && x.isComplete() {
		c.setInts(transposeInts(x.ints, sizes, order))
	}
}

// transposeInts reorders the elements of a tensor of these sizes, row by row, so that new axis i is old axis order[i].
func transposeInts(list []number, sizes []int64, order []int) []number {
	out := make([]number, 0, len(list))
	var visit func(depth int, at int64)
	visit = func(depth int, at int64) {
		if depth == len(order) {
			out = append(out, list[at])
			return
		}
		axis := order[depth]
		for i := range sizes[axis] {
			visit(depth+1, at+i*product64(sizes[axis+1:]))
		}
	}
	visit(0, 0)
	return out
}

// inferSqueeze removes the given axes (an attribute before operator set 13), or all axes of size 1.
func inferSqueeze(c *call) {
	x := c.inputFact(0)
	axes, ok := c.listArg(1, "axes")
	if !ok || x.shape == nil {
		return
	}
	if axes == nil {
		if slices.ContainsFunc(x.shape, func(d Dim) bool { return !d.Known() && d.Name == "" }) {
			return // unknown: the size may be 1. A named size is a batch and is not 1.
		}
		for i, d := range x.shape {
			if d == Fixed(1) {
				axes = append(axes, int64(i))
			}
		}
	}
	out := x.shape
	if len(axes) > 0 {
		out = reduceShape(x.shape, axes, false)
	}
	c.setOutput(0, x.typ, out)
	c.setInts(x.ints)
}

// inferUnsqueeze inserts sizes of 1 at the given axes of the new shape (an attribute before operator set 13).
func inferUnsqueeze(c *call) {
	x := c.inputFact(0)
	axes, ok := c.listArg(1, "axes")
	if !ok || x.shape == nil {
		return
	}
	out := make(Shape, len(x.shape)+len(axes))
	fresh := make([]bool, len(out))
	for _, a := range axes {
		at, ok := normaliseAxis(a, len(out))
		if !ok || fresh[at] {
			return
		}
		fresh[at] = true
	}
	old := 0
	for i := range out {
		if fresh[i] {
			out[i] = Fixed(1)
			continue
		}
		out[i] = x.shape[old]
		old++
	}
	c.setOutput(0, x.typ, out)
	c.setInts(x.ints)
}

// inferExpand broadcasts to a shape that is given by an input's values.
func inferExpand(c *call) {
	target := c.inputFact(1).ints
	if target == nil {
		return
	}
	c.setOutput(0, c.inputFact(0).typ, broadcastShapes(c.inputFact(0).shape, toShape(target)))
}

// inferTile multiplies every size by its number of repetitions.
func inferTile(c *call) {
	x := c.inputFact(0)
	repeats := c.inputFact(1).ints
	if x.shape == nil || len(repeats) != len(x.shape) {
		c.setOutput(0, x.typ, nil)
		return
	}
	out := toShape(repeats)
	for i, d := range out {
		out[i] = multiplyDims(x.shape[i], d)
	}
	c.setOutput(0, x.typ, out)
}

// inferConcat adds the sizes along the axis. The other sizes are equal; any input where they are known provides them.
func inferConcat(c *call) {
	if len(c.in) == 0 {
		return
	}
	out := slices.Clone(c.in[0].shape)
	if len(out) <= 1 || c.Int("axis", 1) == 0 {
		c.setInts(concatInts(c.in))
	}
	at, ok := normaliseAxis(c.Int("axis", 1), len(out))
	if !ok {
		return
	}
	for _, x := range c.in[1:] {
		if len(x.shape) != len(out) {
			return
		}
		for i, d := range x.shape {
			switch {
			case i != at && !out[i].Known():
				out[i] = d
			case i == at && out[i].Known() && d.Known():
				out[i] = checkedSize(out[i].Size + d.Size)
			case i == at:
				out[i] = Free("")
			}
		}
	}
	c.setOutput(0, c.in[0].typ, out)
}

func concatInts(in []fact) []number {
	var all []number
	for _, x := range in {
		if x.ints == nil || len(all) > followed {
			return nil
		}
		all = append(all, x.ints...)
	}
	return all
}

// inferSplit divides the axis into parts of the given sizes (an attribute before operator set 13) or of equal sizes.
func inferSplit(c *call) {
	x := c.inputFact(0)
	at, ok := normaliseAxis(c.Int("axis", 0), len(x.shape))
	parts, given := c.listArg(1, "split")
	if !ok || !given || len(c.out) == 0 {
		return
	}
	each := Free("")
	if total := x.shape[at]; total.Known() {
		count := int64(len(c.out))
		each = Fixed((total.Size + count - 1) / count) // the last part may be smaller
	}
	for i := range c.out {
		out := slices.Clone(x.shape)
		switch {
		case i < len(parts):
			out[at] = checkedSize(parts[i])
		case parts != nil:
			out[at] = Free("")
		case each.Known() && i == len(c.out)-1:
			out[at] = checkedSize(x.shape[at].Size - each.Size*int64(i))
		default:
			out[at] = each
		}
		c.setOutput(i, x.typ, out)
	}
}

// inferPad adds the padding before and after (an attribute before operator set 11) to the sizes of all axes, or of the
// listed axes (from set 18 on).
func inferPad(c *call) {
	x := c.inputFact(0)
	pads, ok := c.listArg(1, "pads")
	if x.shape == nil {
		return
	}
	out := slices.Clone(x.shape)
	axes := make([]int64, len(out))
	for i := range axes {
		axes[i] = int64(i)
	}
	if c.Input(3) != "" {
		var named bool
		axes, named = knownValues(c.inputFact(3).ints)
		ok = ok && named
	}
	if !ok || len(pads) != 2*len(axes) {
		c.setOutput(0, x.typ, unknownShape(len(out)))
		return
	}
	for i, a := range axes {
		at, ok := normaliseAxis(a, len(out))
		if !ok {
			return
		}
		switch grow := pads[i] + pads[len(axes)+i]; {
		case out[at].Known():
			out[at] = checkedSize(out[at].Size + grow)
		case grow != 0:
			out[at] = Free("")
		}
	}
	c.setOutput(0, x.typ, out)
}
