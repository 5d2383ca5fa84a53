package graph

import "slices"

// inferSame gives the first output the type and shape of the first input.
func inferSame(c *call) { c.setOutput(0, c.inputFact(0).typ, c.inputFact(0).shape) }

// inferIdentity is inferSame for values as well.
func inferIdentity(c *call) {
	inferSame(c)
	c.setInts(c.inputFact(0).ints)
}

// inferDropout is inferSame with a mask as the second output.
func inferDropout(c *call) {
	inferSame(c)
	c.setOutput(1, Bool, c.inputFact(0).shape)
}

// layerNorm also outputs mean and inverse deviation, in float32 and with size 1 along the normalised axes.
func layerNorm(c *call) {
	inferSame(c)
	x := c.inputFact(0)
	at, ok := normaliseAxis(c.Int("axis", -1), len(x.shape))
	if !ok {
		return
	}
	kept := slices.Clone(x.shape)
	for i := at; i < len(kept); i++ {
		kept[i] = Fixed(1)
	}
	c.setOutput(1, Float32, kept)
	c.setOutput(2, Float32, kept)
}

// inferCast changes the type. It keeps tracked integers in floating point, too: exporters divide sizes as floats.
func inferCast(c *call) {
	to := DataType(c.Int("to", 0))
	c.setOutput(0, to, c.inputFact(0).shape)
	if to == Int64 || to == Int32 || to == Float32 || to == Float64 {
		c.setInts(c.inputFact(0).ints)
	}
}

// inferBroadcast aligns sizes from the last axis. Where two sizes differ, one of them must be 1.
func inferBroadcast(c *call) {
	shape := c.inputFact(0).shape
	for i := 1; i < len(c.in); i++ {
		shape = broadcastShapes(shape, c.in[i].shape)
	}
	c.setOutput(0, c.inputFact(0).typ, shape)
}

func broadcastShapes(a, b Shape) Shape {
	if a == nil || b == nil {
		return nil
	}
	if len(a) < len(b) {
		a, b = b, a
	}
	out := make(Shape, len(a))
	skip := len(a) - len(b)
	copy(out, a[:skip])
	for i := range b {
		out[skip+i] = broadcastDims(a[skip+i], b[i])
	}
	return out
}

func broadcastDims(a, b Dim) Dim {
	switch {
	case a == Fixed(1), a.isSameSize(b):
		return b
	case b == Fixed(1), a.Known() && !b.Known():
		return a
	case b.Known() && !a.Known():
		return b
	}
	return Free("") // two free sizes, either of which may be 1, or sizes that do not match
}

// inferArithmetic is inferBroadcast, and also computes tracked integers.
func inferArithmetic(c *call) {
	inferBroadcast(c)
	c.setInts(c.pairElements(func(a, b number) number {
		if a.known && b.known {
			if c.Op == "Div" && c.inputFact(0).typ.Floating() && (b.value == 0 || a.value%b.value != 0) {
				return number{} // the result is not an integer
			}
			return computeOp(c.Op, a.value, b.value)
		}
		if c.Op == "Div" && c.inputFact(0).typ.Floating() {
			return number{}
		}
		one, other := a, b
		if !a.known {
			one, other = b, a
		}
		switch {
		case !one.known || other.known:
			return number{}
		case c.Op == "Mul":
			return numberOf(scaleDim(other.name, one.value))
		case c.Op == "Div" && b.known:
			return numberOf(divideDim(other.name, one.value))
		case one.value == 0 && (c.Op == "Add" || c.Op == "Sub" && b.known): // a free size keeps its name
			return other
		}
		return number{}
	}))
}

// knownWholes returns the elements of a tensor of any type if they are known to be integers.
func (f fact) knownWholes() []number {
	if f.ints != nil || f.floats == nil {
		return f.ints
	}
	var list []number
	for _, v := range f.floats {
		if v != float32(int64(v)) {
			return nil
		}
		list = append(list, knownNumber(int64(v)))
	}
	return list
}

func computeOp(op string, a, b int64) number {
	const far = 1 << 31 // a product of larger numbers could overflow, and sizes are never that large
	if max(a, b) >= far || min(a, b) <= -far {
		return number{}
	}
	switch op {
	case "Add":
		return knownNumber(a + b)
	case "Sub":
		return knownNumber(a - b)
	case "Mul":
		return knownNumber(a * b)
	case "Div":
		if b != 0 {
			return knownNumber(a / b)
		}
	case "Mod": // the sign is that of the divisor, as in ONNX
		if b != 0 {
			return knownNumber((a%b + b) % b)
		}
	case "Neg":
		return knownNumber(-a)
	case "Max":
		return knownNumber(max(a, b))
	case "Min":
		return knownNumber(min(a, b))
	}
	return number{}
}

// pairElements applies f to pairs of elements of two inputs. The inputs have the same shape, or one of them has a
// single element, which is paired with each element of the other.
func (c *call) pairElements(f func(a, b number) number) []number {
	a, b := c.inputFact(0).knownWholes(), c.inputFact(1).knownWholes()
	if len(c.in) == 1 {
		b = a
	}
	x, y := c.inputFact(0).shape, c.inputFact(1).shape
	alike := len(a) == len(b) && (len(x) < 2 && len(y) < 2 || slices.Equal(x, y))
	if len(a) == 0 || len(b) == 0 || len(c.in) > 2 || !alike && len(a) != 1 && len(b) != 1 {
		return nil
	}
	out := make([]number, max(len(a), len(b)))
	for i := range out {
		out[i] = f(a[i%len(a)], b[i%len(b)])
	}
	return out
}

// inferEqual broadcasts to booleans. It tracks values, because exporters compare sizes with -1.
func inferEqual(c *call) {
	inferBroadcast(c)
	if len(c.out) == 0 {
		return
	}
	c.out[0].typ = Bool
	c.setInts(c.pairElements(func(a, b number) number {
		switch {
		case a.known && b.known && a.value == b.value, !a.known && a == b && a.name != "":
			return knownNumber(1)
		case a.known && b.known, a.known && a.value < 0, b.known && b.value < 0: // a size is never negative
			return knownNumber(0)
		}
		return number{}
	}))
}

// inferWhere selects elements of the second or third input by the first.
func inferWhere(c *call) {
	c.setOutput(0, c.inputFact(1).typ, broadcastShapes(c.inputFact(0).shape, broadcastShapes(c.inputFact(1).shape,
		c.inputFact(2).shape)))
	choice, yes, no := c.inputFact(0).ints, c.inputFact(1).ints, c.inputFact(2).ints
	if choice == nil || len(yes) != len(choice) || len(no) != len(choice) {
		return
	}
	out := make([]number, len(choice))
	for i, t := range choice {
		switch {
		case t.known && t.value != 0:
			out[i] = yes[i]
		case t.known:
			out[i] = no[i]
		}
	}
	c.setInts(out)
}
