package backbone

// colourChange is what happens to the colours of a view: brightness, contrast, saturation and hue in an order,
// then perhaps grey. Formulas and roundings are PIL's (ImageEnhance and HSV), as torchvision calls them, on
// bytes between any two steps:
//
//	brightness b   v → b·v
//	contrast c     v → m + c·(v - m),  m the mean luma of the view, rounded
//	saturation s   v → l + s·(v - l),  l the luma of the pixel
//	hue h          the hue, 1/255 turns, grows by h·255
//
// Where a factor is in [0, 1] the result is cut to an integer, beyond it is also bounded to 0 … 255. On one grey
// channel saturation, hue and grey do nothing. Source: Pillow, Blend.c and ConvertColor; torchvision ColorJitter.
type colourChange struct {
	factor [4]float64 // brightness, contrast, saturation; hue in turns
	order  [4]uint8   // which of them, one after the other
	steps  int        // how many of order are used
	grey   bool
}

const (
	brightness = iota
	contrast
	saturation
	hue
)

func (a Augmentation) planColour(d *draws) colourChange {
	c := colourChange{grey: d.grey < a.Grey}
	if d.jitter >= a.JitterP {
		return c
	}
	c.factor[hue] = between(d.hue, -a.Jitter[hue], a.Jitter[hue])
	for k, u := range []float64{d.brightness, d.contrast, d.saturation} {
		c.factor[k] = between(u, max(0, 1-a.Jitter[k]), 1+a.Jitter[k])
	}
	for _, k := range permutation(index(d.order, 23)) {
		if a.Jitter[k] > 0 {
			c.order[c.steps] = k
			c.steps++
		}
	}
	return c
}

// permutation is one of the 24 orders of 0 … 3.
func permutation(n int) [4]uint8 {
	p := [4]uint8{0, 1, 2, 3}
	for i := 3; i > 0; i-- {
		j := n % (i + 1)
		n /= i + 1
		p[i], p[j] = p[j], p[i]
	}
	return p
}

func (c colourChange) on() bool { return c.steps > 0 || c.grey }

// apply changes a view of bytes, colours one after the other.
func (c colourChange) apply(pix []byte, planes int) {
	n := len(pix) / planes
	for _, k := range c.order[:c.steps] {
		switch k {
		case brightness:
			translate(pix, blendTable(0, c.factor[k]))
		case contrast:
			translate(pix, blendTable(meanLuma(pix, planes), c.factor[k]))
		case saturation:
			if planes == 3 {
				saturate(pix[:n], pix[n:2*n], pix[2*n:], c.factor[k])
			}
		case hue:
			if planes == 3 {
				turnHue(pix[:n], pix[n:2*n], pix[2*n:], uint8(int(c.factor[k]*255)))
			}
		}
	}
	if c.grey && planes == 3 {
		r, g, b := pix[:n], pix[n:2*n], pix[2*n:]
		for i := range r {
			l := luma(r[i], g[i], b[i])
			r[i], g[i], b[i] = l, l, l
		}
	}
}

func luma(r, g, b byte) byte {
	return uint8((19595*uint32(r) + 38470*uint32(g) + 7471*uint32(b) + 1<<15) >> 16)
}

// meanLuma is the mean luma of a view, rounded half up.
func meanLuma(pix []byte, planes int) byte {
	var sum uint64
	if planes == 1 {
		for _, v := range pix {
			sum += uint64(v)
		}
		return uint8(float64(sum)/float64(len(pix)) + 0.5)
	}
	n := len(pix) / 3
	r, g, b := pix[:n], pix[n:2*n], pix[2*n:]
	for i := range r {
		sum += uint64(luma(r[i], g[i], b[i]))
	}
	return uint8(float64(sum)/float64(n) + 0.5)
}

// blend is from + factor·(to - from) as PIL computes it, in float32.
func blend(from, to byte, factor float32) byte {
	v := float32(from) + float32(factor*float32(int(to)-int(from)))
	return uint8(min(max(v, 0), 255))
}

// blendTable is blend from one value to every byte.
func blendTable(from byte, factor float64) *[256]byte {
	var t [256]byte
	for v := range t {
		t[v] = blend(from, byte(v), float32(factor))
	}
	return &t
}

func translate(pix []byte, t *[256]byte) {
	for i, v := range pix {
		pix[i] = t[v]
	}
}

func saturate(r, g, b []byte, factor float64) {
	f := float32(factor)
	g, b = g[:len(r)], b[:len(r)]
	for i := range r {
		l := luma(r[i], g[i], b[i])
		r[i], g[i], b[i] = blend(l, r[i], f), blend(l, g[i], f), blend(l, b[i], f)
	}
}

// turnHue adds to the hue of every pixel by way of PIL's HSV of three bytes, which also rounds the saturation.
func turnHue(r, g, b []byte, shift uint8) {
	g, b = g[:len(r)], b[:len(r)]
	for i := range r {
		h, s, v := toHSV(r[i], g[i], b[i])
		r[i], g[i], b[i] = fromHSV(h+shift, s, v)
	}
}

// toHSV is PIL's: hue and saturation cut to 255ths.
func toHSV(r, g, b byte) (h, s, v byte) {
	v = max(r, g, b)
	least := min(r, g, b)
	if v == least {
		return 0, 0, v
	}
	span := float32(v - least)
	rc, gc, bc := float32(v-r)/span, float32(v-g)/span, float32(v-b)/span
	var at float32 // sixths of the circle
	switch v {
	case r:
		at = bc - gc
	case g:
		at = float32(2 + float64(rc) - float64(bc))
	default:
		at = float32(4 + float64(gc) - float64(rc))
	}
	turn := float64(at)/6 + 1
	if turn >= 1 {
		turn--
	}
	return uint8(float64(float32(turn)) * 255), uint8(float64(span/float32(v)) * 255), v
}

// fromHSV is PIL's.
func fromHSV(h, s, v byte) (r, g, b byte) {
	if s == 0 {
		return v, v, v
	}
	at := float64(h) * 6 / 255
	sector := int(at)
	f, fs, fv := float64(float32(at-float64(sector))), float64(float32(s)/255), float64(v)
	part := func(share float64) uint8 { return uint8(float64(fv*(1-float64(share))) + 0.5) }
	p, q, t := part(fs), part(fs*f), part(fs*(1-f))
	switch sector % 6 {
	case 0:
		return v, t, p
	case 1:
		return q, v, p
	case 2:
		return p, v, t
	case 3:
		return p, q, v
	case 4:
		return t, p, v
	}
	return v, p, q
}
