package backbone

// colourChange describes how the colours of a view change: brightness, contrast, saturation and hue in some order,
// then perhaps a conversion to grey. Formulas and rounding are PIL's (ImageEnhance and HSV), as torchvision calls
// them. Values are rounded to bytes after each step:
//
//	brightness b   v → b·v
//	contrast c     v → m + c·(v - m),  m the mean luma of the view, rounded
//	saturation s   v → l + s·(v - l),  l the luma of the pixel
//	hue h          the hue, 1/255 turns, grows by h·255
//
// For a factor in [0, 1] the result is truncated to an integer; for a larger factor it is also clipped to 0 … 255. On
// a view of one channel, saturation, hue and grey have no effect. Source: Pillow, Blend.c and ConvertColor;
// torchvision ColorJitter.
type colourChange struct {
	factor [4]float64 // brightness, contrast, saturation; hue in turns
	order  [4]uint8   // the order of application: indices of factor
	steps  int        // the number of valid entries of order
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
	c.factor[hue] = mapBetween(d.hue, -a.Jitter[hue], a.Jitter[hue])
	for k, u := range []float64{d.brightness, d.contrast, d.saturation} {
		c.factor[k] = mapBetween(u, max(0, 1-a.Jitter[k]), 1+a.Jitter[k])
	}
	for _, k := range pickOrder(drawIndex(d.order, 23)) {
		if a.Jitter[k] > 0 {
			c.order[c.steps] = k
			c.steps++
		}
	}
	return c
}

// pickOrder returns permutation n, 0 to 23, of the numbers 0 to 3.
func pickOrder(n int) [4]uint8 {
	p := [4]uint8{0, 1, 2, 3}
	for i := 3; i > 0; i-- {
		j := n % (i + 1)
		n /= i + 1
		p[i], p[j] = p[j], p[i]
	}
	return p
}

func (c colourChange) changesColour() bool { return c.steps > 0 || c.grey }

// applyColour changes the colours of a view in place; pix holds one plane after another.
func (c colourChange) applyColour(pix []byte, planes int) {
	n := len(pix) / planes
	for _, k := range c.order[:c.steps] {
		switch k {
		case brightness:
			translateBytes(pix, blendTable(0, c.factor[k]))
		case contrast:
			translateBytes(pix, blendTable(meanLuma(pix, planes), c.factor[k]))
		case saturation:
			if planes == 3 {
				saturatePixels(pix[:n], pix[n:2*n], pix[2*n:], c.factor[k])
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
			l := lumaOf(r[i], g[i], b[i])
			r[i], g[i], b[i] = l, l, l
		}
	}
}

func lumaOf(r, g, b byte) byte {
	return uint8((19595*uint32(r) + 38470*uint32(g) + 7471*uint32(b) + 1<<15) >> 16)
}

// meanLuma returns the mean luma of a view, rounded half up.
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
		sum += uint64(lumaOf(r[i], g[i], b[i]))
	}
	return uint8(float64(sum)/float64(n) + 0.5)
}

// blendBytes returns from + factor·(to - from) as PIL computes it, in float32.
func blendBytes(from, to byte, factor float32) byte {
	v := float32(from) + float32(factor*float32(int(to)-int(from)))
	return clip8(int32(v))
}

// blendTable returns blend(from, v) for every byte v.
func blendTable(from byte, factor float64) *[256]byte {
	var t [256]byte
	for v := range t {
		t[v] = blendBytes(from, byte(v), float32(factor))
	}
	return &t
}

func translateBytes(pix []byte, t *[256]byte) {
	for i, v := range pix {
		pix[i] = t[v]
	}
}

func saturatePixels(r, g, b []byte, factor float64) {
	f := float32(factor)
	g, b = g[:len(r)], b[:len(r)]
	for i := range r {
		l := lumaOf(r[i], g[i], b[i])
		r[i], g[i], b[i] = blendBytes(l, r[i], f), blendBytes(l, g[i], f), blendBytes(l, b[i], f)
	}
}
