package graph

import "slices"

// slice: a range with a step along each listed axis; attributes before set 10, inputs since.
func slice(c *call) {
	x := c.arg(0)
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
		c.set(0, x.typ, unknown(len(x.shape)))
		return
	}
	out := slices.Clone(x.shape)
	ints := x.ints
	for i, a := range axes {
		at, ok := axis(a, len(out))
		if !ok {
			return
		}
		step := int64(1)
		if steps != nil {
			step = steps[i]
		}
		picked, ok := taken(out[at], starts[i], ends[i], step)
		if !ok {
			if whole := starts[i] == 0 && ends[i] >= 1<<31-1 && step == 1; !whole {
				out[at], ints = Free(""), nil
			}
			continue
		}
		ints = pickInts(ints, out, at, picked.places())
		out[at] = Fixed(picked.count)
	}
	c.set(0, x.typ, out)
	c.setInts(ints)
}

// pickInts returns the elements at some places of an axis of a tensor of known shape, row by row.
func pickInts(list []number, shape Shape, axis int, places []int64) []number {
	sizes, ok := fixedSizes(shape)
	if list == nil || !ok || !(fact{shape: shape, ints: list}).complete() {
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

// progression is the places start, start+step, …, count in number.
type progression struct{ start, step, count int64 }

// taken returns what a slice takes of an axis of known size, with ends beyond the axis clipped.
func taken(d Dim, start, end, step int64) (progression, bool) {
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
		return progression{start, step, max(0, (end-start-1)/step+1) * sign(end-start)}, true
	}
	start, end = clamp(start, 0, n-1), clamp(end, -1, n-1)
	if step < -n {
		step = -max(n, 1) // one element either way; this keeps the division from overflowing
	}
	return progression{start, step, max(0, (start-end-1)/-step+1) * sign(start-end)}, true
}

// sign returns 1 for a positive number and 0 otherwise.
func sign(v int64) int64 {
	if v > 0 {
		return 1
	}
	return 0
}

func (p progression) places() []int64 {
	out := make([]int64, min(p.count, followed))
	for i := range out {
		out[i] = p.start + int64(i)*p.step
	}
	return out
}

// gatherElements: one element for each index.
func gatherElements(c *call) { c.set(0, c.arg(0).typ, c.arg(1).shape) }

// drawn: numbers of a stated shape, by default float32.
func drawn(c *call) { c.set(0, DataType(c.Int("dtype", int64(Float32))), ShapeOf(c.Ints("shape")...)) }

// drawnLike: numbers of the input's shape, and of its type by default.
func drawnLike(c *call) { c.set(0, DataType(c.Int("dtype", int64(c.arg(0).typ))), c.arg(0).shape) }

// multinomial: for each row the places of its samples.
func multinomial(c *call) {
	if x := c.arg(0); len(x.shape) == 2 {
		c.set(0, DataType(c.Int("dtype", int64(Int32))), Shape{x.shape[0], sized(c.Int("sample_size", 1))})
	}
}

// gather replaces the axis by the shape of the indices.
func gather(c *call) {
	x, at := c.arg(0), c.arg(1)
	a, ok := axis(c.Int("axis", 0), len(x.shape))
	if !ok || at.shape == nil {
		return
	}
	// A scalar's shape is empty, not nil.
	c.set(0, x.typ, append(append(append(Shape{}, x.shape[:a]...), at.shape...), x.shape[a+1:]...))
	if places, ok := known(at.ints); ok {
		c.setInts(pickInts(x.ints, x.shape, a, places))
	}
}

// shapeValue: the sizes of the input as integers, from start to end (since set 15).
func shapeValue(c *call) {
	x := c.arg(0)
	if x.shape == nil {
		c.set(0, Int64, unknown(1))
		return
	}
	p, _ := taken(Fixed(int64(len(x.shape))), c.Int("start", 0), c.Int("end", int64(len(x.shape))), 1)
	all := make([]number, len(x.shape))
	for i, d := range x.shape {
		all[i] = numberOf(d)
	}
	c.set(0, Int64, ShapeOf(p.count))
	c.setInts(pickInts(all, ShapeOf(int64(len(all))), 0, p.places()))
}

// sizeValue: the number of elements.
func sizeValue(c *call) {
	c.set(0, Int64, Shape{})
	if n, free, ok := product(c.arg(0).shape); ok && c.arg(0).shape != nil && len(free) == 0 {
		c.setInts([]number{whole(n)})
	}
}

// constant: the value is an attribute.
func constant(c *call) {
	if len(c.Attributes) != 1 || len(c.out) == 0 {
		return
	}
	switch a := c.Attributes[0]; a.Name {
	case "value":
		if a.Tensor != nil {
			c.out[0] = factOf(a.Tensor)
		}
	case "value_int":
		c.set(0, Int64, Shape{})
		c.setInts([]number{whole(a.Int)})
	case "value_ints":
		c.set(0, Int64, ShapeOf(int64(len(a.Ints))))
		c.setInts(wholes(a.Ints))
	case "value_float":
		c.set(0, Float32, Shape{})
	case "value_floats":
		c.set(0, Float32, ShapeOf(int64(len(a.Floats))))
	}
}

// constantOfShape: the input lists the sizes; every element is value, by default a float32 zero.
func constantOfShape(c *call) {
	value := fact{typ: Float32}
	if a := c.Attribute("value"); a != nil && a.Tensor != nil {
		value = factOf(a.Tensor)
	}
	sizes := c.arg(0).ints
	if sizes == nil {
		c.set(0, value.typ, nil)
		return
	}
	out := dims(sizes)
	c.set(0, value.typ, out)
	if n, free, ok := product(out); len(value.ints) == 1 && ok && len(free) == 0 && n <= followed {
		c.setInts(slices.Repeat(value.ints, int(n)))
	}
}
