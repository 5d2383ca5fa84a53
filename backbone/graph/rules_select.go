package graph

import "slices"

// inferSlice takes a range with a step along each listed axis: attributes before operator set 10, inputs since.
func inferSlice(c *call) {
	x := c.inputFact(0)
	starts, ok1 := c.listArg(1, "starts")
	ends, ok2 := c.listArg(2, "ends")
	axes, ok3 := c.listArg(3, "axes")
	steps, ok4 := c.listArg(4, "")
	if x.shape == nil {
		return
	}
	if axes == nil {
		for i := range starts {
			axes = append(axes, int64(i))
		}
	}
	if !ok1 || !ok2 || !ok3 || !ok4 || len(starts) != len(ends) || len(starts) != len(axes) ||
		(steps != nil && len(steps) != len(axes)) {
		c.setOutput(0, x.typ, unknownShape(len(x.shape)))
		return
	}
	out := slices.Clone(x.shape)
	ints := x.ints
	for i, a := range axes {
		at, ok := normaliseAxis(a, len(out))
		if !ok {
			return
		}
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		picked, ok := sliceTaken(out[at], starts[i], ends[i], step)
		if !ok {
			if whole := starts[i] == 0 && ends[i] >= 1<<31-1 && step == 1; !whole {
				out[at], ints = Free(""), nil
			}
			continue
		}
		ints = pickInts(ints, out, at, picked.takenPlaces())
		out[at] = Fixed(picked.count)
	}
	c.setOutput(0, x.typ, out)
	c.setInts(ints)
}

// pickInts returns the elements at the given places of an axis of a tensor of known shape, row by row.
func pickInts(list []number, shape Shape, axis int, places []int64) []number {
	sizes, ok := fixedSizes(shape)
	if list == nil || !ok || !(fact{shape: shape, ints: list}).isComplete() {
		return nil
	}
	out := []number{}
	row := product64(sizes[axis+1:])
	for outer := range product64(sizes[:axis]) {
		for _, p := range places {
			if p < 0 {
				p += sizes[axis]
			}
			if p < 0 || p >= sizes[axis] || len(out) > followed {
				return nil
			}
			from := (outer*sizes[axis] + p) * row
			out = append(out, list[from:from+row]...)
		}
	}
	return out
}

// progression is a list of count places: start, start+step, start+2·step and so on.
type progression struct{ start, step, count int64 }

// sliceTaken returns the places that a slice takes from an axis of known size. Ends beyond the axis are clipped.
func sliceTaken(d Dim, start, end, step int64) (progression, bool) {
	if !d.Known() || step == 0 {
		return progression{}, false
	}
	n := d.Size
	clamp := func(v, low, high int64) int64 {
		if v < 0 {
			v += n
		}
		return min(max(v, low), high)
	}
	if step > 0 {
		start, end = clamp(start, 0, n), clamp(end, 0, n)
		return progression{start, step, max(0, (end-start-1)/step+1) * positiveSign(end-start)}, true
	}
	start, end = clamp(start, 0, n-1), clamp(end, -1, n-1)
	if step < -n {
		step = -max(n, 1) // one element is taken either way; the limit prevents an overflow of the division
	}
	return progression{start, step, max(0, (start-end-1)/-step+1) * positiveSign(start-end)}, true
}

// positiveSign returns 1 for a positive number and 0 otherwise.
func positiveSign(v int64) int64 {
	if v > 0 {
		return 1
	}
	return 0
}

func (p progression) takenPlaces() []int64 {
	out := make([]int64, min(p.count, followed))
	for i := range out {
		out[i] = p.start + int64(i)*p.step
	}
	return out
}

// inferGather replaces the axis by the axes of the indices.
func inferGather(c *call) {
	x, at := c.inputFact(0), c.inputFact(1)
	a, ok := normaliseAxis(c.Int("axis", 0), len(x.shape))
	if !ok || at.shape == nil {
		return
	}
	// The shape of a scalar is empty, not nil.
	c.setOutput(0, x.typ, append(append(append(Shape{}, x.shape[:a]...), at.shape...), x.shape[a+1:]...))
	if places, ok := knownValues(at.ints); ok {
		c.setInts(pickInts(x.ints, x.shape, a, places))
	}
}

// shapeValue returns the sizes of the input as integers, from axis start to end (since operator set 15).
func shapeValue(c *call) {
	x := c.inputFact(0)
	if x.shape == nil {
		c.setOutput(0, Int64, unknownShape(1))
		return
	}
	p, _ := sliceTaken(Fixed(int64(len(x.shape))), c.Int("start", 0), c.Int("end", int64(len(x.shape))), 1)
	all := make([]number, len(x.shape))
	for i, d := range x.shape {
		all[i] = numberOf(d)
	}
	c.setOutput(0, Int64, ShapeOf(p.count))
	c.setInts(pickInts(all, ShapeOf(int64(len(all))), 0, p.takenPlaces()))
}

// sizeValue returns the number of elements.
func sizeValue(c *call) {
	c.setOutput(0, Int64, Shape{})
	if n, free, ok := shapeProduct(c.inputFact(0).shape); ok && c.inputFact(0).shape != nil && len(free) == 0 {
		c.setInts([]number{knownNumber(n)})
	}
}

// inferConstant takes the value from the node's attribute.
func inferConstant(c *call) {
	if len(c.Attributes) != 1 || len(c.out) == 0 {
		return
	}
	switch a := c.Attributes[0]; a.Name {
	case "value":
		if a.Tensor != nil {
			c.out[0] = factOf(a.Tensor)
		}
	case "value_int":
		c.setOutput(0, Int64, Shape{})
		c.setInts([]number{knownNumber(a.Int)})
	case "value_ints":
		c.setOutput(0, Int64, ShapeOf(int64(len(a.Ints))))
		c.setInts(wholeNumbers(a.Ints))
	case "value_float":
		c.setOutput(0, Float32, Shape{})
	case "value_floats":
		c.setOutput(0, Float32, ShapeOf(int64(len(a.Floats))))
	}
}

// constantOfShape: the input lists the sizes. Every element is the attribute value, by default a float32 zero.
func constantOfShape(c *call) {
	value := fact{typ: Float32}
	if a := c.Attribute("value"); a != nil && a.Tensor != nil {
		value = factOf(a.Tensor)
	}
	sizes := c.inputFact(0).ints
	if sizes == nil {
		c.setOutput(0, value.typ, nil)
		return
	}
	out := toShape(sizes)
	c.setOutput(0, value.typ, out)
	if n, free, ok := shapeProduct(out); len(value.ints) == 1 && ok && len(free) == 0 && n <= followed {
		c.setInts(slices.Repeat(value.ints, int(n)))
	}
}
