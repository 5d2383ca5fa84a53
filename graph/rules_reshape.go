package graph

import "slices"

// reshape: the second input (an attribute before set 5) lists the new sizes: 0 is the old size at that place
// unless allowzero is set, -1 is what is left.
func reshape(c *call) {
	x := c.arg(0)
	target := c.arg(1).ints
	if c.input(1) == "" {
		for _, v := range c.Ints("shape") {
			target = append(target, whole(v))
		}
	}
	if target == nil {
		if s := c.arg(1).shape; len(s) == 1 && s[0].Known() && s[0].Size <= followed {
			c.set(0, x.typ, unknown(int(s[0].Size))) // the rank at least
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
			out[i] = n.dim()
		}
	}
	if left >= 0 {
		out[left] = quotient(x.shape, out)
	}
	c.set(0, x.typ, out)
	if len(out) <= 1 {
		c.setInts(x.ints)
	}
}

// unknown is a shape of free sizes.
func unknown(rank int) Shape {
	s := make(Shape, rank)
	for i := range s {
		s[i] = Free("")
	}
	return s
}

// quotient is the size by which out must be multiplied to hold as many elements as in. Free sizes of one
// name cancel.
func quotient(in, out Shape) Dim {
	if in == nil {
		return Free("")
	}
	free := []Dim{}
	have, want := int64(1), int64(1)
	for _, d := range in {
		if !d.Known() {
			free = append(free, d)
		}
	}
	for _, d := range out {
		if d.Known() {
			continue
		}
		at := slices.IndexFunc(free, d.same)
		if at < 0 {
			return Free("")
		}
		free = slices.Delete(free, at, at+1)
	}
	var ok1, ok2 bool
	have, ok1 = product(in)
	want, ok2 = product(out)
	switch {
	case !ok1 || !ok2 || want == 0 || have%want != 0:
		return Free("")
	case len(free) == 0:
		return Fixed(have / want)
	case len(free) == 1 && have == want:
		return free[0]
	}
	return Free("")
}

// product of the known sizes of a shape.
func product(s Shape) (int64, bool) {
	p := Fixed(1)
	for _, d := range s {
		if d.Known() {
			if p = times(p, Fixed(d.Size)); !p.Known() {
				return 0, false
			}
		}
	}
	return p.Size, true
}
