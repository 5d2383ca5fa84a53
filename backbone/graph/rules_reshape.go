package graph

import "slices"

// inferReshape: the second input (an attribute before operator set 5) lists the new sizes. 0 keeps the old size at its
// position unless allowzero is set; -1 is the size that preserves the number of elements.
func inferReshape(c *call) {
	x := c.inputFact(0)
	target := c.inputFact(1).ints
	if c.Input(1) == "" {
		target = append(target, wholeNumbers(c.Ints("shape"))...)
	}
	if target == nil {
		if s := c.inputFact(1).shape; len(s) == 1 && s[0].Known() && s[0].Size <= followed {
			c.setOutput(0, x.typ, unknownShape(int(s[0].Size))) // at least the rank is known
		}
		return
	}
	out := make(Shape, len(target))
	left := -1
	for i, n := range target {
		switch {
		case n.known && n.value == 0 && c.Int("allowzero", 0) == 0:
			out[i] = Free("")
			if i < len(x.shape) {
				out[i] = x.shape[i]
			}
		case n.known && n.value < 0:
			left = i
			out[i] = Fixed(1)
		default:
			out[i] = n.toDim()
		}
	}
	if left >= 0 {
		out[left] = shapeQuotient(x.shape, out)
	}
	c.setOutput(0, x.typ, out)
	c.setInts(x.ints)
}

// unknownShape returns a shape of unnamed free sizes.
func unknownShape(rank int) Shape {
	return slices.Repeat(Shape{Free("")}, rank)
}

// shapeQuotient returns the factor that gives out as many elements as in. Free sizes of the same name cancel.
func shapeQuotient(in, out Shape) Dim {
	if in == nil {
		return Free("")
	}
	have, bases, ok1 := shapeProduct(in)
	want, gone, ok2 := shapeProduct(out)
	for _, base := range gone {
		at := slices.Index(bases, base)
		if at < 0 || base == "" {
			return Free("")
		}
		bases = slices.Delete(bases, at, at+1)
	}
	switch {
	case !ok1 || !ok2 || want == 0 || have%want != 0:
		return Free("")
	case len(bases) == 0:
		return Fixed(have / want)
	case len(bases) == 1:
		return scaleDim(bases[0], have/want)
	}
	return Free("")
}

// shapeProduct returns the product of the known sizes of a shape, and the names of the free sizes.
func shapeProduct(s Shape) (known int64, free []string, ok bool) {
	p := Fixed(1)
	for _, d := range s {
		if !d.Known() {
			k, base := splitMultiple(d.Name)
			free = append(free, base)
			d = Fixed(k)
		}
		if p = multiplyDims(p, d); !p.Known() {
			return 0, nil, false
		}
	}
	return p.Size, free, true
}
