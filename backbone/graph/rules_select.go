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
		out[at] = Fixed(picked.count)
		ints = picked.of(ints)
	}
	c.set(0, x.typ, out)
	if len(out) == 1 {
		c.setInts(ints)
	}
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

func (p progression) of(list []number) []number {
	if list == nil {
		return nil
	}
	out := []number{}
	for i := range p.count {
		at := p.start + i*p.step
		if at < 0 || at >= int64(len(list)) {
			return nil
		}
		out = append(out, list[at])
	}
	return out
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
	places, ok := known(at.ints)
	if x.ints == nil || !ok {
		return
	}
	out := make([]number, len(places))
	for i, p := range places {
		j, ok := axis(p, len(x.ints))
		if !ok {
			return
		}
		out[i] = x.ints[j]
	}
	c.setInts(out)
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
	c.setInts(p.of(all))
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
	if len(value.ints) == 1 && len(out) == 1 && out[0].Known() && out[0].Size <= followed {
		c.setInts(slices.Repeat(value.ints, int(out[0].Size)))
	}
}
