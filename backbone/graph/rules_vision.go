package graph

import (
	"math"
	"slices"
)

// Rules for operators in exports of vision transformers: position embeddings resized in the graph, and grids of places.

// inferResize: the last input gives the new sizes (since operator set 10 as sizes or scales), for all axes or for the
// listed axes (since set 18). Upsample takes only scales, as an attribute before set 9.
func inferResize(c *call) {
	x := c.inputFact(0)
	if x.shape == nil {
		return
	}
	out := unknownShape(len(x.shape))
	if len(out) == 4 && c.Attribute("axes") == nil { // [N,C,H,W]: batch and channels are not resized
		out[0], out[1] = x.shape[0], x.shape[1]
	}
	defer func() { c.setOutput(0, x.typ, out) }()
	axes := c.Ints("axes")
	if axes == nil {
		for i := range x.shape {
			axes = append(axes, int64(i))
		}
	}
	sizes, scales := c.inputFact(3).ints, c.inputFact(2).floats
	if len(c.in) == 2 {
		scales = c.inputFact(1).floats
	}
	if a := c.Attribute("scales"); a != nil {
		scales = a.Floats
	}
	if c.Text("keep_aspect_ratio_policy", "stretch") != "stretch" || len(sizes) != len(axes) &&
		len(scales) != len(axes) {
		return
	}
	out = slices.Clone(x.shape)
	for i, a := range axes {
		at, ok := normaliseAxis(a, len(out))
		switch {
		case !ok:
			out = unknownShape(len(x.shape))
			return
		case len(sizes) == len(axes):
			out[at] = sizes[i].toDim()
		case scales[i] == 1:
		case out[at].Known():
			out[at] = checkedSize(int64(math.Floor(float64(out[at].Size) * float64(scales[i]))))
		default:
			out[at] = Free("")
		}
	}
}

// countUp: Range(start, limit, delta) has ⌈(limit-start)/delta⌉ elements.
func countUp(c *call) {
	c.setOutput(0, c.inputFact(0).typ, unknownShape(1))
	var v [3]float64
	for i := range v {
		f := c.inputFact(i)
		switch {
		case len(f.ints) == 1 && f.ints[0].known:
			v[i] = float64(f.ints[0].value)
		case len(f.floats) == 1:
			v[i] = float64(f.floats[0])
		default:
			return
		}
	}
	n := math.Ceil((v[1] - v[0]) / v[2])
	if !(n >= 0 && n <= math.MaxInt32) {
		return
	}
	c.setOutput(0, c.inputFact(0).typ, ShapeOf(int64(n)))
	if c.inputFact(0).ints != nil && n <= followed {
		list := make([]number, int(n))
		for i := range list {
			list[i] = knownNumber(int64(v[0]) + int64(i)*int64(v[2]))
		}
		c.setInts(list)
	}
}

// inferLogic broadcasts to booleans and tracks their values.
func inferLogic(c *call) {
	inferBroadcast(c)
	if len(c.out) == 0 {
		return
	}
	c.out[0].typ = Bool
	c.setInts(c.pairElements(func(a, b number) number {
		if !a.known || !b.known {
			return number{}
		}
		x, y := a.value, b.value
		holds := map[string]bool{"Less": x < y, "Greater": x > y, "LessOrEqual": x <= y, "GreaterOrEqual": x >= y,
			"And": x != 0 && y != 0, "Or": x != 0 || y != 0, "Xor": (x != 0) != (y != 0), "Not": x == 0}
		if holds[c.Op] {
			return knownNumber(1)
		}
		return knownNumber(0)
	}))
}
